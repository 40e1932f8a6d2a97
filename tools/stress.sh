#!/usr/bin/env bash
# Runs what tools/test.sh only samples: every failure of an allocation and of a call of Vulkan or Direct3D 12, every
# pipeline on AMD's compiler, all cases with their dispatches in parts, thousands of operators and contexts, threads
# and cases again and again, and fuzzing for as long as is said.
#
#   tools/stress.sh [FUZZ_SECONDS]    of each fuzz target (1800)
#
# It needs the builds of tools/test.sh. Each stage says how long it took. docs/reliability.md adds up what was fuzzed.
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
cd "$root"
. tools/stages.sh
[[ ! -f build/deps/env.sh ]] || . build/deps/env.sh

fuzzSeconds=${1:-1800}
release=build/linux-release/bin
for program in "$release"/{boundary_tests,vulkan_fault_tests,d3d12_fault_tests,dimple_tests,amd_tests} \
  build/{linux-asan/bin/compile_graph,linux-tsan/bin/device_thread_tests}; do
  [[ -x $program ]] || {
    echo "stress: there is no $program; run tools/test.sh first." >&2
    exit 2
  }
done

failures=()
run() { # name, command...
  stage "$@" || failures+=("$1")
}

# Threads meet otherwise in each process.
sanitizeThreads() { # program processes
  local i
  for ((i = 0; i < $2; ++i)); do
    DIMPLE_TEST_LONG=1 DIMPLE_TEST_NO_VALIDATION=1 TSAN_OPTIONS=halt_on_error=1 \
      setarch "$(uname -m)" -R "build/linux-tsan/bin/$1" --minimal || return
  done
}

# The newest ONNX Runtime that the builds know; without one, tests of the execution provider are left out.
runtime=$(sed -n 's/^DIMPLE_ONNXRUNTIME_LIBRARIES:[A-Z]*=[^=]*=\([^;]*\).*/\1/p' build/linux-release/CMakeCache.txt)
[[ -z $runtime ]] || export DIMPLE_ONNXRUNTIME=$runtime

run allocations env DIMPLE_TEST_ALLOCATIONS=all "$release/boundary_tests"
run "calls of Vulkan" env DIMPLE_TEST_FAULTS=all "$release/vulkan_fault_tests"
run "calls of Direct3D 12" env DIMPLE_TEST_FAULTS=all "$release/d3d12_fault_tests"
run "long runs" env DIMPLE_TEST_LONG=1 "$release/dimple_tests" --test-case="long runs*"
run threads sanitizeThreads device_thread_tests 100
[[ -z $runtime ]] || run "threads of the execution provider" sanitizeThreads provider_thread_tests 100
run determinism env DIMPLE_TEST_NO_VALIDATION=1 DIMPLE_TEST_RUNS=1000 DIMPLE_TEST_SAMPLE=200 "$release/dimple_tests" \
  --test-case="ops: every*"
run parts env DIMPLE_OPTIONS=unroll=0,work=1024 "$release/dimple_tests" --test-case="ops: every*"
radv=$(sed -n 's/^set(DIMPLE_RADV_ICD "\([^"]*\)".*/\1/p' build/deps/deps.cmake)
if [[ -n $radv ]]; then
  for family in vega10 navi21 navi31 gfx1201; do
    run "amd $family" env RADV_FORCE_FAMILY="$family" VK_DRIVER_FILES="$radv" \
      MESA_SHADER_CACHE_DISABLE=true DIMPLE_TEST_SAMPLE=1 "$release/amd_tests"
  done
fi
for target in tests/fuzz/*.cpp; do
  target=$(basename "$target" .cpp)
  run "fuzz $target" tools/fuzz.sh "$target" "$fuzzSeconds"
done

printStages
for failure in "${failures[@]}"; do echo "FAILED: $failure"; done
((${#failures[@]} == 0))
