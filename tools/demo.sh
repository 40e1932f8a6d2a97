#!/usr/bin/env bash
# Sets up, builds and runs the demo: the printed text in a photograph is read through DirectML, by three ONNX models.
#
#   tools/demo.sh                         on Vulkan
#   tools/demo.sh --backend d3d12         on Direct3D 12, which is libvkd3d here
#   tools/demo.sh --compare vulkan,d3d12  on both, and how far apart the models' results are
#   tools/demo.sh --posterize             another demo, a program of DirectML operators on a photograph; on Direct3D 12
#                                         the picture is the same, bit for bit
#
# Other arguments go to `dimple read` or `dimple run`; a picture of your own may be one. Vulkan, which libvkd3d uses too,
# is lavapipe where the machine shows no GPU; VK_DRIVER_FILES chooses another driver.
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
cd "$root"
. tools/stages.sh

backend=vulkan
posterize=0
picture=build/deps/ocr/page.png
previous=
arguments=()
for argument in "$@"; do
  case $argument in
    -h | --help)
      sed -n '2,/^set /{/^#/s/^# \{0,1\}//p}' "${BASH_SOURCE[0]}"
      exit 0
      ;;
    --posterize)
      posterize=1
      continue
      ;;
    --backend=*) backend=${argument#*=} ;;
    --compare*) backend=d3d12 ;;
    *.png | *.jpg | *.jpeg)
      if [[ $previous != -* ]]; then
        picture=$argument
        continue
      fi
      ;;
    *) [[ $previous == --backend ]] && backend=$argument ;;
  esac
  arguments+=("$argument")
  previous=$argument
done
case $backend in
  vulkan) target=dimple_tool program=dimple setUp=(--demo) options=() ;;
  d3d12) target=dimple_tool_d3d12 program=dimple-d3d12 setUp=(--demo --d3d12)
    options=(-DDIMPLE_VKD3D=ON -DDIMPLE_VKD3D_ONNX=ON) ;;
  *)
    echo "demo: unknown back end $backend (known: vulkan, d3d12)." >&2
    exit 2
    ;;
esac

hasGpu() { compgen -G '/dev/dri/renderD*' >/dev/null || compgen -G '/dev/nvidia[0-9]*' >/dev/null; }
configure() { cmake --preset linux-release -DDIMPLE_BUILD_TESTS=ON "${options[@]}"; }
build() { cmake --build --preset linux-release ${DIMPLE_JOBS:+-j "$DIMPLE_JOBS"} --target "$target"; }

stage "set-up" tools/setup.sh "${setUp[@]}"
# shellcheck disable=SC1091
hasGpu || . build/deps/env.sh
# libvkd3d reports its unfinished parts.
export VKD3D_DEBUG=${VKD3D_DEBUG:-err}
stage "configure" configure
stage "build" build
mkdir -p build/demo
if ((posterize)); then
  command=(run tools/demo/posterize.json --dir build/demo)
else
  command=(read "$picture" --models build/deps/ocr --boxes build/demo/text.png)
fi
stage "demo" "build/linux-release/bin/$program" "${command[@]}" "${arguments[@]}"
printStages
