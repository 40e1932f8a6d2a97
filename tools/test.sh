#!/usr/bin/env bash
# Sets up, builds and runs all tests. What they are and how to run one alone: CONTRIBUTING.md.
#
#   tools/test.sh            everything: all cases on Vulkan, the installed tree, ONNX models; and with samples of the
#                            cases Direct3D 12 (libvkd3d), Windows programs in Wine and sanitizers; and fuzzing
#   tools/test.sh --quick    every 20th case, on Vulkan, and on Direct3D 12 where tools/setup.sh --d3d12 has been run
#   tools/test.sh --no-sanitizers
#
# A build that later tests need runs beside earlier tests, with what these leave of the processors. The last line is the
# sum over all test programs: `N passed, N failed, N skipped`.
# DIMPLE_JOBS sets how many processes compile or test at once (all cores). With DIMPLE_DIRECTMLX, the folder of
# DirectMLX.h of Microsoft's DirectML repository, the example that needs it is built and run.
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
cd "$root"
. tools/stages.sh

quick=0
withSanitizers=1
for argument in "$@"; do
  case $argument in
    --quick) quick=1 ;;
    --no-sanitizers) withSanitizers=0 ;;
    -h | --help)
      sed -n '2,/^set /{/^#/s/^# \{0,1\}//p}' "${BASH_SOURCE[0]}"
      exit 0
      ;;
    *)
      echo "test: unknown option $argument (known: --quick, --no-sanitizers)." >&2
      exit 2
      ;;
  esac
done

jobs=${DIMPLE_JOBS:-$(nproc)}
logs=$root/build/test-logs
rm -rf "$logs"
mkdir -p "$logs"
passed=0
failed=0
skipped=0
failures=()

fail() {
  failed=$((failed + 1))
  failures+=("$1")
  echo "FAILED: $1"
}

# A part that this machine cannot have, which is no failure.
skip() { # part, reason
  skipped=$((skipped + 1))
  echo "SKIPPED: $1: $2"
}

finish() {
  printStages
  local line
  for line in "${failures[@]}"; do echo "FAILED: $line"; done
  printf '\n%d passed, %d failed, %d skipped\n' "$passed" "$failed" "$skipped"
  [[ $failed == 0 ]] && ((passed > 0))
  exit
}

# A step without test cases; when it fails there is nothing to go on with.
must() {
  stage "$@" || {
    fail "$1"
    finish
  }
}

configure() { # preset, options...
  local log=$logs/configure-$1.log
  cmake --preset "$@" >"$log" 2>&1 || {
    cat "$log"
    return 1
  }
}

build() { cmake --build --preset "$1" -j "$jobs" ${2:+--target "${@:2}"}; } # preset, targets...

# Builds in the background, one after another, and with what tests leave of the processors.
besideNames=()
besideCommands=()
beside() { besideNames+=("$1"); besideCommands+=("$2"); } # name, command
startBeside() {
  local i
  (
    for i in "${!besideNames[@]}"; do
      start=$(now)
      status=0
      nice -n 15 bash -euo pipefail -c "$(declare -f configure build); logs='$logs' jobs='$jobs'; ${besideCommands[$i]}" \
        >"$logs/build-${besideNames[$i]}.log" 2>&1 </dev/null || status=$?
      echo "$status $(awk -v a="$start" -v b="$(now)" 'BEGIN { printf "%.1f", b - a }')" >"$logs/built-${besideNames[$i]}.new"
      mv "$logs/built-${besideNames[$i]}.new" "$logs/built-${besideNames[$i]}"
    done
  ) &
  besideProcess=$!
}
awaitBuild() { # name
  local status seconds
  while [[ ! -f $logs/built-$1 ]]; do
    kill -0 "$besideProcess" 2>/dev/null || [[ -f $logs/built-$1 ]] || return 1
    sleep 0.5
  done
  read -r status seconds <"$logs/built-$1"
  echo "Building $1 took $seconds s beside the tests."
  ((status == 0)) || {
    tail -60 "$logs/build-$1.log"
    return 1
  }
}

# Runs a test preset of CTest and adds up what its programs report. A test that reports no test cases counts as one.
runPreset() { # preset
  local log=$logs/$1.txt sums status=0
  rm -f "$(testLog "$1")"
  ctest --preset "$1" -j "$jobs" || status=$?
  cp "$(testLog "$1")" "$log" || touch "$log"
  sed 's/\x1b\[[0-9;]*m//g' "$log" | grep -aE '^((ops|graphs|onnx|dll)[a-zA-Z 0-9]*: .*(passed|compared|failed)|SKIPPED: )' || true
  sums=$(sed 's/\x1b\[[0-9;]*m//g' "$log" | awk -f tools/sum_tests.awk)
  printf '%s\n' "$sums" | sed '$d'
  read -r _ presetPassed presetFailed presetSkipped <<<"${sums##*$'\n'}"
  passed=$((passed + presetPassed))
  failed=$((failed + presetFailed))
  skipped=$((skipped + presetSkipped))
  ((status == 0 || presetFailed > 0)) || fail "$1: ctest ended with exit code $status"
  ((presetFailed == 0)) || failures+=("$1: $presetFailed (ctest --preset $1 --rerun-failed)")
  ((presetPassed + presetFailed + presetSkipped > 0)) || fail "$1 ran no test"
}

testLog() { # preset
  case $1 in
    fuzz) echo build/linux-asan/Testing/Temporary/LastTest.log ;;
    mingw | linux-*) echo "build/$1/Testing/Temporary/LastTest.log" ;;
    *) echo build/linux-release/Testing/Temporary/LastTest.log ;;
  esac
}

setUp=()
((quick)) || setUp=(--d3d12 --ocr --report --matrices --onnx-provider)
((quick || !withSanitizers)) || setUp+=(--sanitizers)
must "set-up" tools/setup.sh "${setUp[@]}"
d3d12=ON
if [[ ! -d build/deps/vkd3d || ! -f build/deps/dxc/dxcompiler.dll ]]; then
  d3d12=OFF
  skip "Direct3D 12" "tools/setup.sh --d3d12 has not been run, or could not fetch libvkd3d"
fi
options=("-DDIMPLE_VKD3D=$d3d12")
# A new folder is built as a whole, a used one file by file.
[[ -f build/linux-release/CMakeCache.txt ]] || options+=(-DDIMPLE_UNITY=ON)
must "configure linux-release" configure linux-release "${options[@]}"
# kernelgen bounds the time that all kernels take, so that it does not wait for tests.
targets=(all)
[[ $d3d12 == OFF ]] || targets+=(dimple_kernels_d3d12)
must "build linux-release" build linux-release "${targets[@]}"
if ((quick)); then
  stage "quick" runPreset quick
  if [[ $d3d12 == ON ]]; then
    must "build d3d12" build linux-release d3d12
    stage "d3d12-quick" runPreset d3d12-quick
  fi
  finish
fi

# The other builds are for tests alone, and take what is known to work from the first.
again="-DDIMPLE_UNITY=ON -DDIMPLE_KERNELGEN=$root/build/linux-release/bin/kernelgen"
presets=()
if [[ $d3d12 == ON ]]; then
  beside d3d12 "build linux-release d3d12"
  presets+=(d3d12)
fi
if ((withSanitizers)); then
  beside linux-asan "configure linux-asan $again && build linux-asan asan"
  presets+=(linux-asan fuzz)
fi
if [[ $d3d12 == ON ]]; then
  directmlx=$(command -v clang++ >/dev/null && echo "${DIMPLE_DIRECTMLX:-}" || true)
  beside mingw "configure mingw $again '-DCMAKE_CXX_FLAGS_RELEASE=-O1 -DNDEBUG' '-DDIMPLE_DIRECTMLX=$directmlx' && build mingw"
  presets+=(mingw)
fi
if ((withSanitizers)); then
  beside linux-tsan "configure linux-tsan $again && build linux-tsan tsan"
  presets+=(linux-tsan)
fi
startBeside
stage "linux-release" runPreset linux-release
for preset in "${presets[@]}"; do
  if [[ $preset != fuzz ]]; then
    stage "build $preset" awaitBuild "$preset" || {
      fail "build $preset"
      continue
    }
  fi
  stage "$preset" runPreset "$preset"
done
finish
