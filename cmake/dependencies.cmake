# Finds what tools/setup.sh provides; on other systems every variable can be given with -D.
include("${CMAKE_SOURCE_DIR}/build/deps/deps.cmake" OPTIONAL)

find_program(DIMPLE_GLSLANG glslang DOC "glslang")
find_program(DIMPLE_SPIRV_CROSS spirv-cross DOC "spirv-cross")
find_program(DIMPLE_SPIRV_VAL spirv-val DOC "spirv-val")
find_path(DIMPLE_VULKAN_INCLUDE_DIR vulkan/vulkan.h DOC "folder that holds vulkan/vulkan.h")
find_path(DIMPLE_VOLK_DIR volk.c PATH_SUFFIXES volk DOC "folder that holds volk.h and volk.c")
find_path(DIMPLE_DIRECTX_INCLUDE_DIR directx/DirectML.h DOC "folder that holds directx/DirectML.h and wsl/")
find_path(DIMPLE_JSON_INCLUDE_DIR nlohmann/json.hpp DOC "folder that holds nlohmann/json.hpp")
find_path(DIMPLE_CLI11_INCLUDE_DIR CLI/CLI.hpp DOC "folder that holds CLI/CLI.hpp")
find_path(DIMPLE_STB_INCLUDE_DIR stb_image.h PATH_SUFFIXES stb DOC "folder that holds stb_image.h")
find_path(DIMPLE_DOCTEST_INCLUDE_DIR doctest.h PATH_SUFFIXES doctest DOC "folder that holds doctest.h")
# Optional: what pages of reports draw with.
find_path(DIMPLE_REPORT_SCRIPTS d3.min.js PATHS "${CMAKE_SOURCE_DIR}/build/deps/report" NO_DEFAULT_PATH
  DOC "folder that holds d3.min.js, dagre.min.js and their licences, d3.LICENSE and dagre.LICENSE")

set(missing "")
foreach(variable DIMPLE_GLSLANG DIMPLE_SPIRV_CROSS DIMPLE_SPIRV_VAL DIMPLE_VULKAN_INCLUDE_DIR DIMPLE_VOLK_DIR
                 DIMPLE_DIRECTX_INCLUDE_DIR DIMPLE_JSON_INCLUDE_DIR)
  if(NOT ${variable} OR NOT EXISTS "${${variable}}")
    list(APPEND missing ${variable})
  endif()
endforeach()
if(DIMPLE_BUILD_TOOL AND NOT (DIMPLE_CLI11_INCLUDE_DIR AND DIMPLE_STB_INCLUDE_DIR))
  list(APPEND missing "DIMPLE_CLI11_INCLUDE_DIR or DIMPLE_STB_INCLUDE_DIR")
endif()
if(DIMPLE_BUILD_TESTS AND NOT DIMPLE_DOCTEST_INCLUDE_DIR)
  list(APPEND missing DIMPLE_DOCTEST_INCLUDE_DIR)
endif()
if(missing)
  list(JOIN missing ", " missing)
  message(FATAL_ERROR
    "Not found: ${missing}. On Debian 12 and 13 run tools/setup.sh first; elsewhere it prints what to provide.")
endif()

find_package(Threads REQUIRED)
# Packs the code of kernels.
find_package(ZLIB REQUIRED)

# A cross compiler must not look into /usr/include: the header libraries it may use are linked into a folder beside.
if(CMAKE_CROSSCOMPILING)
  set(crossHeaders "${CMAKE_BINARY_DIR}/headers")
  foreach(pair "JSON|nlohmann" "CLI11|CLI" "DOCTEST|doctest.h" "DOCTEST|../doctest" "DIRECTX|directx" "DIRECTX|dxguids" "VULKAN|vulkan"
               "VULKAN|vk_video" "VOLK|volk.h" "VOLK|volk.c")
    string(REPLACE "|" ";" pair "${pair}")
    list(GET pair 0 variable)
    list(GET pair 1 name)
    set(variable DIMPLE_${variable}_INCLUDE_DIR)
    if(variable STREQUAL "DIMPLE_VOLK_INCLUDE_DIR")
      set(variable DIMPLE_VOLK_DIR)
    endif()
    file(MAKE_DIRECTORY "${crossHeaders}")
    get_filename_component(link "${name}" NAME)
    if(EXISTS "${${variable}}/${name}" AND NOT EXISTS "${crossHeaders}/${link}")
      file(CREATE_LINK "${${variable}}/${name}" "${crossHeaders}/${link}" SYMBOLIC)
    endif()
  endforeach()
  foreach(variable JSON_INCLUDE_DIR CLI11_INCLUDE_DIR DOCTEST_INCLUDE_DIR VULKAN_INCLUDE_DIR VOLK_DIR
                   DIRECTX_INCLUDE_DIR)
    set(DIMPLE_${variable} "${crossHeaders}")
  endforeach()
endif()

# Headers of others are system headers: their warnings are not ours.
function(dimple_system_headers name)
  add_library(${name} INTERFACE)
  target_include_directories(${name} SYSTEM INTERFACE ${ARGN})
endfunction()

if(WIN32)
  dimple_system_headers(dimple_directx "${DIMPLE_DIRECTX_INCLUDE_DIR}" "${DIMPLE_DIRECTX_INCLUDE_DIR}/directx")
else()
  dimple_system_headers(dimple_directx "${DIMPLE_DIRECTX_INCLUDE_DIR}" "${DIMPLE_DIRECTX_INCLUDE_DIR}/directx"
    "${DIMPLE_DIRECTX_INCLUDE_DIR}/wsl/stubs")
endif()
target_compile_definitions(dimple_directx INTERFACE DML_TARGET_VERSION=0x6400)
if(MINGW)
  # An annotation that the headers of mingw-w64 do not know.
  target_compile_definitions(dimple_directx INTERFACE _Maybenull_=)
endif()

dimple_system_headers(dimple_vulkan "${DIMPLE_VULKAN_INCLUDE_DIR}")
target_compile_definitions(dimple_vulkan INTERFACE VK_NO_PROTOTYPES)
dimple_system_headers(dimple_json "${DIMPLE_JSON_INCLUDE_DIR}")
if(DIMPLE_BUILD_TOOL)
  dimple_system_headers(dimple_cli11 "${DIMPLE_CLI11_INCLUDE_DIR}")
  dimple_system_headers(dimple_stb "${DIMPLE_STB_INCLUDE_DIR}")
endif()
if(DIMPLE_BUILD_TESTS)
  get_filename_component(doctestParent "${DIMPLE_DOCTEST_INCLUDE_DIR}" DIRECTORY)
  if(CMAKE_CROSSCOMPILING)
    set(doctestParent "${DIMPLE_DOCTEST_INCLUDE_DIR}")
  endif()
  dimple_system_headers(dimple_doctest "${DIMPLE_DOCTEST_INCLUDE_DIR}" "${doctestParent}")
endif()

# volk loads the Vulkan loader at run time, so that nothing links to it.
add_library(dimple_volk STATIC "${DIMPLE_VOLK_DIR}/volk.c")
target_include_directories(dimple_volk SYSTEM PUBLIC "${DIMPLE_VOLK_DIR}")
target_link_libraries(dimple_volk PUBLIC dimple_vulkan PRIVATE ${CMAKE_DL_LIBS})
