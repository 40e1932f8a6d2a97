# Direct3D 12 on Linux, for tests only: libvkd3d, linked statically, and its calling convention in all code that calls
# interfaces. Objects with the one convention and with the other do not go into one program.
# What keeps libvkd3d from being used is written to vkd3d_missing.txt, so that a script can skip the tests for it.
file(REMOVE "${CMAKE_BINARY_DIR}/vkd3d_missing.txt")
function(dimple_vkd3d_missing reason)
  file(WRITE "${CMAKE_BINARY_DIR}/vkd3d_missing.txt" "${reason}\n")
  message(FATAL_ERROR "${reason}")
endfunction()

set(DIMPLE_VKD3D_ROOT "" CACHE PATH "folder that holds usr/include/vkd3d and usr/lib with libvkd3d 2.1 or later")
file(GLOB vkd3dFolder "${DIMPLE_VKD3D_ROOT}/usr/lib/*/libvkd3d.a")
if(NOT DIMPLE_VKD3D_ROOT OR NOT vkd3dFolder)
  dimple_vkd3d_missing("libvkd3d is not there: tools/setup.sh --d3d12 could not or did not download it.")
endif()
get_filename_component(vkd3dFolder "${vkd3dFolder}" DIRECTORY)
set(vkd3dLibraries "${vkd3dFolder}/libvkd3d-utils.a" "${vkd3dFolder}/libvkd3d.a" "${vkd3dFolder}/libvkd3d-shader.a"
  Threads::Threads ${CMAKE_DL_LIBS} m)

include(CheckFunctionExists)
check_function_exists(__isoc23_strtol DIMPLE_HAS_GLIBC_238)
set(vkd3dSources "")
if(NOT DIMPLE_HAS_GLIBC_238)
  set(vkd3dSources "${CMAKE_SOURCE_DIR}/backend_d3d12/vkd3d/glibc238.c")
endif()

set(probe "${CMAKE_BINARY_DIR}/vkd3d_probe.c")
file(WRITE "${probe}" "extern int D3D12CreateDeviceVKD3D(void);\nint main(void) { return &D3D12CreateDeviceVKD3D == 0; }\n")
try_compile(DIMPLE_VKD3D_LINKS "${CMAKE_BINARY_DIR}/vkd3d_probe" SOURCES "${probe}" ${vkd3dSources}
  LINK_LIBRARIES ${vkd3dLibraries} OUTPUT_VARIABLE output)
if(NOT DIMPLE_VKD3D_LINKS)
  unset(DIMPLE_VKD3D_LINKS CACHE)
  message(STATUS "${output}")
  dimple_vkd3d_missing("libvkd3d in ${vkd3dFolder} cannot be linked with this compiler and C library.")
endif()

add_library(dimple_vkd3d INTERFACE)
target_link_libraries(dimple_vkd3d INTERFACE ${vkd3dLibraries})
if(vkd3dSources)
  # Behind the archives that need it.
  add_library(dimple_vkd3d_glibc STATIC ${vkd3dSources})
  target_link_libraries(dimple_vkd3d INTERFACE dimple_vkd3d_glibc)
endif()
target_compile_options(dimple_vkd3d INTERFACE
  "$<$<COMPILE_LANGUAGE:CXX>:SHELL:-include ${CMAKE_SOURCE_DIR}/backend_d3d12/vkd3d/microsoft_abi.h>")

add_custom_target(d3d12 COMMENT "Built what tests Direct3D 12")
# For targets over libvkd3d, which only the target d3d12 builds.
function(dimple_over_vkd3d target)
  set_target_properties(${target} PROPERTIES EXCLUDE_FROM_ALL ON)
  target_link_libraries(${target} PUBLIC dimple_vkd3d)
  add_dependencies(d3d12 ${target})
endfunction()
