# dimple_warnings: what holds for all our own code. dimple_options: that and the sanitizers, for what is shipped and
# tested; build-time programs do without them.
add_library(dimple_warnings INTERFACE)
target_include_directories(dimple_warnings INTERFACE "${CMAKE_SOURCE_DIR}" "${CMAKE_BINARY_DIR}/generated/include")

if(WIN32)
  # Not WIN32_LEAN_AND_MEAN: mingw-w64's windows.h must bring rpcndr.h before d3d12.h asks for a newer one.
  target_compile_definitions(dimple_warnings INTERFACE NOMINMAX _WIN32_WINNT=0x0A00)
endif()
if(MSVC)
  target_compile_options(dimple_warnings INTERFACE /W4 /permissive- /utf-8 $<$<BOOL:${DIMPLE_WARNINGS_AS_ERRORS}>:/WX>)
else()
  target_compile_options(dimple_warnings INTERFACE
    -Wall -Wextra -Wconversion -Wshadow $<$<BOOL:${DIMPLE_WARNINGS_AS_ERRORS}>:-Werror>)
  # clang counts signedness to the conversions, g++ does not.
  target_compile_options(dimple_warnings INTERFACE $<$<CXX_COMPILER_ID:Clang>:-Wno-sign-conversion>)
  # g++ 12 sees overlapping copies in operator+ of std::string where there are none (its bug 105329).
  target_compile_options(dimple_warnings INTERFACE
    $<$<AND:$<CXX_COMPILER_ID:GNU>,$<VERSION_LESS:$<CXX_COMPILER_VERSION>,13>>:-Wno-restrict>)
  # g++ 13 takes a function with a temporary argument that returns a reference to something else for dangling.
  target_compile_options(dimple_warnings INTERFACE
    $<$<AND:$<CXX_COMPILER_ID:GNU>,$<VERSION_GREATER_EQUAL:$<CXX_COMPILER_VERSION>,13>>:-Wno-dangling-reference>)
  # Two clones in different folders give the same library: refusals name the line of the sources that they come from.
  target_compile_options(dimple_warnings INTERFACE "-ffile-prefix-map=${CMAKE_SOURCE_DIR}/="
    "-ffile-prefix-map=${CMAKE_BINARY_DIR}/=")
  # Results must not depend on the compiler's choice to fuse a multiplication and an addition.
  target_compile_options(dimple_warnings INTERFACE -ffp-contract=off)
endif()

# clang's address sanitizer comes with a fuzzer, whose targets (tests/fuzz) are built with it.
set(DIMPLE_FUZZ OFF)
if(DIMPLE_SANITIZE STREQUAL "address" AND CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
  set(DIMPLE_FUZZ ON)
endif()

add_library(dimple_options INTERFACE)
target_link_libraries(dimple_options INTERFACE dimple_warnings)
if(DIMPLE_DEVELOPER)
  target_compile_definitions(dimple_options INTERFACE DIMPLE_DEVELOPER "DIMPLE_SPIRV_VAL=\"${DIMPLE_SPIRV_VAL}\"")
endif()
if(DIMPLE_SANITIZE STREQUAL "address")
  set(sanitizers -fsanitize=address,undefined -fno-sanitize-recover=undefined -fno-omit-frame-pointer)
elseif(DIMPLE_SANITIZE STREQUAL "thread")
  set(sanitizers -fsanitize=thread -fno-omit-frame-pointer)
elseif(DIMPLE_SANITIZE)
  message(FATAL_ERROR "DIMPLE_SANITIZE is '${DIMPLE_SANITIZE}', neither address nor thread.")
endif()
if(DIMPLE_SANITIZE)
  # A caller's structures hold any value in an enumeration; it is compared as an integer, which compilers keep without
  # -fstrict-enums.
  list(APPEND sanitizers -fno-sanitize=enum)
  target_compile_options(dimple_options INTERFACE ${sanitizers})
  target_link_options(dimple_options INTERFACE ${sanitizers})
  # g++ warns of uninitialized values that only the instrumented code seems to have.
  target_compile_options(dimple_options INTERFACE $<$<CXX_COMPILER_ID:GNU>:-Wno-maybe-uninitialized>)
endif()

# Sources of a folder; adding a file needs no change here.
function(dimple_sources result)
  file(GLOB files CONFIGURE_DEPENDS ${ARGN})
  set(${result} "${files}" PARENT_SCOPE)
endfunction()

# For programs whose own speed does not matter; LEVEL is 0 or 1, with sanitizers always 0.
function(dimple_compile_quickly target level)
  if(DIMPLE_SANITIZE)
    set(level 0)
  endif()
  target_compile_options(${target} PRIVATE $<$<NOT:$<CXX_COMPILER_ID:MSVC>>:-O${level}>)
endfunction()

# With DIMPLE_UNITY, groups of the target's files become one; files after the name stay alone.
function(dimple_unity target)
  if(DIMPLE_UNITY)
    set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 8)
    if(ARGN)
      set_source_files_properties(${ARGN} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
    endif()
  endif()
endfunction()

# Headers that a target's files share, parsed once. Files still include what they use: the thread sanitizer's preset
# compiles without.
function(dimple_precompile target)
  target_precompile_headers(${target} PRIVATE
    <algorithm> <array> <bit> <cmath> <cstdint> <cstring> <functional> <limits> <map> <memory> <optional> <span>
    <string> <string_view> <vector> ${ARGN})
endfunction()
