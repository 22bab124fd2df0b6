#!/bin/bash
# run.sh: tests examples/mycli-plugin-mcp with the client of the SDK, against a local runtime. Called as `npm run test:suite mcp`
# after `npm ci` and `npm run build`. Needs the npm registry.
set -euo pipefail
cd "$(dirname "$(realpath "$0")")/../../examples/mycli-plugin-mcp"
# Its tools are those of mycli.
npm ci --omit=dev --no-audit --no-fund
npm run types
# `npm run lint` leaves it out: its packages are not installed there.
(cd ../.. && oxlint examples/mycli-plugin-mcp)
vitest run --reporter=default --reporter=json --outputFile.json=../../coverage/mcp-tests.json
