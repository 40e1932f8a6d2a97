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

# Beside mingw's import library of a DLL one in the form that Visual C++'s own tools make.
find_program(DIMPLE_LLVM_DLLTOOL NAMES llvm-dlltool llvm-dlltool-19 llvm-dlltool-16 llvm-dlltool-14
  DOC "LLVM's dlltool, which makes import libraries for Visual C++")
mark_as_advanced(DIMPLE_LLVM_DLLTOOL)
function(dimple_msvc_import_library target name)
  if(NOT MINGW OR NOT DIMPLE_LLVM_DLLTOOL)
    return()
  endif()
  set(definition "${CMAKE_CURRENT_BINARY_DIR}/${name}.def")
  set(library "${CMAKE_ARCHIVE_OUTPUT_DIRECTORY}/${name}.lib")
  target_link_options(${target} PRIVATE "LINKER:--output-def,${definition}")
  add_custom_command(OUTPUT "${library}" DEPENDS ${target} VERBATIM
    COMMAND "${DIMPLE_LLVM_DLLTOOL}" -m i386:x86-64 -D "${name}.dll" -d "${definition}" -l "${library}")
  add_custom_target(${target}_import_library ALL DEPENDS "${library}")
  install(FILES "${library}" DESTINATION "${CMAKE_INSTALL_LIBDIR}")
endfunction()

if(TARGET dimple)
  target_sources(dimple PRIVATE "${CMAKE_SOURCE_DIR}/api/exports.def")
  dimple_msvc_import_library(dimple dimple)
endif()
if(TARGET dimple AND DIMPLE_DIRECTML_DLL)
  # The same objects, linked again.
  add_library(dimple_directml SHARED $<TARGET_OBJECTS:dimple> "${CMAKE_SOURCE_DIR}/api/exports.def")
  get_target_property(libraries dimple LINK_LIBRARIES)
  target_link_libraries(dimple_directml PRIVATE ${libraries})
  set_target_properties(dimple_directml PROPERTIES OUTPUT_NAME DirectML PREFIX "" LINKER_LANGUAGE CXX)
  dimple_version_resource(dimple_directml DirectML.dll VFT_DLL)
  dimple_msvc_import_library(dimple_directml DirectML)
endif()
if(TARGET dimple)
  dimple_version_resource(dimple dimple.dll VFT_DLL)
endif()
if(TARGET dimple_tool)
  dimple_version_resource(dimple_tool dimple.exe VFT_APP)
endif()
