#!/bin/bash
# run.sh: lets published clients of such a hosting service push, deploy and wait against `runtime:start`; Turborepo pushes
# examples/monorepo; packages that sites copy are looked at for code of a server.
# Called as `npm run test:suite clients` after `npm ci` at the root. The clients are installed into a temporary folder, without their
# build tools: what a push does not use is replaced by an empty package (`overrides`), the client itself is as published.
set -euo pipefail
here=$(dirname "$(realpath "$0")")
base=$(mktemp -d -t mycli-clients-XXXXXX)
trap 'rm -rf "$base"' EXIT
trap 'exit 130' INT TERM HUP

cp -R "$here/nothing" "$here/pwa-kit-dev" "$here/storefront-next-dev" "$here/rate-limit" "$here/browser-packages" "$base"
cp -R "$here/../../examples/monorepo" "$base"
# Five storefronts are more than Turborepo pushes at once.
rm -r "$base"/monorepo/storefronts/shop-{06..12}

# Installs a folder, from npm's cache where that has a package.
install() {
  local folder=$1 started=$SECONDS
  shift
  (cd "$base/$folder" && npm install --no-package-lock --engine-strict=false --ignore-scripts --no-audit --no-fund --loglevel=error \
    --prefer-offline "$@")
  echo "$folder installed in $((SECONDS - started)) s"
}

# All at once: they wait for the registry. Without a lock file: npm makes none that it can read again while overrides lead to folders.
pids=()
for client in pwa-kit-dev storefront-next-dev; do
  install "$client" --legacy-peer-deps --omit=dev --omit=optional &
  pids+=($!)
done
install rate-limit &
pids+=($!)
install browser-packages --legacy-peer-deps &
pids+=($!)
(cd "$base/monorepo" && npm install --no-package-lock --no-audit --no-fund --loglevel=error --prefer-offline) &
pids+=($!)
for pid in "${pids[@]}"; do wait "$pid"; done

cd "$here/../.."
MYCLI_TEST_CLIENTS=$base vitest run --config test/clients/vitest.config.ts \
  --reporter=default --reporter=json --outputFile.json=coverage/clients-tests.json
