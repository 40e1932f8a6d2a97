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

# Where the build has an archive, a program that links it needs no shared library.
if [[ -f $(dirname "$pc")/libdimple.a ]]; then
  sed 's/Dimple::dimple)/Dimple::dimple_static)/' "$root/docs/examples/hello/CMakeLists.txt" >"$work/CMakeLists.txt"
  cp "$root/docs/examples/hello/hello.cpp" "$work/"
  cmake -S "$work" -B "$work/hello-static" -G Ninja -DCMAKE_PREFIX_PATH="$tree" >"$work/hello-static.log"
  cmake --build "$work/hello-static" >>"$work/hello-static.log"
  "$work/hello-static/hello"
  if ldd "$work/hello-static/hello" | grep -q libdimple; then
    echo "A program over libdimple.a needs libdimple.so, too."
    exit 1
  fi
fi

# With nothing in the environment and no driver, the tool says what to do.
if said=$(env -i HOME="$work" PATH=/usr/bin:/bin VK_DRIVER_FILES="$work/none.json" "$tree/bin/dimple" devices 2>&1); then
  echo "The tool lists devices without a driver: $said"
  exit 1
fi
if [[ $said != *"There is no Vulkan driver"*"VK_DRIVER_FILES"* ]]; then
  echo "Without a driver the tool says '$said', expected what to install or to set."
  exit 1
fi

# The tool describes itself, and completes its own command lines.
grep -q '^\.SS dimple run$' "$tree/share/man/man1/dimple.1"
# shellcheck disable=SC1091
completed=$(bash -c '. "$1"; COMP_WORDS=(dimple run --prof) COMP_CWORD=2; _dimple; echo "${COMPREPLY[*]}"' _ \
  "$tree/share/bash-completion/completions/dimple")
if [[ $completed != --profile ]]; then
  echo "bash completes 'dimple run --prof' by '$completed', expected --profile."
  exit 1
fi

# Clones in other folders give the same bytes.
for file in "$(find "$tree" -name 'libdimple.so.*.*.*')" "$tree/bin/dimple"; do
  if grep -qaF "$root/" "$file"; then
    echo "$file has paths of the source tree: $(grep -aoF "$root/" "$file" | wc -l)"
    exit 1
  fi
done

# Only the interface leaves the library.
library=$(find "$tree" -name 'libdimple.so' | head -1)
others=$(nm -D --defined-only "$library" | awk '{ print $3 }' | grep -vE '^(DML|Dimple|dimple)' || true)
if [[ -n $others ]]; then
  echo "The library exports other symbols than DML*, Dimple*, dimple*: $others"
  exit 1
fi
