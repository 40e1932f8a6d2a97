#!/usr/bin/env bash
# Runs a fuzz target on its corpus for some seconds.
#
#   tools/fuzz.sh TARGET [SECONDS [LIBFUZZER OPTIONS...]]
#
# The target is build/linux-asan/bin/TARGET. Its corpus, tests/fuzz/TARGET.corpus, holds an input a line, in hexadecimal;
# it is unpacked into build/fuzz/TARGET, where new inputs are added. What makes the target fail is kept beside it.
# onnx_model begins with the models of the standard's tests (Debian's libonnx-testdata, or DIMPLE_ONNX_TESTDATA), too.
#
#   tools/fuzz.sh --keep TARGET
#
# writes the smallest set of inputs with the coverage of build/fuzz/TARGET back to tests/fuzz/TARGET.corpus.
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
cd "$root"
keep=0
if [[ ${1:-} == --keep ]]; then
  keep=1
  shift
fi
(($#)) || {
  sed -n '2,/^set /{/^#/s/^# \{0,1\}//p}' "${BASH_SOURCE[0]}" >&2
  exit 2
}
target=$1
seconds=${2:-60}
shift $(($# < 2 ? $# : 2))
program=build/linux-asan/bin/$target
file=tests/fuzz/$target.corpus
corpus=build/fuzz/$target
[[ -x $program ]] || {
  echo "fuzz: there is no $program; configure and build linux-asan first." >&2
  exit 2
}

mkdir -p "$corpus"
if ((keep)); then
  rm -rf "$corpus.least"
  mkdir "$corpus.least"
  "$program" -merge=1 "$corpus.least" "$corpus" 2>"$corpus.log"
  for input in "$corpus.least"/*; do od -An -v -tx1 "$input" | tr -d ' \n' && echo; done | LC_ALL=C sort >"$file"
  echo "fuzz: $(wc -l <"$file") inputs kept in $file"
  exit
fi

number=0
while read -r line; do
  number=$((number + 1))
  # shellcheck disable=SC2059  # the line becomes escapes
  printf "$(sed 's/../\\x&/g' <<<"$line")" >"$corpus/kept-$number"
done <"$file"
options=(-max_len=400)
[[ $target != client_files ]] || options=(-max_len=2000)
if [[ $target == onnx_model ]]; then
  options=(-max_len=1000 "-seed_inputs=@$corpus.seeds")
  find "${DIMPLE_ONNX_TESTDATA:-/usr/share/libonnx-testdata/data}/node" -name model.onnx -size -1000c |
    paste -sd, | tr -d '\n' >"$corpus.seeds"
fi
export UBSAN_OPTIONS=${UBSAN_OPTIONS:-print_stacktrace=1}

# libFuzzer's time limit is one of the clock. An input that takes no more of a processor was only kept waiting.
limit=5
isSlow() { ! (ulimit -t "$limit" && "$program" "$1" >/dev/null 2>&1); } # input

end=$((SECONDS + seconds))
while ((SECONDS < end)); do
  if "$program" -max_total_time=$((end - SECONDS)) "${options[@]}" -timeout="$limit" -rss_limit_mb=4000 \
    -artifact_prefix="build/fuzz/" "$@" "$corpus" >"$corpus.log" 2>&1; then
    tail -1 "$corpus.log"
    exit
  fi
  slow=$(sed -n 's|.*Test unit written to \(build/fuzz/timeout-.*\)|\1|p' "$corpus.log")
  if [[ -z $slow ]] || isSlow "$slow"; then
    tail -60 "$corpus.log"
    echo "fuzz: $target fails; the input is in build/fuzz." >&2
    exit 1
  fi
  rm "$slow"
done
tail -1 "$corpus.log"
