# shellcheck shell=bash disable=SC2154  # the variables are those of setup.sh
# What `tools/setup.sh --d3d12` adds; sourced by it. DXC and Wine compile the kernels to DXIL, mingw-w64 compiles the
# driver of DXC, and libvkd3d is Direct3D 12 for the tests. An earlier run's results stay known without the option.

d3d12Packages=(wine wine64 g++-mingw-w64-x86-64-posix libz-mingw-w64-dev)
dxcPackage=webgpu
dxcVersion=0.6.2
vkd3dPackages=(libvkd3d-dev libvkd3d-headers)

# DXC as a DLL for Windows is part of a package whose other files are not wanted.
fetchDxc() {
  local work=$deps/.dxc folder=package/dist/win32-x64
  rm -rf "$work"
  fetchNpm "$dxcPackage@$dxcVersion" "$work" 3 \
    "$folder"/{dxcompiler.dll,dxcompiler-LICENSE.TXT,dxcompiler-ThirdPartyNotices.txt}
  rm -rf "$deps/dxc"
  mv "$work" "$deps/dxc"
}

# libvkd3d with Shader Model 6 is only in Debian's unstable suite, which changes: what is missing there is said, and the
# Direct3D 12 device goes untested.
fetchVkd3d() {
  local work=$deps/.vkd3d deb
  rm -rf "$work" "$deps/vkd3d"
  mkdir -p "$work/debs"
  prepareSuites "$work" sid || return 1
  (cd "$work/debs" && retry apt-get "${suiteOptions[@]}" download "${vkd3dPackages[@]}") || return 1
  for deb in "$work"/debs/*.deb; do dpkg-deb -x "$deb" "$work/vkd3d" || return 1; done
  mv "$work/vkd3d" "$deps/vkd3d"
  rm -rf "$work"
}

setupD3d12() {
  local packages=("${d3d12Packages[@]}")
  command -v npm >/dev/null || packages+=(npm)
  installMissing "${packages[@]}"
  if [[ ! -f $deps/dxc/dxcompiler.dll ]]; then
    say "fetching DXC of $dxcPackage $dxcVersion with npm into build/deps/dxc"
    fetchDxc
  fi
  if [[ ! -d $deps/vkd3d ]]; then
    say "unpacking ${vkd3dPackages[*]} of Debian's unstable suite into build/deps/vkd3d"
    (fetchVkd3d) || {
      rm -rf "$deps/.vkd3d"
      say "libvkd3d could not be downloaded, so the tests on Direct3D 12 will be skipped."
    }
  fi
  writeD3d12Files
}

# build/deps/d3d12.cmake, which deps.cmake includes.
writeD3d12Files() {
  local file=$deps/d3d12.cmake here='${CMAKE_CURRENT_LIST_DIR}'
  {
    echo "# Written by tools/setup.sh --d3d12."
    echo "set(DIMPLE_DXC_DLL \"$here/dxc/dxcompiler.dll\" CACHE FILEPATH \"dxcompiler.dll, run in Wine\")"
    echo "set(DIMPLE_WINE \"$(command -v wine)\" CACHE FILEPATH \"wine\")"
    echo "set(DIMPLE_MINGW_CXX \"$(command -v x86_64-w64-mingw32-g++-posix)\" CACHE FILEPATH \"mingw-w64's g++\")"
    if [[ -d $deps/vkd3d ]]; then
      echo "set(DIMPLE_VKD3D_ROOT \"$here/vkd3d\" CACHE PATH \"libvkd3d: holds usr/include/vkd3d and usr/lib\")"
    fi
  } >"$file.new"
  cmp -s "$file.new" "$file" || cp "$file.new" "$file"
  rm "$file.new"
}
