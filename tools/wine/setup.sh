# shellcheck shell=bash disable=SC2154  # variables of setup.sh
# What `tools/setup.sh --d3d12` adds for Windows programs in Wine; sourced by it.
#
# Wine's own Direct3D 12 takes no DXIL. The bridge puts libvkd3d, which does, behind a d3d12.dll in a Wine prefix of its
# own: all of it lies in build/deps/wine, and only Wine, Xvfb and compilers are installed.

wineBridgePackages=(wine wine64 wine64-tools libwine-dev g++-mingw-w64-x86-64-posix gcc libc6-dev python3 xvfb)
wineBridgeLibraries=(libvkd3d1 libvkd3d-shader1 libvkd3d-utils1 libvkd3d-headers)
glibc238=$root/backend_d3d12/vkd3d/glibc238.c

fetchWineBridgeLibraries() { # work folder
  local deb name
  mkdir -p "$1/debs" "$1/lib"
  prepareSuites "$1" sid || return 1
  (cd "$1/debs" && retry apt-get "${suiteOptions[@]}" download "${wineBridgeLibraries[@]}") || return 1
  for deb in "$1"/debs/*.deb; do dpkg-deb -x "$deb" "$1/root" || return 1; done
  for name in vkd3d vkd3d-shader vkd3d-utils; do
    cp -L "$1"/root/usr/lib/*/"lib$name.so.1" "$1/lib/lib$name.so.1" || return 1
    ln -s "lib$name.so.1" "$1/lib/lib$name.so"
  done
}

compileWineBridge() { # work folder, its later place
  local source=$root/tools/wine/bridge
  mkdir -p "$1/dll/x86_64-unix" "$1/dll/x86_64-windows" "$1/objects"
  # What libvkd3d takes from a newer C library is in a library of its own, before libvkd3d in the order of loading.
  python3 "$source/weaken_versions.py" "$1"/lib/libvkd3d*.so.1 &&
    gcc -shared -fPIC -O1 -fno-builtin -o "$1/lib/libnewer_libc.so" "$glibc238" "$source/sqrtf.c" &&
    gcc -O1 -fPIC -I"$1/root/usr/include/vkd3d" -idirafter "$deps/trixie/usr/include" -c "$source/vkd3d.c" -o "$1/objects/vkd3d.o" &&
    winegcc -m64 -O1 -fPIC -c "$source/wine.c" -o "$1/objects/wine.o" &&
    winegcc -m64 -shared -o "$1/objects/dimpled3d12.dll" "$source/dimpled3d12.spec" "$1"/objects/{wine,vkd3d}.o \
      -L"$1/lib" -Wl,--no-as-needed -lnewer_libc -lvkd3d-utils -lvkd3d -lvkd3d-shader -Wl,-rpath,"$2/lib" &&
    mv "$1/objects/dimpled3d12.dll.so" "$1/dll/x86_64-unix/" &&
    winebuild --dll --fake-module -m64 -E "$source/dimpled3d12.spec" -F dimpled3d12.dll \
      -o "$1/dll/x86_64-windows/dimpled3d12.dll" &&
    x86_64-w64-mingw32-gcc -shared -nostdlib -e DllMainCRTStartup -o "$1/dll/d3d12.dll" "$source/d3d12.c" \
      "$source/d3d12.def"
}

# A folder of Wine's with the bridge's DLLs among the system's. DXGI over Vulkan needs no OpenGL. Wine fails to
# start at times, so that it is tried twice.
makeWinePrefix() { # folder of the bridge
  local system=$1/prefix/drive_c/windows/system32
  WINEPREFIX=$1/prefix WINEDEBUG=fixme-all WINEDLLOVERRIDES="mscoree,mshtml=" \
    bash -c 'unset DISPLAY WAYLAND_DISPLAY
      timeout 180 wine wineboot -i && timeout 60 wine reg add "HKCU\\Software\\Wine\\Direct3D" /v renderer /d vulkan /f &&
      timeout 60 wineserver -w' >>"$1/prefix.log" 2>&1 </dev/null || return 1
  rm -f "$system/d3d12.dll"
  cp "$1/dll/d3d12.dll" "$1/dll/x86_64-windows/dimpled3d12.dll" "$system/"
}

setupWineBridge() {
  local wine=$deps/wine work=$deps/.wine stamp
  installMissing "${wineBridgePackages[@]}"
  stamp="$root $(cat "$root"/tools/wine/setup.sh "$root"/tools/wine/bridge/* "$glibc238" | sha256sum)"
  if [[ ! -f $wine/stamp || $(<"$wine/stamp") != "$stamp" ]]; then
    say "building the bridge from Wine to libvkd3d in build/deps/wine"
    rm -rf "$work"
    mkdir -p "$work"
    if ! fetchWineBridgeLibraries "$work" >"$deps/wine.log" 2>&1; then
      say "${wineBridgeLibraries[*]} could not be downloaded, so Direct3D 12 in Wine is left out; see $deps/wine.log."
      return 0
    fi
    compileWineBridge "$work" "$wine" >>"$deps/wine.log" 2>&1 ||
      die "the bridge from Wine to libvkd3d could not be built; see $deps/wine.log."
    rm -rf "$wine"
    mv "$work" "$wine"
    if ! makeWinePrefix "$wine" && ! makeWinePrefix "$wine"; then
      say "Wine could not make a prefix, so Direct3D 12 in Wine is left out; see $wine/prefix.log."
      return 0
    fi
    rm -rf "$wine"/{debs,objects,lists,sources.list}
    echo "$stamp" >"$wine/stamp"
  fi
}

# Microsoft's DirectML, against which the tests are checked by hand (docs/microsoft.md), and ONNX Runtime, which runs on
# ours (docs/onnx-runtime.md): from the package of a program that carries both.
onnxRuntimePackage=onnxruntime-node
onnxRuntimeVersion=1.30.0
fetchOnnxRuntimeFile() { # work folder, file of Windows; it is left in the work folder
  rm -rf "$1"
  fetchNpm "$onnxRuntimePackage@$onnxRuntimeVersion" "$1" 5 "package/bin/napi-v6/win32/x64/$2"
}

setupMicrosoft() {
  [[ ! -f $deps/microsoft/DirectML.dll ]] || return 0
  say "fetching Microsoft's DirectML of $onnxRuntimePackage $onnxRuntimeVersion with npm into build/deps/microsoft"
  fetchOnnxRuntimeFile "$deps/.microsoft" DirectML.dll || die "Microsoft's DirectML could not be downloaded."
  rm -rf "$deps/microsoft"
  mv "$deps/.microsoft" "$deps/microsoft"
}

# The headers are Debian's, which are older: functions are only added to the interface.
onnxRuntimeHeaders=libonnxruntime-dev
fetchOnnxRuntime() { # work folder
  fetchOnnxRuntimeFile "$1" onnxruntime.dll && mkdir "$1/apt" && prepareSuites "$1/apt" trixie &&
    (cd "$1/apt" && retry apt-get "${suiteOptions[@]}" download "$onnxRuntimeHeaders") &&
    dpkg-deb -x "$1"/apt/*.deb "$1/apt/root" && mv "$1/apt/root/usr/include" "$1/" && rm -rf "$1/apt"
}

setupOnnxRuntime() {
  [[ ! -f $deps/onnx_runtime/onnxruntime.dll ]] || return 0
  say "fetching ONNX Runtime of $onnxRuntimePackage $onnxRuntimeVersion with npm, $onnxRuntimeHeaders with apt, into build/deps/onnx_runtime"
  fetchOnnxRuntime "$deps/.onnx_runtime" >"$deps/onnx_runtime.log" 2>&1 ||
    die "ONNX Runtime could not be downloaded; see $deps/onnx_runtime.log."
  rm -rf "$deps/onnx_runtime"
  mv "$deps/.onnx_runtime" "$deps/onnx_runtime"
}
