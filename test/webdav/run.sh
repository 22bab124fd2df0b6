#!/bin/bash
# run.sh: tests examples/mycli-plugin-webdav against a real Apache with mod_dav, which the tests start and stop on 127.0.0.1
# (Debian or Ubuntu; as root, it installs Apache when it is missing). Called as `npm run test:suite webdav` after `npm ci`.
set -euo pipefail
command -v apache2 >/dev/null || "$(dirname "$(realpath "$0")")/../install-packages.sh" apache2-bin
cd "$(dirname "$(realpath "$0")")/../../examples/mycli-plugin-webdav"
vitest run --reporter=default --reporter=json --outputFile.json=../../coverage/webdav-tests.json
