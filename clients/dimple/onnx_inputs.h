// What the command line gives an ONNX model.
#pragma once

#ifdef DIMPLE_WITH_ONNX

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "clients/onnx/model.h"
#include "clients/onnx/tensor.h"

namespace dimple::tool {

using OnnxInputs = std::map<std::string, onnx::HostTensor>;

// Reads a model, and says so if that takes long. Throws onnx::ModelError.
onnx::Model loadModel(const std::filesystem::path& file);

// All of these throw InputError.

// Refuses a name that is not known, with those that are: "--dim names "x", which is not an open dimension ...".
void checkName(const char* option, const char* what, const std::string& name, const std::vector<std::string>& known);
// NAME=PATH
std::map<std::string, std::string> readNamedPaths(const std::vector<std::string>& pairs, const char* option);
// NAME=NUMBER of dimensions that the model leaves open.
std::map<std::string, int64_t> readDimensions(const onnx::Model& model, const std::vector<std::string>& pairs);
// NAME=PATH of arrays and pictures.
OnnxInputs readInputs(const onnx::Model& model, const std::vector<std::string>& pairs,
                      const std::map<std::string, int64_t>& dimensions);
// Zeros for the inputs that are not given.
void addZeros(const onnx::Model& model, const std::map<std::string, int64_t>& dimensions, OnnxInputs& inputs);

}  // namespace dimple::tool

#endif
