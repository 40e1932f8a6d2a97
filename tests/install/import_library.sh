#!/usr/bin/env bash
# Links a program against the import libraries for Visual C++ with LLVM's linker of that kind, and runs it in Wine.
#
#   tests/install/import_library.sh BUILD          BUILD: the folder of the mingw preset
#
# It ends with 77 where clang, lld-link or the libraries are missing.
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
build=$1
for program in clang lld-link; do
  command -v "$program" >/dev/null || {
    echo "import_library: there is no $program."
    exit 77
  }
done
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# Neither headers nor a C library of Windows are needed: the value of the entry is the program's.
cat >"$work/program.c" <<'EOF'
__declspec(dllimport) long DMLCreateDevice1(void*, int, int, const void*, void**);
#ifdef WITH_DIMPLE
__declspec(dllimport) const char* dimpleGetVersion(void);
#endif
int start(void) {
  void* made = 0;
  const char id[16] = {0};
  if (DMLCreateDevice1(0, 0, 0x1000, id, &made) != (long)0x80070057) return 1; /* E_INVALIDARG: there is no device */
#ifdef WITH_DIMPLE
  if (dimpleGetVersion()[0] < '0' || dimpleGetVersion()[0] > '9') return 2;
#endif
  return 0;
}
EOF
for name in dimple DirectML; do
  [[ -f $build/lib/$name.lib ]] || {
    echo "import_library: there is no $build/lib/$name.lib: llvm-dlltool was not found when the build was configured."
    exit 77
  }
  options=()
  [[ $name != dimple ]] || options=(-DWITH_DIMPLE)
  clang --target=x86_64-pc-windows-msvc -O1 "${options[@]}" -c "$work/program.c" -o "$work/program.obj"
  lld-link /nologo /entry:start /subsystem:console /nodefaultlib /out:"$work/$name.exe" "$work/program.obj" "$build/lib/$name.lib"
  cp "$build/bin/$name.dll" "$work/"
  "$root/tools/wine/run.sh" "$work/$name.exe" || {
    echo "import_library: the program over $name.lib ends with $?, expected 0." >&2
    exit 1
  }
done
echo "import_library: programs over dimple.lib and DirectML.lib run."
