#!/usr/bin/env bash
# Runs ONNX models in an unmodified onnxruntime.dll in Wine, on its DirectML provider and our DirectML.dll, and compares
# them with its CPU provider.
#
#   tests/onnx_runtime/run.sh [--dll ours|microsoft] [--runs N] [--adapter] [--verbose] [MODEL...]
#   tests/onnx_runtime/run.sh --operators [--dll ours|microsoft] [--verbose]
#   tests/onnx_runtime/run.sh --cache [--dll ours|microsoft]
#   tests/onnx_runtime/run.sh --language [--dll ours|microsoft]
#   tests/onnx_runtime/run.sh --time [--dll ours|microsoft] [--runs N] [MODEL...]
#
# Models are the networks of tests/onnx and the three that read text (all of them: squeezenet, mobilenet, resnet50,
# transformer, decoder, decoder_step, ocr_det, ocr_cls, ocr_rec), each run N (10) times in a row. With --dll microsoft
# the original's DLL takes our place. What is missing is set up and built first; nothing of it comes into the
# repository. It ends with 1 if a model does not run, has a node on the CPU, or differs. With --operators the models are
# the standard's tests of operators, once each (every DIMPLE_TEST_SAMPLE-th), of which those are left out that either
# provider does not take.
# With --cache a GroupQueryAttention whose past and present are one buffer of the device has a prompt and three steps.
# With --language a decoder with such a cache gets a prompt and writes 32 words.
# With --time each model runs as a graph on both DLLs (or the one that --dll names), each time in two processes: a cold
# one, for which the driver's disk cache is empty, and a warm one after it. Only a table of seconds is printed: those of
# the clock and, in brackets, those of all processors.
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
cd "$root"
dll=ours
dllGiven=0
operators=0
cache=0
language=0
timed=0
models=()
options=()
while (($#)); do
  case $1 in
    --dll | --runs)
      [[ ${2:-} ]] || {
        echo "run: $1 is given without a value." >&2
        exit 2
      }
      if [[ $1 == --dll ]]; then dll=$2 dllGiven=1; else options+=("$1" "$2"); fi
      shift
      ;;
    --adapter | --verbose) options+=("$1") ;;
    --operators) operators=1 ;;
    --cache) cache=1 ;;
    --language) language=1 ;;
    --time) timed=1 ;;
    -h | --help)
      sed -n '2,/^set /{/^#/s/^# \{0,1\}//p}' "${BASH_SOURCE[0]}"
      exit 0
      ;;
    -*)
      echo "run: unknown option $1 (known: --dll, --runs, --adapter, --verbose, --operators, --cache, --language, --time)." >&2
      exit 2
      ;;
    *) models+=("$1") ;;
  esac
  shift
done
dlls=("$dll") setup=()
((timed && !dllGiven)) && dlls=(ours microsoft)
for dll in "${dlls[@]}"; do
  case $dll in
    ours) ;;
    microsoft) setup=(--microsoft) ;;
    *)
      echo "run: --dll has value $dll, expected ours or microsoft." >&2
      exit 2
      ;;
  esac
done

program=models
((cache)) && program=cache
((language)) && program=language
tools/setup.sh --onnx-runtime --ocr "${setup[@]}"
# shellcheck disable=SC1091
. build/deps/env.sh
work=build/onnx-runtime
mkdir -p "$work"
log=$work/build.log
# A folder that was configured keeps its options: others would compile nearly everything again.
first=()
[[ -f build/mingw/CMakeCache.txt ]] || first=(-DDIMPLE_UNITY=ON "-DDIMPLE_KERNELGEN=$root/build/linux-release/bin/kernelgen")
{
  cmake --preset linux-release && cmake --build --preset linux-release --target kernelgen write_models &&
    cmake --preset mingw "${first[@]}" &&
    cmake --build --preset mingw --target dimple_directml "onnx_runtime_$program"
} >"$log" 2>&1 || {
  tail -20 "$log" >&2
  echo "run: the build fails; see $log." >&2
  exit 1
}
writeModels() { # folder, options of write_models
  [[ -d $work/$1 ]] && return
  build/linux-release/bin/write_models "${@:2}"
  mv "$work/$1.new" "$work/$1"
}
if ((cache)); then
  writeModels cache --cache "$work/cache.new"
  options=() models=("$work/cache")
elif ((language)); then
  writeModels language --language "$work/language.new"
  options=() models=("$work/language")
elif ((operators)); then
  writeModels operators --operators "$work/operators.new"
  options+=(--runs 1 --each)
  models=("$work/operators")
else
  writeModels models "$work/models.new" build/deps/ocr
  ((${#models[@]})) || models=(squeezenet mobilenet resnet50 transformer decoder decoder_step ocr_det ocr_cls ocr_rec)
  models=("${models[@]/#/$work/models/}")
fi

# Libraries are found beside the program.
for dll in "${dlls[@]}"; do
  library=build/mingw/bin/DirectML.dll
  [[ $dll == ours ]] || library=build/deps/microsoft/DirectML.dll
  rm -rf "${work:?}/$dll"
  mkdir "$work/$dll"
  cp "$library" build/deps/onnx_runtime/onnxruntime.dll "build/mingw/bin/onnx_runtime_$program.exe" "$work/$dll/"
done
export DIMPLE_WINE_SECONDS=${DIMPLE_WINE_SECONDS:-3600}

runModels() { # DLL, arguments
  tools/wine/run.sh "$work/$1/onnx_runtime_$program.exe" "${@:2}"
}

# "| model | DLL | session | first run | session, warm | first run, warm | steady |" of what a cold and a warm run print.
row() { # model, DLL
  awk -v model="$1" -v dll="$2" '
    function seconds(what) {
      if (!match($0, what " [0-9]+ ms [(][0-9]+ ")) return "?"
      split(substr($0, RSTART + length(what) + 1, RLENGTH - length(what) - 1), words, / ms [(]/)
      return sprintf("%.2f (%.2f)", words[1] / 1000, words[2] / 1000)
    }
    /^good / { cells = cells " " seconds("session") " | " seconds("first run") " |"; steady = seconds("steady"); ++good }
    END { if (good == 2) print "| " model " | " dll " |" cells " " steady " |"; exit good != 2 }'
}

if ((timed)); then
  failed=0
  echo "| model | DLL | session, cold | first run, cold | session, warm | first run, warm | steady |"
  echo "|---|---|---:|---:|---:|---:|---:|"
  for model in "${models[@]}"; do
    for dll in "${dlls[@]}"; do
      export MESA_SHADER_CACHE_DIR=$PWD/$work/driver-cache
      rm -rf "$MESA_SHADER_CACHE_DIR"
      printed=$(for _ in cold warm; do runModels "$dll" --graphs "${options[@]}" "$model"; done) || failed=1
      row "$(basename "$model")" "$dll" <<<"$printed" || {
        printf '%s\n' "$printed" >&2
        failed=1
      }
    done
  done
  exit "$failed"
fi
runModels "$dll" "${options[@]}" "${models[@]}"
