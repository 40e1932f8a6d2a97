#!/usr/bin/env bash
# Sets up, builds and runs all tests.
#
#   tools/test.sh            everything: release with every case, install; and with samples of the cases Direct3D 12
#                            (libvkd3d), Windows programs in Wine and sanitizers; and a minute of fuzzing
#   tools/test.sh --quick    every 20th case, without Windows programs, sanitizers, the lavapipe with matrices and tests of
#                            the generators, and on Direct3D 12 without misuse, graphs and products in parts
#   tools/test.sh --no-sanitizers
#
# The last line is the sum over all test programs: `N passed, N failed, N skipped`.
# DIMPLE_JOBS sets how many files are compiled at once (all cores). With DIMPLE_DIRECTMLX, the folder of DirectMLX.h of
# Microsoft's DirectML repository, the example that needs it is built and run.
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
cd "$root"
. tools/stages.sh

withSanitizers=1
withWine=1
withMatrices=1
# Operators are judged by the comparison: a sample of the cases on both back ends, by the oracle and by each other.
d3d12Exclude="ops: every*"
releaseExclude=""
for argument in "$@"; do
  case $argument in
    --quick)
      export DIMPLE_TEST_SAMPLE=20
      withSanitizers=0
      withWine=0
      withMatrices=0
      # Dozens of devices, each of which compiles its kernel anew, and kernels that nothing else of these tests takes.
      d3d12Exclude+=",misuse of methods*,d3d12: buffers*,graphs: random*,graphs: inputs*,graphs: an act*,graphs: what goes*,models: small*,ops: products agree*"
      # Of the tests' own generators.
      releaseExclude="generated cases*"
      ;;
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

# llvmpipe takes longer to compile a kernel than to run a test's few elements with it: it does so in a third of the time
# without LLVM's optimizations and with loops that stay loops.
export GALLIVM_PERF=${GALLIVM_PERF:-nopt} DIMPLE_UNROLL=${DIMPLE_UNROLL:-0}

passed=0
failed=0
skipped=0
failures=()
logs=$root/build/test-logs
rm -rf "$logs"
mkdir -p "$logs"

fail() {
  failed=$((failed + 1))
  failures+=("$1")
  echo "FAILED: $1"
}

finish() {
  printStages
  local line
  for line in "${failures[@]}"; do echo "FAILED: $line"; done
  printf '\n%d passed, %d failed, %d skipped\n' "$passed" "$failed" "$skipped"
  [[ $failed == 0 ]] && ((passed > 0))
  exit
}

# A step without test cases counts as one; when it fails there is nothing to go on with.
must() {
  stage "$@" || {
    fail "$1"
    finish
  }
}

# Runs a test program and counts what it reports.
runProgram() { # name, command...
  local name=$1 log status=0
  log=$(logOf "$name")
  shift
  "$@" 2>&1 | tee "$log" || status=${PIPESTATUS[0]}
  count "$name" "$status"
}

logOf() { echo "$logs/${1//[^A-Za-z0-9_]/_}.log"; }

# Adds the summary line of doctest. A program that ends without a summary has crashed.
count() { # name, exit code
  local name=$1 status=$2 log summary
  log=$(logOf "$name")
  summary=$(sed 's/\x1b\[[0-9;]*m//g' "$log" | grep -a '^\[doctest\] test cases:' | tail -1 || true)
  if [[ $summary =~ ([0-9]+)\ passed\ *\|\ *([0-9]+)\ failed\ *\|\ *([0-9]+)\ skipped ]]; then
    passed=$((passed + BASH_REMATCH[1]))
    failed=$((failed + BASH_REMATCH[2]))
    skipped=$((skipped + BASH_REMATCH[3]))
    # A leak or a report of a sanitizer comes after the summary.
    if ((BASH_REMATCH[2] > 0)); then
      failures+=("$name: ${BASH_REMATCH[2]} test cases")
    elif ((status != 0)); then
      fail "$name ended with exit code $status"
    fi
  else
    fail "$name ended with exit code $status and no summary (see $log)"
  fi
}

# Starts a test program beside what follows, until joinProgram. Much of every program uses one processor.
startProgram() { # name, command...
  besideName=$1 besideStart=$(now)
  shift
  printf '\n== %s: started\n' "$besideName"
  "$@" >"$(logOf "$besideName")" 2>&1 &
  besideProcess=$!
}

joinProgram() {
  local status=0
  printf '\n== %s\n' "$besideName"
  tail -n +1 -f --pid="$besideProcess" "$(logOf "$besideName")"
  wait "$besideProcess" || status=$?
  count "$besideName" "$status"
  stageEnded "$besideName" "$besideStart"
}

# A part that this machine cannot have, which is no failure.
skip() { # part, reason
  skipped=$((skipped + 1))
  echo "SKIPPED: $1: $2"
}

runTests() { # preset, suffix of the stages' names, pattern of test cases to leave out
  local preset=$1 suffix=$2 exclude=$3 bin=build/$1/bin program
  # What needs no device and is no part of the library is tested once.
  [[ $preset == linux-release ]] || exclude+=${exclude:+,}"generated cases*,oracle: *,specialize: *"
  # Drivers leak, and are unloaded before the leaks are named: only programs without a device look for leaks.
  local leaks=${ASAN_OPTIONS:-} noLeaks=${ASAN_OPTIONS:-}:detect_leaks=0
  startProgram "dimple_tests$suffix" env ASAN_OPTIONS="$noLeaks" "$bin/dimple_tests" --test-case-exclude="$exclude"
  for program in kernelgen_tests core_tests onnx_tests tool_tests; do
    # The generator is tested once, and core has no back end; sanitizers look at the library.
    [[ $program == kernelgen_tests && $preset != linux-release ]] && continue
    [[ $program == core_tests && $preset == linux-vkd3d ]] && continue
    # They are not built with Direct3D 12.
    [[ $program == onnx_tests && $preset == linux-vkd3d ]] && continue
    if [[ $program == onnx_tests && ! -x $bin/$program ]]; then
      skip "ONNX models" "libonnx or libprotobuf was not found"
      continue
    fi
    ASAN_OPTIONS=$([[ $program == core_tests ]] && echo "$leaks" || echo "$noLeaks") \
      stage "$program$suffix" runProgram "$program$suffix" "$bin/$program"
  done
  joinProgram
}

configure() { # preset, options...
  local log=$logs/configure-$1.log
  cmake --preset "$@" >"$log" 2>&1 || { cat "$log"; return 1; }
}
build() { # preset, targets...
  local preset=$1
  shift
  cmake --build --preset "$preset" ${DIMPLE_JOBS:+-j "$DIMPLE_JOBS"} ${1:+--target "$@"}
}

# Builds docs/examples/hello against an installed tree that was moved, with CMake and with pkg-config, and runs it.
installTest() {
  local preset=linux-release work=$root/build/install-test tree status=0
  rm -rf "$work"
  cmake --install "build/$preset" --prefix "$work/first" >"$logs/install.log"
  mv "$work/first" "$work/tree"
  tree=$work/tree
  cmake -S docs/examples/hello -B "$work/hello" -G Ninja -DCMAKE_PREFIX_PATH="$tree" >"$logs/hello.log"
  cmake --build "$work/hello" >>"$logs/hello.log"
  "$work/hello/hello"
  local pc
  pc=$(dirname "$(find "$tree" -name dimple.pc)")
  # shellcheck disable=SC2046
  g++ -std=c++17 docs/examples/hello/hello.cpp -o "$work/hello-pc" \
    $(PKG_CONFIG_PATH="$pc" pkg-config --cflags --libs dimple) -Wl,-rpath,"$(dirname "$pc")"
  "$work/hello-pc"
  "$tree/bin/dimple" --version
  # Only the interface leaves the library.
  local library others
  library=$(find "$tree" -name 'libdimple.so' | head -1)
  others=$(nm -D --defined-only "$library" | awk '{ print $3 }' | grep -vE '^(DML|Dimple|dimple)' || true)
  if [[ -n $others ]]; then
    echo "The library exports other symbols than DML*, Dimple*, dimple*: $others"
    return 1
  fi
}

# Builds docs/examples/directmlx against the tree that installTest left, with the DirectMLX.h of $DIMPLE_DIRECTMLX.
directmlxTest() {
  local work=$root/build/install-test
  rm -rf "$work/directmlx"
  cmake -S docs/examples/directmlx -B "$work/directmlx" -G Ninja -DCMAKE_PREFIX_PATH="$work/tree" \
    -DCMAKE_CXX_COMPILER=clang++ -DDIMPLE_DIRECTMLX="$DIMPLE_DIRECTMLX" >"$logs/directmlx.log"
  cmake --build "$work/directmlx" >>"$logs/directmlx.log" || { cat "$logs/directmlx.log"; return 1; }
  for without in "" all; do
    DIMPLE_GRAPH_WITHOUT=$without "$work/directmlx/models"
  done
}

# The same in Wine, as the mingw preset builds it.
directmlxWineTest() {
  local without backend
  for without in "" all; do
    for backend in vulkan d3d12; do
      DIMPLE_GRAPH_WITHOUT=$without tools/wine/run.sh build/mingw/bin/directmlx_models.exe "$backend" || return 1
    done
  done
}

# Why there is no DirectMLX to test with; empty if there is.
withoutDirectmlx=""
if [[ -z ${DIMPLE_DIRECTMLX:-} ]]; then
  withoutDirectmlx="DIMPLE_DIRECTMLX is not set to the folder of DirectMLX.h, which no package carries"
elif ! command -v clang++ >/dev/null; then
  withoutDirectmlx="there is no clang++, and g++ 12 refuses DirectMLX.h"
fi

must "set-up" tools/setup.sh --d3d12 $( ((withWine)) && echo --ocr) $( ((withMatrices)) && echo --matrices) $( ((withSanitizers)) && echo --fuzz)
# shellcheck disable=SC1091
. build/deps/env.sh
# A photograph through three models takes most of a minute.
((!withWine)) || [[ ! -d build/deps/ocr ]] || export DIMPLE_OCR=${DIMPLE_OCR:-$root/build/deps/ocr}
must "configure linux-release" configure linux-release
must "build linux-release" build linux-release
runTests linux-release "" "$releaseExclude"
# On a lavapipe that has cooperative matrices, with its own C library.
if ((!withMatrices)); then
  skip "products of subgroups' matrices" "--quick leaves them out"
elif [[ -f build/deps/matrices/stamp ]]; then
  DIMPLE_TEST_MATRICES=1 DIMPLE_TEST_BACKEND=vulkan DIMPLE_TEST_SAMPLE=$((${DIMPLE_TEST_SAMPLE:-1} * 40)) \
    stage "dimple_tests (matrices)" runProgram "dimple_tests (matrices)" build/deps/matrices/run.sh \
    build/linux-release/bin/dimple_tests --test-case="ops: products of subgroups' matrices*"
else
  skip "products of subgroups' matrices" "$(cat build/deps/matrices/missing.txt 2>/dev/null || echo "tools/setup.sh --matrices was not run")"
fi
# Not `stage X || ...`: inside it a failing command would not end the function.
if stage "install, find_package, pkg-config" bash -c "set -euo pipefail; root='$root' logs='$logs'
  $(declare -f installTest); installTest"; then
  passed=$((passed + 1))
else
  fail "install, find_package, pkg-config"
fi
if [[ -n $withoutDirectmlx ]]; then
  skip "DirectMLX" "$withoutDirectmlx"
elif stage "DirectMLX" bash -c "set -euo pipefail; root='$root' logs='$logs'
  $(declare -f directmlxTest); directmlxTest"; then
  passed=$((passed + 1))
else
  fail "DirectMLX"
fi

# The other builds are for tests alone, and take what is known to work from the first.
again=(-DDIMPLE_UNITY=ON "-DDIMPLE_KERNELGEN=$root/build/linux-release/bin/kernelgen"
  "-DCMAKE_CXX_FLAGS_RELEASE=-O1 -DNDEBUG")

# Vulkan and Direct3D 12 in one binary.
if stage "configure linux-vkd3d" configure linux-vkd3d "${again[@]}"; then
  must "build linux-vkd3d" build linux-vkd3d dimple_tests tool_tests
  DIMPLE_TEST_BACKEND=d3d12 runTests linux-vkd3d " (Direct3D 12)" "$d3d12Exclude"
  stage "dimple_tests (comparison)" runProgram "dimple_tests (comparison)" build/linux-vkd3d/bin/dimple_tests \
    --test-case="ops: Vulkan and Direct3D 12 agree"
elif [[ -f build/linux-vkd3d/vkd3d_missing.txt ]]; then
  skip "Direct3D 12" "$(<build/linux-vkd3d/vkd3d_missing.txt)"
else
  fail "configure linux-vkd3d"
fi

# The same as Windows programs, a sample of the cases; Wine has no validation layers.
if ((withWine)); then
  if [[ -f build/deps/wine/stamp ]]; then
    must "configure mingw" configure mingw "${again[@]}" -DDIMPLE_DIRECTMLX="$([[ -n $withoutDirectmlx ]] || echo "$DIMPLE_DIRECTMLX")"
    must "build mingw" build mingw
    for program in core_tests dimple_tests; do
      DIMPLE_TEST_SAMPLE=80 DIMPLE_TEST_NO_VALIDATION=1 DIMPLE_WINE_SECONDS=1200 \
        stage "$program (Wine)" runProgram "$program (Wine)" tools/wine/run.sh "build/mingw/bin/$program.exe"
    done
    # The drop-in, of which only DirectML's own exports are used.
    DIMPLE_TEST_SAMPLE=100 stage "dimple_tests (Wine, DirectML.dll)" runProgram "dimple_tests (Wine, DirectML.dll)" \
      tools/wine/run.sh build/mingw/bin/dimple_tests.exe --dll build/mingw/bin/DirectML.dll
    if [[ -n $withoutDirectmlx ]]; then
      skip "DirectMLX (Wine)" "$withoutDirectmlx"
    elif stage "DirectMLX (Wine)" directmlxWineTest; then
      passed=$((passed + 1))
    else
      fail "DirectMLX (Wine)"
    fi
  else
    skip "Windows programs in Wine" "tools/setup.sh --d3d12 could not make the bridge to libvkd3d"
  fi
fi

if ((withSanitizers)); then
  unset DIMPLE_OCR
  must "configure linux-asan" configure linux-asan "${again[@]}"
  must "build linux-asan" build linux-asan core_tests dimple_tests tool_tests \
    $([[ -x build/linux-release/bin/onnx_tests ]] && echo onnx_tests)
  export ASAN_OPTIONS=${ASAN_OPTIONS:-detect_stack_use_after_return=1:strict_string_checks=1}
  # Instrumented code is several times slower: every sixtieth case, and without the validation layers, which looked at
  # the same calls before.
  export DIMPLE_TEST_SAMPLE=${DIMPLE_TEST_SAMPLE:-60}
  export DIMPLE_TEST_NO_VALIDATION=1
  export UBSAN_OPTIONS=${UBSAN_OPTIONS:-print_stacktrace=1}
  runTests linux-asan " (asan)" ""

  # Threads, on a device that executes nothing. The sanitizer wants the address space where older kernels put it.
  must "configure linux-tsan" configure linux-tsan "${again[@]}"
  must "build linux-tsan" build linux-tsan core_tests
  TSAN_OPTIONS=${TSAN_OPTIONS:-halt_on_error=1} stage "core_tests (tsan)" \
    runProgram "core_tests (tsan)" setarch "$(uname -m)" -R build/linux-tsan/bin/core_tests --test-case="null: *,parallel: *"

  must "configure linux-fuzz" configure linux-fuzz "${again[@]}"
  loader=0
  [[ ! -x build/linux-release/bin/onnx_tests ]] || loader=1
  must "build linux-fuzz" build linux-fuzz create_operator compile_graph $( ((loader)) && echo onnx_model)
  # Each takes one processor: the loader has its minute beside the others.
  loaderLog=$(logOf "fuzz onnx_model")
  if ((loader)); then
    tools/fuzz.sh onnx_model 60 >"$loaderLog" 2>&1 &
    loader=$!
  fi
  for target in create_operator compile_graph; do
    if stage "fuzz $target" tools/fuzz.sh $target 30; then
      passed=$((passed + 1))
    else
      fail "fuzz $target"
    fi
  done
  if ((!loader)); then
    skip "fuzz onnx_model" "libonnx or libprotobuf was not found"
  elif stage "fuzz onnx_model" wait "$loader"; then
    tail -1 "$loaderLog"
    passed=$((passed + 1))
  else
    cat "$loaderLog"
    fail "fuzz onnx_model"
  fi
fi
finish
