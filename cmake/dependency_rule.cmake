# The dependency rule of docs/architecture.md, as far as includes break it that link targets cannot: all folders share
# one include root. Included by the top CMakeLists.txt it adds a target to the build; run as a script it checks.

# Pairs: folder, what its files may include of the project.
set(dimpleIncludeRules
  core           "^(core/|kernels/(kernel_id\\.h|[a-z]+/[a-z]+_list\\.glsl)$|kernels/interfaces/)"
  kernels        "^kernels/"
  backend_vulkan "^(backend_vulkan/|kernels/kernel_(code|id|table)\\.h$|core/(support/[a-z_]+|plan/(looks|plan)|backend|caps|checked|data_type|options|result|text)\\.h$)"
  backend_d3d12  "^(backend_d3d12/|kernels/kernel_(code|id|table)\\.h$|core/(support/[a-z_]+|plan/(looks|plan)|backend|caps|checked|data_type|options|result|text)\\.h$)"
  api            "^(api/|core/)"
  api/vulkan     "^(api/|core/|backend_vulkan/)"
  api/d3d12      "^(api/|core/|backend_d3d12/)"
  clients/onnx   "^clients/(onnx/|(file_reason|printable)\\.h$)"
  clients/onnxruntime "^clients/((onnx|onnxruntime)/|uuid\\.h$)"
  clients/ocr    "^clients/((ocr|onnx)/|file_reason\\.h$)"
  clients/files  "^(clients/(files/|(file_reason|printable)\\.h$)|core/(data_type|schema/element_text|text)\\.h$)"
  clients/dimple "^(clients/|core/|backend_[a-z0-9]+/|tests/conformance/)"
  tests/conformance/oracle "^tests/conformance/oracle/"
  tests/conformance "^(tests/conformance/|core/|backend_d3d12/)"
  tests/core     "^(core/|kernels/kernel_id\\.h$|kernels/interfaces/|tests/)"
  tools/kernelgen "^(tools/kernelgen/|kernels/(kernel_(id|table)|packed_words)\\.h$)")

if(NOT CMAKE_SCRIPT_MODE_FILE)
  file(GLOB_RECURSE checked CONFIGURE_DEPENDS core/*.h core/*.cpp kernels/*.h kernels/*.cpp backend_*/*.h backend_*/*.cpp
    api/*.h api/*.cpp clients/*.h clients/*.cpp tests/conformance/*.h tests/conformance/*.cpp tests/core/*.cpp
    tools/kernelgen/*.h tools/kernelgen/*.cpp)
  add_custom_command(
    OUTPUT "${CMAKE_BINARY_DIR}/dependency_rule.stamp"
    COMMAND "${CMAKE_COMMAND}" "-DROOT=${CMAKE_SOURCE_DIR}" -P "${CMAKE_CURRENT_LIST_FILE}"
    COMMAND "${CMAKE_COMMAND}" -E touch "${CMAKE_BINARY_DIR}/dependency_rule.stamp"
    DEPENDS ${checked} "${CMAKE_CURRENT_LIST_FILE}"
    COMMENT "Checking the dependency rule"
    VERBATIM)
  add_custom_target(dimple_dependency_rule ALL DEPENDS "${CMAKE_BINARY_DIR}/dependency_rule.stamp")
  return()
endif()

set(dimpleRuleFolders "")
list(LENGTH dimpleIncludeRules count)
math(EXPR last "${count} - 1")
foreach(i RANGE 0 ${last} 2)
  list(GET dimpleIncludeRules ${i} folder)
  list(APPEND dimpleRuleFolders "${folder}")
endforeach()

set(errors "")
while(dimpleIncludeRules)
  list(POP_FRONT dimpleIncludeRules folder allowed)
  file(GLOB_RECURSE files RELATIVE "${ROOT}" "${ROOT}/${folder}/*.h" "${ROOT}/${folder}/*.cpp")
  # A folder within has a rule of its own.
  foreach(other IN LISTS dimpleRuleFolders)
    if(other MATCHES "^${folder}/")
      list(FILTER files EXCLUDE REGEX "^${other}/")
    endif()
  endforeach()
  foreach(file IN LISTS files)
    file(STRINGS "${ROOT}/${file}" lines REGEX "^[ \t]*#[ \t]*include[ \t]+\"")
    foreach(line IN LISTS lines)
      string(REGEX REPLACE "^[^\"]*\"([^\"]*)\".*" "\\1" header "${line}")
      if(header MATCHES "/" AND NOT header MATCHES "${allowed}")
        list(APPEND errors "${file} includes \"${header}\", which ${folder} may not depend on.")
      endif()
    endforeach()
    if(folder MATCHES "^backend_")
      file(STRINGS "${ROOT}/${file}" names REGEX "DML_OPERATOR_|_OPERATOR_DESC")
      if(names)
        list(APPEND errors "${file} names an operator; back ends know plans only.")
      endif()
    endif()
  endforeach()
endwhile()
if(errors)
  list(JOIN errors "\n  " errors)
  message(FATAL_ERROR "The dependency rule is broken:\n  ${errors}")
endif()
