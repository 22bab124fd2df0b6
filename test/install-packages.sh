#!/bin/bash
# install-packages.sh PACKAGE...: installs Debian packages (as root). One call at a time: apt fails while another one holds its locks,
# and the checks that call this run side by side. What apt prints is only shown when it fails.
set -euo pipefail
exec 9>"${TMPDIR:-/tmp}/mycli-install-packages.lock"
flock 9
export DEBIAN_FRONTEND=noninteractive
output=$({ apt-get update -qq && apt-get install -qq -y --no-install-recommends "$@"; } 2>&1) || {
  printf '%s\n' "$output" >&2
  exit 1
}
