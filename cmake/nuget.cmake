# What CPack's External generator runs on Windows builds: two NuGet packages of the installed tree, one with the
# libraries and their headers for Visual C++ projects, one with the symbols that were taken from them. A .nupkg is a zip
# with a .nuspec; NuGet's own program is not needed.
cmake_minimum_required(VERSION 3.25)

set(work "${CPACK_TOPLEVEL_DIRECTORY}/nuget")
set(sources "${CMAKE_CURRENT_LIST_DIR}/nuget")
file(REMOVE_RECURSE "${work}")
# With one component CPack installs into the folder itself, with several into one of each.
file(GLOB_RECURSE header "${CPACK_TEMPORARY_DIRECTORY}/*/dimple.h" "${CPACK_TEMPORARY_DIRECTORY}/dimple.h")
list(LENGTH header count)
if(NOT count EQUAL 1)
  message(FATAL_ERROR "The installed tree in ${CPACK_TEMPORARY_DIRECTORY} has ${count} dimple.h, expected one.")
endif()
cmake_path(GET header PARENT_PATH include)
cmake_path(GET include PARENT_PATH installed)

# With symbols in a file beside a DLL, which says where they are, or, for Visual C++, in the .pdb that was installed.
function(add_library_files name)
  file(COPY "${installed}/bin/${name}.dll" DESTINATION "${work}/main/bin/x64")
  file(GLOB imports "${installed}/lib/${name}.lib" "${installed}/lib/lib${name}.dll.a")
  file(COPY ${imports} DESTINATION "${work}/main/lib/x64")
  file(MAKE_DIRECTORY "${work}/symbols/bin/x64")
  if(EXISTS "${installed}/bin/${name}.pdb")
    file(COPY "${installed}/bin/${name}.pdb" DESTINATION "${work}/symbols/bin/x64")
    return()
  endif()
  foreach(options IN ITEMS
      "--only-keep-debug;${installed}/bin/${name}.dll;${work}/symbols/bin/x64/${name}.dll.debug"
      "--strip-all;${work}/main/bin/x64/${name}.dll"
      "--add-gnu-debuglink=${work}/symbols/bin/x64/${name}.dll.debug;${work}/main/bin/x64/${name}.dll")
    execute_process(COMMAND "${CPACK_DIMPLE_OBJCOPY}" ${options} COMMAND_ERROR_IS_FATAL ANY)
  endforeach()
endfunction()

function(pack folder id) # the names are those of files in cmake/nuget
  configure_file("${sources}/package.nuspec.in" "${folder}/${id}.nuspec" @ONLY)
  configure_file("${sources}/relations.in" "${folder}/_rels/.rels" @ONLY)
  file(COPY_FILE "${sources}/content_types.xml" "${folder}/[Content_Types].xml")
  file(COPY "${CPACK_RESOURCE_FILE_LICENSE}" DESTINATION "${folder}")
  file(GLOB_RECURSE files RELATIVE "${folder}" "${folder}/*")
  # A glob takes brackets for a set of characters, and a list takes what is in them for one element.
  list(FILTER files EXCLUDE REGEX "Content_Types")
  set(list "[Content_Types].xml\n")
  foreach(file IN LISTS files)
    string(APPEND list "${file}\n")
  endforeach()
  file(WRITE "${folder}.list" "${list}")
  set(package "${CPACK_TOPLEVEL_DIRECTORY}/${id}.${CPACK_PACKAGE_VERSION}.nupkg")
  execute_process(COMMAND "${CMAKE_COMMAND}" -E tar cf "${package}" --format=zip "--files-from=${folder}.list"
    WORKING_DIRECTORY "${folder}" COMMAND_ERROR_IS_FATAL ANY)
  set(packages ${packages} "${package}" PARENT_SCOPE)
endfunction()

set(packages "")
foreach(name IN ITEMS dimple DirectML)
  if(EXISTS "${installed}/bin/${name}.dll")
    add_library_files("${name}")
  endif()
endforeach()
file(COPY "${include}/" DESTINATION "${work}/main/include")
file(COPY "${sources}/Dimple.targets" DESTINATION "${work}/main/build/native")
file(COPY "${installed}/share/doc/dimple/THIRD_PARTY.md" DESTINATION "${work}/main")
pack("${work}/main" Dimple)
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "Debug symbols of the package Dimple")
pack("${work}/symbols" Dimple.Symbols)
set(CPACK_EXTERNAL_BUILT_PACKAGES ${packages})
