# shellcheck shell=bash
# Sourced by test.sh and demo.sh: named stages whose times are printed.
stageNames=()
stageTimes=()

now() { date +%s.%N; }

# stage NAME COMMAND...: runs the command; ends the script when it fails.
stage() {
  local name=$1 start status=0
  shift
  printf '\n== %s\n' "$name"
  start=$(now)
  "$@" || status=$?
  stageEnded "$name" "$start"
  return "$status"
}

stageEnded() { # name, time of the start
  stageNames+=("$1")
  stageTimes+=("$(awk -v a="$2" -v b="$(now)" 'BEGIN { printf "%.1f", b - a }')")
  printf '== %s: %s s\n' "$1" "${stageTimes[-1]}"
}

printStages() {
  local i
  printf '\nTime of each stage:\n'
  for i in "${!stageNames[@]}"; do printf '  %8s s  %s\n' "${stageTimes[$i]}" "${stageNames[$i]}"; done
}
