# shellcheck shell=bash disable=SC2154  # the variables are those of setup.sh
# What `tools/setup.sh --onnx-provider` adds; sourced by it: the headers that a plug-in execution provider of ONNX
# Runtime is compiled with, and the runtimes that load it in tests, the newest and the oldest that can. They take 79 MB
# of build/deps/onnxruntime. When they cannot be had, that is said and the provider is left out. An earlier run's results
# stay known without the option.

providerHeaders=libonnxruntime-dev
# No release of Debian has headers that are new enough; the first of these suites that does is taken.
providerSuites=(experimental sid)
# The least ORT_API_VERSION: with 23 there is no way to offer a device that ONNX Runtime has not found itself.
providerApi=24
providerPackage=onnxruntime-node
# Versions, with the SHA-256 of their libonnxruntime.so.1.
providerRuntimes=(
  "1.30.0 ffb75a925ba05e47b235bb66e3e3911714a80b328a9c9425539feb204aa32a23"
  "1.24.3 92ba8e44d31b80a34f5e805076a044122c3be1fffe0d88ed790de7267b0b2682"
)

fetchProviderHeaders() { # suite, work folder, folder that gets include/
  local headers=$2/root/usr/include api
  rm -rf "$2"
  mkdir -p "$2/debs"
  prepareSuites "$2" "$1" || return
  (cd "$2/debs" && retry apt-get "${suiteOptions[@]}" download "$providerHeaders/$1") || return
  dpkg-deb -x "$2"/debs/*.deb "$2/root" || return
  api=$(sed -n 's/^#define ORT_API_VERSION \([0-9]*\)$/\1/p' "$headers/onnxruntime/onnxruntime_c_api.h") || return
  if ((${api:-0} < providerApi)) || [[ ! -f $headers/onnxruntime/onnxruntime_ep_c_api.h ]]; then
    say "$providerHeaders of $1 has ORT_API_VERSION ${api:-none}, expected $providerApi or later."
    return 1
  fi
  mv "$headers" "$3/include"
}

fetchProvider() { # folder
  local suite runtime version sum
  rm -rf "$1"
  mkdir -p "$1" || return
  for suite in "${providerSuites[@]}"; do
    [[ -d $1/include ]] || fetchProviderHeaders "$suite" "$1/.apt" "$1" || true
  done
  [[ -d $1/include ]] || return
  rm -rf "$1/.apt"
  command -v npm >/dev/null || installMissing npm || return
  for runtime in "${providerRuntimes[@]}"; do
    read -r version sum <<<"$runtime"
    fetchNpm "$providerPackage@$version" "$1/$version" 5 package/bin/napi-v6/linux/x64/libonnxruntime.so.1 || return
    sha256sum --check <<<"$sum  $1/$version/libonnxruntime.so.1" || return
  done
}

setupOnnxProvider() {
  local folder=$deps/onnxruntime log=$deps/onnxruntime.log stamp
  stamp="$providerHeaders $providerApi $providerPackage ${providerRuntimes[*]}"
  if [[ ! -f $folder/stamp || $(<"$folder/stamp") != "$stamp" ]]; then
    say "fetching ONNX Runtime's headers with apt, and ${providerRuntimes[*]%% *} of $providerPackage with npm, into build/deps/onnxruntime"
    if (fetchProvider "$deps/.onnxruntime") >"$log" 2>&1; then
      echo "$stamp" >"$deps/.onnxruntime/stamp"
      rm -rf "$folder"
      mv "$deps/.onnxruntime" "$folder"
    else
      rm -rf "$deps/.onnxruntime"
      say "ONNX Runtime could not be downloaded, so its provider is left out; see $log."
    fi
  fi
  writeProviderFile
}

# build/deps/onnx_provider.cmake, which deps.cmake includes.
writeProviderFile() {
  local file=$deps/onnx_provider.cmake here='${CMAKE_CURRENT_LIST_DIR}/onnxruntime' runtime libraries=()
  for runtime in "${providerRuntimes[@]%% *}"; do
    # An earlier set-up may have had others.
    [[ ! -f $deps/onnxruntime/$runtime/libonnxruntime.so.1 ]] || libraries+=("$runtime=$here/$runtime/libonnxruntime.so.1")
  done
  {
    echo "# Written by tools/setup.sh --onnx-provider."
    if [[ -f $deps/onnxruntime/stamp ]]; then
      echo "set(DIMPLE_ONNXRUNTIME_INCLUDE_DIR \"$here/include/onnxruntime\" CACHE PATH \"folder that holds onnxruntime_ep_c_api.h\")"
      echo "set(DIMPLE_ONNXRUNTIME_LIBRARIES \"$(IFS=';' && echo "${libraries[*]}")\" CACHE STRING \"runtimes that load the provider in tests, as VERSION=FILE, the newest first\")"
    fi
  } >"$file.new"
  cmp -s "$file.new" "$file" || cp "$file.new" "$file"
  rm "$file.new"
}
