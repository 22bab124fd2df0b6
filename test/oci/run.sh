#!/bin/bash
# run.sh: tests examples/mycli-plugin-oci against Debian's docker-registry, which the tests start and stop on 127.0.0.1 (Debian or
# Ubuntu; as root, it is installed when it is missing). Called as `npm run test:suite oci` after `npm ci` and `npm run build`.
set -euo pipefail
here=$(dirname "$(realpath "$0")")
command -v docker-registry >/dev/null || "$here/../install-packages.sh" docker-registry || {
  echo 'Skipped: docker-registry is not in the package sources of this machine.'
  exit 0
}
cd "$here/../../examples/mycli-plugin-oci"
npm run build
vitest run --reporter=default --reporter=json --outputFile.json=../../coverage/oci-tests.json
