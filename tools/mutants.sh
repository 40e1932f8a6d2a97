#!/usr/bin/env bash
# Runs the cases of each mutant (tools/mutants.py) with its kernels, and says which are noticed.
#
#   tools/mutants.sh FOLDER [JOBS [PROGRAM]]
#
# PROGRAM is the dimple of build/linux-release, configured with -DDIMPLE_DEVELOPER=ON; JOBS run at once (2). A mutant
# that ends the program, or that takes more than DIMPLE_MUTANT_SECONDS (120), is noticed. Those that are not are printed
# last. What has a result is not run again.
set -euo pipefail

(($#)) || {
  sed -n '2,/^set /{/^#/s/^# \{0,1\}//p}' "${BASH_SOURCE[0]}" >&2
  exit 2
}
folder=$(realpath "$1")
jobs=${2:-2}
program=$(realpath "${3:-$(dirname "${BASH_SOURCE[0]}")/../build/linux-release/bin/dimple}")
export program

runMutant() {
  local mutant=$1 status=0
  [[ ! -f $mutant/result ]] || return 0
  runCases "$mutant" cases || status=$?
  ((status)) || runCases "$mutant" cases-on-words --options native-storage=0 || status=$?
  if ((status)); then echo "noticed $status" >"$mutant/result"; else echo survives >"$mutant/result"; fi
}
runCases() {
  [[ ! -s $1/$2 ]] || DIMPLE_OPTIONS=kernels=$1 timeout -k 5 "${DIMPLE_MUTANT_SECONDS:-120}" \
    "$program" case --file "$1/$2" --until-failure "${@:3}" >"$1/log" 2>&1
}
export -f runMutant runCases

find "$folder" -mindepth 1 -maxdepth 1 -type d | sort | xargs -P "$jobs" -I{} bash -c 'runMutant {}'

survivors=0
for mutant in "$folder"/*/; do
  [[ $(<"$mutant/result") == survives ]] || continue
  survivors=$((survivors + 1))
  echo "survives: $(basename "$mutant") $(<"$mutant/change")"
done
all=$(find "$folder" -mindepth 1 -maxdepth 1 -type d | wc -l)
echo "$((all - survivors)) of $all mutants are noticed."
