#!/bin/bash
# run.sh [--as-seen] ROW...: see run.ts (Debian or Ubuntu; as root, it installs Chromium when it is missing). Called as `npm run
# zoo` after `npm ci` and `npm run build`.
set -euo pipefail
cd "$(dirname "$(realpath "$0")")/../../.."
command -v chromium >/dev/null || test/install-packages.sh chromium fonts-dejavu-core
exec jiti test/frameworks/zoo/run.ts "$@"
