# `cpack` packs the installed tree: the library with its import library, the headers, the tool, the execution provider
# for ONNX Runtime and the notices. On Linux that is a .tar.gz, which works wherever it is unpacked, and a .deb; on
# Windows a .zip and NuGet packages.
set(CPACK_GENERATOR TGZ)
set(CPACK_STRIP_FILES ON)
set(system linux)
if(WIN32)
  set(CPACK_STRIP_FILES OFF)
  set(CPACK_GENERATOR ZIP)
  # Visual C++ puts debug symbols into a file of their own, from others they are taken.
  find_program(CPACK_DIMPLE_OBJCOPY NAMES "${CMAKE_OBJCOPY}" llvm-objcopy)
  mark_as_advanced(CPACK_DIMPLE_OBJCOPY)
  if(MSVC OR CPACK_DIMPLE_OBJCOPY)
    list(APPEND CPACK_GENERATOR External)
    set(CPACK_EXTERNAL_ENABLE_STAGING ON)
    set(CPACK_EXTERNAL_PACKAGE_SCRIPT "${CMAKE_CURRENT_LIST_DIR}/nuget.cmake")
  endif()
  set(system windows)
endif()
string(TOLOWER "${CMAKE_SYSTEM_PROCESSOR}" processor)
set(CPACK_PACKAGE_NAME dimple)
set(CPACK_PACKAGE_VENDOR Dimple)
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "${PROJECT_DESCRIPTION}")
set(CPACK_PACKAGE_FILE_NAME "dimple-${PROJECT_VERSION}-${system}-${processor}")
set(CPACK_PACKAGE_DIRECTORY "${CMAKE_BINARY_DIR}/package")
set(CPACK_RESOURCE_FILE_LICENSE "${CMAKE_SOURCE_DIR}/LICENSE")
set(CPACK_VERBATIM_VARIABLES ON)

# Without these programs nothing tells what a .deb depends on.
find_program(DIMPLE_DPKG_SHLIBDEPS dpkg-shlibdeps)
find_program(DIMPLE_FILE file)
mark_as_advanced(DIMPLE_DPKG_SHLIBDEPS DIMPLE_FILE)
if(NOT WIN32 AND DIMPLE_DPKG_SHLIBDEPS AND DIMPLE_FILE)
  list(APPEND CPACK_GENERATOR DEB)
endif()
# One package: all of it takes nine megabytes.
set(DIMPLE_PACKAGE_MAINTAINER "Dimple contributors <maintainer@dimple.invalid>" CACHE STRING
  "Name and address in a .deb: of whoever publishes it")
set(CPACK_DEBIAN_PACKAGE_MAINTAINER "${DIMPLE_PACKAGE_MAINTAINER}")
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION libs)
set(CPACK_DEBIAN_PACKAGE_DESCRIPTION "The library with its headers, the command line tool dimple, and an execution
 provider that runs the models of ONNX Runtime on Vulkan devices.")
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
# Also has the linker's cache renewed after an installation.
set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS ON)
# Loaded when it is there; a program may bring another loader.
set(CPACK_DEBIAN_PACKAGE_RECOMMENDS libvulkan1)
set(CPACK_DEBIAN_PACKAGE_SUGGESTS mesa-vulkan-drivers)
include(CPack)
