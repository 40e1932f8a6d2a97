#!/usr/bin/env bash
# Builds docs/examples/directmlx against the tree that run.sh beside this file left, with the DirectMLX.h of the folder
# $DIMPLE_DIRECTMLX, and runs it with graphs rewritten and as they are. Exit code 77: this machine lacks what it needs.
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
work=$root/build/install-test
missing=""
if [[ -z ${DIMPLE_DIRECTMLX:-} ]]; then
  missing="DIMPLE_DIRECTMLX is not set to the folder of DirectMLX.h, which no package carries"
elif ! command -v clang++ >/dev/null; then
  missing="there is no clang++, and g++ 12 refuses DirectMLX.h"
elif [[ ! -d $work/tree ]]; then
  missing="tests/install/run.sh has not run"
fi
if [[ -n $missing ]]; then
  echo "SKIPPED: directmlx: $missing"
  exit 77
fi
# shellcheck disable=SC1091
. "$root/build/deps/env.sh"
rm -rf "$work/directmlx"
cmake -S "$root/docs/examples/directmlx" -B "$work/directmlx" -G Ninja -DCMAKE_PREFIX_PATH="$work/tree" \
  -DCMAKE_CXX_COMPILER=clang++ -DDIMPLE_DIRECTMLX="$DIMPLE_DIRECTMLX" >"$work/directmlx.log"
cmake --build "$work/directmlx" >>"$work/directmlx.log" || {
  cat "$work/directmlx.log"
  exit 1
}
for options in "" passes=0; do
  DIMPLE_OPTIONS=$options "$work/directmlx/models"
done
