#!/bin/bash
# other-runtimes.sh: pushes with the command and with the library on Bun and on Deno, from their npm packages, to a local
# runtime on Node. Called as `npm run test:suite other-runtimes` after `npm ci`.
set -euo pipefail
root=$(realpath "$(dirname "$0")/..")
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
npm install --prefix "$folder" --no-audit --no-fund --silent bun deno
mkdir -p "$folder/build"
echo '<h1>hello</h1>' >"$folder/build/index.html"
cat >"$folder/library.mjs" <<JS
import {ApiKeyStrategy, pushRuntimeBundle} from 'file://$root/dist/index.js';
const {MYCLI_RUNTIME_ORIGIN: origin, MYCLI_API_KEY: apiKey} = process.env;
const {bundleId} = await pushRuntimeBundle({
  preference: 'legacy',
  origin,
  legacyAuth: new ApiKeyStrategy({apiKey}),
  projectSlug: 'shop',
  static: true,
});
console.log(bundleId);
JS
cd "$folder"
mycli() { node "$root/bin/run.js" runtime:start -- "$@"; }
for run in "node_modules/.bin/bun run" "node_modules/.bin/deno run --allow-all"; do
  # shellcheck disable=SC2086
  mycli $run "$root/bin/run.js" push --static --project shop --target staging --runtime-backend legacy --wait
  # shellcheck disable=SC2086
  mycli $run library.mjs
done
