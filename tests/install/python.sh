#!/usr/bin/env bash
# Runs docs/examples/onnxruntime/example.py with the wheel that packages.sh beside this file left, on lavapipe, and
# registers and unregisters the provider again and again.
# DIMPLE_ONNXRUNTIME_PYTHON names a Python that has onnxruntime and numpy, or a wrapper of one. Exit code 77: there is
# none.
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
work=$root/build/package-test
missing=""
if [[ -z ${DIMPLE_ONNXRUNTIME_PYTHON:-} ]]; then
  missing="DIMPLE_ONNXRUNTIME_PYTHON names no Python that has onnxruntime"
elif [[ ! -d $work/wheel ]]; then
  missing="tests/install/packages.sh has not made the wheel"
fi
if [[ -n $missing ]]; then
  echo "SKIPPED: packages_python: $missing"
  exit 77
fi
# shellcheck disable=SC1091
. "$root/build/deps/env.sh"
export PYTHONPATH=$work/wheel XDG_CACHE_HOME=$work/cache DIMPLE_ONNXRUNTIME_CPU=1
examples=$root/docs/examples/onnxruntime
output=$("$DIMPLE_ONNXRUNTIME_PYTHON" -B "$examples/example.py" "$examples/model.onnx")
echo "$output"
[[ ${output##*$'\n'} == "y: 6.5 0 6.5 0" ]] || {
  echo "The last line is not the one expected: y: 6.5 0 6.5 0"
  exit 1
}

"$DIMPLE_ONNXRUNTIME_PYTHON" -B -c '
import dimple_onnxruntime
for _ in range(3):
    once, again = dimple_onnxruntime.register(), dimple_onnxruntime.register()
    assert len(once) == len(again) == 1, (once, again)
    dimple_onnxruntime.unregister()
assert dimple_onnxruntime.register(cpu_drivers=False) == []
print("registered four times")'
