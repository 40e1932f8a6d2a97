#!/usr/bin/env bash
# Installs a build, moves the tree, builds docs/examples/hello against it with CMake and with pkg-config, and runs it.
#
#   tests/install/run.sh BUILD_FOLDER
#
# The tree stays in build/install-test/tree.
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
work=$root/build/install-test
# shellcheck disable=SC1091
. "$root/build/deps/env.sh"
rm -rf "$work"
mkdir -p "$work"
cmake --install "$1" --prefix "$work/first" >"$work/install.log"
mv "$work/first" "$work/tree"
tree=$work/tree

cmake -S "$root/docs/examples/hello" -B "$work/hello" -G Ninja -DCMAKE_PREFIX_PATH="$tree" >"$work/hello.log"
cmake --build "$work/hello" >>"$work/hello.log"
"$work/hello/hello"

pc=$(dirname "$(find "$tree" -name dimple.pc)")
read -ra flags < <(PKG_CONFIG_PATH="$pc" pkg-config --cflags --libs dimple)
g++ -std=c++17 "$root/docs/examples/hello/hello.cpp" -o "$work/hello-pc" "${flags[@]}" -Wl,-rpath,"$(dirname "$pc")"
"$work/hello-pc"
"$tree/bin/dimple" --version

# Only the interface leaves the library.
library=$(find "$tree" -name 'libdimple.so' | head -1)
others=$(nm -D --defined-only "$library" | awk '{ print $3 }' | grep -vE '^(DML|Dimple|dimple)' || true)
if [[ -n $others ]]; then
  echo "The library exports other symbols than DML*, Dimple*, dimple*: $others"
  exit 1
fi
