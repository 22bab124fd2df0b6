#!/bin/bash
# run.sh: looks at the pages that mycli makes in a real Chromium (Debian or Ubuntu; as root, it installs Chromium when it is
# missing). Called as `npm run test:suite browser` after `npm ci`.
set -euo pipefail
command -v chromium >/dev/null || "$(dirname "$(realpath "$0")")/../install-packages.sh" chromium fonts-dejavu-core
cd "$(dirname "$(realpath "$0")")/../.."
vitest run --config test/browser/vitest.config.ts --reporter=default --reporter=json --outputFile.json=coverage/browser-tests.json
