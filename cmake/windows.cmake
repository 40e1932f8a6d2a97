# What only Windows has: versions in the files' properties, and the DLL under Microsoft's name.
option(DIMPLE_DIRECTML_DLL "Also build the library as DirectML.dll, a drop-in for Microsoft's (Windows only)" OFF)
if(NOT WIN32)
  if(DIMPLE_DIRECTML_DLL)
    message(FATAL_ERROR "DIMPLE_DIRECTML_DLL is on, but only Windows has a DirectML.dll.")
  endif()
  return()
endif()

enable_language(RC)

# fileType is VFT_DLL or VFT_APP.
function(dimple_version_resource target fileName fileType)
  set(source "${CMAKE_CURRENT_BINARY_DIR}/${target}_version.rc")
  configure_file("${CMAKE_SOURCE_DIR}/cmake/version.rc.in" "${source}" @ONLY)
  # A target of its own, since the resource compiler knows none of the C++ compiler's options.
  add_library(${target}_version OBJECT "${source}")
  target_sources(${target} PRIVATE $<TARGET_OBJECTS:${target}_version>)
endfunction()

if(TARGET dimple)
  target_sources(dimple PRIVATE "${CMAKE_SOURCE_DIR}/api/exports.def")
endif()
if(TARGET dimple AND DIMPLE_DIRECTML_DLL)
  # The same objects, linked again.
  add_library(dimple_directml SHARED $<TARGET_OBJECTS:dimple> "${CMAKE_SOURCE_DIR}/api/exports.def")
  get_target_property(libraries dimple LINK_LIBRARIES)
  target_link_libraries(dimple_directml PRIVATE ${libraries})
  set_target_properties(dimple_directml PROPERTIES OUTPUT_NAME DirectML PREFIX "" LINKER_LANGUAGE CXX)
  dimple_version_resource(dimple_directml DirectML.dll VFT_DLL)
endif()
if(TARGET dimple)
  dimple_version_resource(dimple dimple.dll VFT_DLL)
endif()
if(TARGET dimple_tool)
  dimple_version_resource(dimple_tool dimple.exe VFT_APP)
endif()
