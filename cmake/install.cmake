# The installed tree: the library, its headers together with the DirectX headers they include, the package files, the
# tool and the licences.
if(NOT TARGET dimple)
  message(STATUS "There is no library yet: nothing is installed.")
  return()
endif()

include(CMakePackageConfigHelpers)
set(packageFolder "${CMAKE_INSTALL_LIBDIR}/cmake/Dimple")
set(documentFolder "${CMAKE_INSTALL_DATADIR}/doc/dimple")

install(TARGETS dimple EXPORT DimpleTargets
  LIBRARY DESTINATION "${CMAKE_INSTALL_LIBDIR}"
  ARCHIVE DESTINATION "${CMAKE_INSTALL_LIBDIR}"
  RUNTIME DESTINATION "${CMAKE_INSTALL_BINDIR}")
if(TARGET dimple_directml)
  install(TARGETS dimple_directml RUNTIME DESTINATION "${CMAKE_INSTALL_BINDIR}" ARCHIVE DESTINATION
    "${CMAKE_INSTALL_LIBDIR}")
endif()
if(MSVC)
  install(FILES "$<TARGET_PDB_FILE:dimple>" DESTINATION "${CMAKE_INSTALL_BINDIR}" OPTIONAL)
  if(TARGET dimple_directml)
    install(FILES "$<TARGET_PDB_FILE:dimple_directml>" DESTINATION "${CMAKE_INSTALL_BINDIR}" OPTIONAL)
  endif()
endif()
if(DIMPLE_STATIC)
  install(FILES "${CMAKE_BINARY_DIR}/lib/libdimple.a" DESTINATION "${CMAKE_INSTALL_LIBDIR}")
endif()
if(TARGET dimple_tool)
  install(TARGETS dimple_tool RUNTIME DESTINATION "${CMAKE_INSTALL_BINDIR}")
  if(UNIX AND NOT CMAKE_CROSSCOMPILING)
    set(described "${CMAKE_BINARY_DIR}/generated/share")
    install(FILES "${described}/dimple.1" DESTINATION "${CMAKE_INSTALL_MANDIR}/man1")
    install(FILES "${described}/dimple.bash" DESTINATION "${CMAKE_INSTALL_DATADIR}/bash-completion/completions"
      RENAME dimple)
    install(FILES "${described}/_dimple" DESTINATION "${CMAKE_INSTALL_DATADIR}/zsh/site-functions")
    install(FILES "${described}/dimple.fish" DESTINATION "${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d")
  endif()
endif()

install(FILES api/include/dimple.h "${CMAKE_BINARY_DIR}/generated/include/dimple_version.h"
  DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}")
# DirectML.h of 1.614 is newer than what distributions install, so the headers that dimple.h was built with go along.
set(headerFolders directx dxguids)
if(NOT WIN32)
  list(APPEND headerFolders wsl)
endif()
foreach(folder IN LISTS headerFolders)
  # A cross build has links to folders.
  get_filename_component(headers "${DIMPLE_DIRECTX_INCLUDE_DIR}/${folder}" REALPATH)
  install(DIRECTORY "${headers}/"
    DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}/dimple/${folder}"
    FILES_MATCHING PATTERN "*.h")
endforeach()

install(EXPORT DimpleTargets NAMESPACE Dimple:: DESTINATION "${packageFolder}")
configure_package_config_file(cmake/DimpleConfig.cmake.in "${CMAKE_BINARY_DIR}/generated/DimpleConfig.cmake"
  INSTALL_DESTINATION "${packageFolder}" PATH_VARS CMAKE_INSTALL_LIBDIR)
# Before 1.0 a minor version may break.
write_basic_package_version_file("${CMAKE_BINARY_DIR}/generated/DimpleConfigVersion.cmake"
  COMPATIBILITY SameMinorVersion)
install(FILES "${CMAKE_BINARY_DIR}/generated/DimpleConfig.cmake"
  "${CMAKE_BINARY_DIR}/generated/DimpleConfigVersion.cmake" DESTINATION "${packageFolder}")

# Relative to the file itself, so that an installed tree can be moved.
file(RELATIVE_PATH pcPrefix "/${CMAKE_INSTALL_LIBDIR}/pkgconfig" "/")
configure_file(cmake/dimple.pc.in "${CMAKE_BINARY_DIR}/generated/dimple.pc" @ONLY)
install(FILES "${CMAKE_BINARY_DIR}/generated/dimple.pc" DESTINATION "${CMAKE_INSTALL_LIBDIR}/pkgconfig")

install(FILES LICENSE THIRD_PARTY.md DESTINATION "${documentFolder}")

include(cmake/package.cmake)
