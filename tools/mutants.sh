#!/usr/bin/env bash
# Runs the cases of each mutant's operators with its kernels (tools/mutants.py), and says which are noticed.
#
#   tools/mutants.sh FOLDER [JOBS [PROGRAM]]
#
# PROGRAM is dimple_tests of build/linux-release; JOBS run at once (2). A mutant that ends the program, or that takes more
# than DIMPLE_MUTANT_SECONDS (120), is noticed. Those that are not are printed last.
set -euo pipefail

(($#)) || {
  sed -n '2,/^set /{/^#/s/^# \{0,1\}//p}' "${BASH_SOURCE[0]}" >&2
  exit 2
}
folder=$(realpath "$1")
jobs=${2:-2}
program=$(realpath "${3:-$(dirname "${BASH_SOURCE[0]}")/../build/linux-release/bin/dimple_tests}")
export program
export DIMPLE_TEST_NO_VALIDATION=1

runMutant() {
  local mutant=$1 status=0
  DIMPLE_KERNEL_DIR=$mutant DIMPLE_TEST_FILTER=$(<"$mutant/filter") timeout "${DIMPLE_MUTANT_SECONDS:-120}" \
    "$program" --test-case="ops: *" >"$mutant/log" 2>&1 || status=$?
  if ((status)); then echo noticed >"$mutant/result"; else echo survives >"$mutant/result"; fi
}
export -f runMutant

find "$folder" -mindepth 1 -maxdepth 1 -type d | sort | xargs -P "$jobs" -I{} bash -c 'runMutant {}'

survivors=0
for mutant in "$folder"/*/; do
  [[ $(<"$mutant/result") == survives ]] || continue
  survivors=$((survivors + 1))
  echo "survives: $(<"$mutant/change") [$(<"$mutant/filter")]"
done
all=$(find "$folder" -mindepth 1 -maxdepth 1 -type d | wc -l)
echo "$((all - survivors)) of $all mutants are noticed."
