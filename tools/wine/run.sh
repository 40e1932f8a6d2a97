#!/usr/bin/env bash
# Runs a Windows program in Wine, on lavapipe, with Direct3D 12 through the bridge that tools/setup.sh --d3d12 made.
#
#   tools/wine/run.sh PROGRAM ARGUMENTS...
#
# It has a Wine prefix and a display of its own (Vulkan in Wine and DXGI want one), so that programs that run at the same
# time share no server of Wine's and no desktop. It has an end after DIMPLE_WINE_SECONDS (600), and DIMPLE_WINE_MEMORY
# kilobytes of address space (8000000). The Vulkan driver is lavapipe unless the caller chose one; Wine's own messages
# are off unless WINEDEBUG is set. Environment variables reach the program.
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
wine=$root/build/deps/wine
(($#)) || {
  sed -n '2,/^set /{/^#/s/^# \{0,1\}//p}' "${BASH_SOURCE[0]}" >&2
  exit 2
}
[[ -f $wine/stamp ]] || {
  echo "run: there is no bridge in $wine; run tools/setup.sh --d3d12." >&2
  exit 2
}
# shellcheck disable=SC1091
. "$root/build/deps/env.sh"

# Files of the prefix are links, but for the registry, which Wine writes.
mkdir -p "$wine/runs"
work=$(mktemp -d "$wine/runs/XXXXXX")
cp -al "$wine/prefix" "$work/prefix"
for registry in "$wine"/prefix/*.reg; do cp --remove-destination "$registry" "$work/prefix/"; done
export WINEPREFIX=$work/prefix

# The X server names the first free display itself.
Xvfb -displayfd 3 -screen 0 640x480x24 -nolisten tcp 3>"$work/display" >/dev/null 2>&1 &
server=$!
trap 'wineserver -k 2>/dev/null; kill "$server" 2>/dev/null; rm -rf "$work"' EXIT
for _ in {1..100}; do
  [[ -s $work/display ]] && break
  kill -0 "$server" 2>/dev/null || break
  sleep 0.1
done
[[ -s $work/display ]] || {
  echo "run: Xvfb does not start." >&2
  exit 2
}

read -r display <"$work/display"
export DISPLAY=:$display
export WINEDLLPATH=$wine/dll WINEDEBUG=${WINEDEBUG:--all}
export WINEDLLOVERRIDES="d3d12=n;mscoree,mshtml=;winedbg.exe=d"
export VKD3D_DEBUG=${VKD3D_DEBUG:-none}
export XDG_RUNTIME_DIR=${XDG_RUNTIME_DIR:-$work}
ulimit -v "${DIMPLE_WINE_MEMORY:-8000000}"
# Wine's desktop loses its display with the server, and says so.
timeout "${DIMPLE_WINE_SECONDS:-600}" wine "$@" </dev/null 2> >(grep -v '^X connection to .* broken' >&2)
