#!/bin/bash
# run.sh: looks at the pages that mycli makes in a real Chromium (Debian or Ubuntu; as root, it installs Chromium when it is
# missing). Called as `npm run test:browser` after `npm ci`.
set -euo pipefail
command -v chromium >/dev/null || {
  apt-get update -qq; DEBIAN_FRONTEND=noninteractive apt-get install -qq -y --no-install-recommends chromium fonts-dejavu-core >/dev/null; }
cd "$(dirname "$(realpath "$0")")/../.."
npx vitest run --config test/browser/vitest.config.ts --reporter=default --reporter=json --outputFile.json=coverage/browser-tests.json
