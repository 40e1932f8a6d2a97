#!/usr/bin/env bash
# Makes the NuGet packages of a build for Windows and uses what is in them: the headers with mingw-w64's compiler, the
# import libraries as import_library.sh beside this file does, with the DLLs in the package.
#
#   tests/install/nuget.sh BUILD          BUILD: the folder of the mingw preset
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
build=$(cd "$1" && pwd)
work=$build/nuget-test
rm -rf "$work"
mkdir -p "$work"
cpack --config "$build/CPackConfig.cmake" -G External -B "$work" >"$work/cpack.log" 2>&1 || {
  cat "$work/cpack.log"
  echo "nuget: cpack fails."
  exit 1
}
python3 -B "$root/tests/install/nuget_test.py" "$work" "$work/main" "$work/symbols"

main=$work/main
include=$main/include
x86_64-w64-mingw32-g++-posix -std=c++17 -DDML_TARGET_VERSION=0x6400 -fsyntax-only -w -I"$include" \
  -isystem "$include/dimple" -isystem "$include/dimple/directx" -x c++ - <<'SOURCE'
#include <dimple.h>
static_assert(DML_TARGET_VERSION == 0x6400);
const auto create = &dimpleCreateContext;
SOURCE
# As a build's folder.
mkdir "$work/tree"
ln -s "$main/bin/x64" "$work/tree/bin"
ln -s "$main/lib/x64" "$work/tree/lib"
"$root/tests/install/import_library.sh" "$work/tree"
