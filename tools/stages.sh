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
  stageNames+=("$name")
  stageTimes+=("$(awk -v a="$start" -v b="$(now)" 'BEGIN { printf "%.1f", b - a }')")
  printf '== %s: %s s\n' "$name" "${stageTimes[-1]}"
  return "$status"
}

printStages() {
  local i
  printf '\nTime of each stage:\n'
  for i in "${!stageNames[@]}"; do printf '  %8s s  %s\n' "${stageTimes[$i]}" "${stageNames[$i]}"; done
}
