# With DIMPLE_STATIC: libdimple.a, the whole library as one object, in which nothing but its interface is global, so that
# it does not meet the names of the program that links it (its own volk, for example).
if(NOT TARGET dimple OR NOT UNIX OR APPLE)
  message(FATAL_ERROR "DIMPLE_STATIC is for Linux.")
endif()
set(archive "${CMAKE_BINARY_DIR}/lib/libdimple.a")
set(parts dimple_core dimple_backend_vulkan dimple_kernels dimple_kernel_ids dimple_volk)
set(files "")
foreach(part IN LISTS parts)
  list(APPEND files "$<TARGET_FILE:${part}>")
endforeach()
set(object "${CMAKE_BINARY_DIR}/lib/dimple.o")
add_custom_command(OUTPUT "${archive}"
  COMMAND "${CMAKE_LINKER}" -r -o "${object}" "$<TARGET_OBJECTS:dimple>" --whole-archive ${files}
  COMMAND "${CMAKE_OBJCOPY}" --localize-hidden "${object}"
  COMMAND "${CMAKE_COMMAND}" -E rm -f "${archive}"
  COMMAND "${CMAKE_AR}" rcs "${archive}" "${object}"
  COMMAND "${CMAKE_COMMAND}" -E rm "${object}"
  DEPENDS dimple ${parts}
  COMMENT "Making libdimple.a"
  COMMAND_EXPAND_LISTS
  VERBATIM)
add_custom_target(dimple_archive ALL DEPENDS "${archive}")
