#!/usr/bin/env bash
# Makes the packages of a build, unpacks each into an empty folder, and uses what is there: the headers and the library
# by docs/examples/hello, the tool, and the execution provider by docs/examples/onnxruntime.
#
#   tests/install/packages.sh BUILD_FOLDER [ONNXRUNTIME_INCLUDE_FOLDER ONNXRUNTIME_LIBRARY]
#
# Without an ONNX Runtime the build has no provider. The packages stay in build/package-test, for python.sh beside this
# file.
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
work=$root/build/package-test
build=$1
include=${2:-}
runtime=${3:-}
# shellcheck disable=SC1091
. "$root/build/deps/env.sh"
# Nothing in a user's folder is written, and no pipeline found there.
export XDG_CACHE_HOME=$work/cache

die() {
  echo "packages: $*"
  exit 1
}

quietly() { # log, command...
  "${@:2}" >"$1" 2>&1 || {
    cat "$1"
    die "${*:2:4} failed"
  }
}

expect() { # what, expected, found
  [[ $3 == "$2" ]] || die "$1: $3, expected $2"
}

# The provider of a folder, in ONNX Runtime on lavapipe, with the library beside it and no other.
useProvider() { # library
  local found output
  found=$(ldd "$1" | sed -n 's/.*libdimple\.so[^ ]* => \([^ ]*\).*/\1/p')
  expect "the library of $1" "$(dirname "$1")" "$(dirname "$found")"
  output=$(DIMPLE_ONNXRUNTIME_CPU=1 "$work/example/example" "$1" "$root/docs/examples/onnxruntime/model.onnx") ||
    die "the example fails with $1: $output"
  echo "$output"
  expect "the example's last line" "y: 6.5 0 6.5 0" "${output##*$'\n'}"
  # A driver on the processor is not offered unless asked for.
  output=$(DIMPLE_ONNXRUNTIME_CPU=0 "$work/example/example" "$1" "$root/docs/examples/onnxruntime/model.onnx") || true
  [[ $output != *llvmpipe* ]] || die "lavapipe was offered unasked: $output"
}

useTree() { # folder that holds bin, include and lib
  local pc flags
  pc=$(dirname "$(find "$1" -name dimple.pc)")
  read -ra flags < <(PKG_CONFIG_PATH="$pc" pkg-config --cflags --libs dimple)
  quietly "$work/hello.log" g++ -std=c++17 "$root/docs/examples/hello/hello.cpp" -o "$work/hello" "${flags[@]}" \
    -Wl,-rpath,"$(dirname "$pc")"
  "$work/hello"
  "$1/bin/dimple" --version
  [[ -z $runtime ]] || useProvider "$(find "$1" -name libdimple_onnxruntime.so)"
}

rm -rf "$work"
mkdir -p "$work"
quietly "$work/cpack.log" cpack --config "$build/CPackConfig.cmake" -B "$work"
if [[ -n $runtime ]]; then
  quietly "$work/example.log" cmake -S "$root/docs/examples/onnxruntime" -B "$work/example" -G Ninja \
    -DONNXRUNTIME_INCLUDE_DIR="$include" -DONNXRUNTIME_LIBRARY="$runtime"
  quietly "$work/example.log" cmake --build "$work/example"
else
  echo "Left out: the provider in packages, since tools/setup.sh --onnx-provider was not run, or failed"
fi

mkdir "$work/tar"
tar -xzf "$work"/*.tar.gz -C "$work/tar" --strip-components=1
echo "The .tar.gz:"
useTree "$work/tar"

if compgen -G "$work/*.deb" >/dev/null; then
  mkdir "$work/deb"
  dpkg-deb -x "$work"/*.deb "$work/deb"
  echo "The .deb:"
  useTree "$work/deb/usr"
  [[ $(dpkg-deb -f "$work"/*.deb Depends) == *libc6* ]] || die "the .deb does not depend on libc6"
  expect "what the .deb recommends" libvulkan1 "$(dpkg-deb -f "$work"/*.deb Recommends)"
else
  echo "Left out: the .deb, since dpkg-shlibdeps or file is not installed"
fi

[[ -n $runtime ]] || exit 0
if ! command -v python3 >/dev/null; then
  echo "Left out: the wheel, since there is no python3"
  exit 0
fi
"$root/tools/wheel.py" "$build" "$work" >"$work/wheel.log"
wheel=$(tail -1 "$work/wheel.log")
if python3 -m pip --version >/dev/null 2>&1; then
  quietly "$work/pip.log" python3 -m pip install --no-index --no-deps --no-compile --target "$work/wheel" "$wheel"
else
  python3 -m zipfile -e "$wheel" "$work/wheel"
fi
echo "The wheel:"
useProvider "$work/wheel/dimple_onnxruntime/libdimple_onnxruntime.so"
# What register() says of an ONNX Runtime that is too old, and calls in one that is not.
PYTHONPATH=$work/wheel python3 -B "$root/tests/install/module_test.py"
