#!/usr/bin/env bash
# Sets up, builds and runs the demo: a photograph is posterized through DirectML on Vulkan.
# Vulkan runs on lavapipe where the machine shows no GPU; VK_DRIVER_FILES chooses another driver.
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
cd "$root"
. tools/stages.sh

hasGpu() { compgen -G '/dev/dri/renderD*' >/dev/null || compgen -G '/dev/nvidia[0-9]*' >/dev/null; }
configure() { cmake --preset linux-release -DDIMPLE_BUILD_TESTS=ON; }
build() { cmake --build --preset linux-release ${DIMPLE_JOBS:+-j "$DIMPLE_JOBS"} --target dimple_tool; }

stage "set-up" tools/setup.sh --demo
# shellcheck disable=SC1091
hasGpu || . build/deps/env.sh
stage "configure" configure
stage "build" build
stage "demo" build/linux-release/bin/dimple run tools/demo/posterize.json --dir build/demo "$@"
printStages
