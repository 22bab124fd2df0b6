#!/bin/bash
# run.sh: tests examples/mycli-plugin-s3 against a real S3 server (Debian or Ubuntu, as root: up.sh installs Ceph when it is missing).
# Called as `npm run test:suite s3` after `npm ci` at the root, which builds what the plugin is tested with.
set -euo pipefail
here=$(dirname "$(realpath "$0")")
base=$(mktemp -d -t mycli-s3-XXXXXX)
trap '"$here/down.sh" "$base"; rm -rf "$base"' EXIT
trap 'exit 130' INT TERM HUP

cd "$here/../../examples/mycli-plugin-s3"
# Its tools are those of mycli.
npm ci --omit=dev --no-audit --no-fund
npm run build
npm run types
# `npm run lint` leaves it out: its packages are not installed there.
(cd ../.. && oxlint examples/mycli-plugin-s3)

"$here/up.sh" "$base" >/dev/null
. "$base/env"

# Nothing that the person or the machine has set decides where the tests go.
unset "${!AWS_@}"
export AWS_ENDPOINT_URL_S3=$S3_ENDPOINT AWS_ACCESS_KEY_ID=$S3_ACCESS_KEY_ID AWS_SECRET_ACCESS_KEY=$S3_SECRET_ACCESS_KEY
export AWS_REGION=us-east-1 AWS_CONFIG_FILE=/dev/null AWS_SHARED_CREDENTIALS_FILE=/dev/null S3_SLOW
vitest run --reporter=default --reporter=json --outputFile.json=../../coverage/s3-tests.json
