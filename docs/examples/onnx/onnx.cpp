// Runs an ONNX model on the first Vulkan device, every input full of ones, and prints the first elements of its
// outputs. clients/onnx is the library for that; `dimple run model.onnx` does more.
#include <algorithm>
#include <cstdio>
#include <exception>

#include "clients/onnx/reader.h"
#include "clients/onnx/session.h"

using namespace dimple::onnx;

int main(int count, char** arguments) {
  if (count != 2) return std::printf("onnx MODEL\n"), 2;
  try {
    ComPtr<IDimpleContext> context;
    if (FAILED(dimpleCreateContext(nullptr, IID_PPV_ARGS(&context))))
      return std::printf("%s\n", dimpleGetLastMessage()), 1;

    const Model model = readModel(arguments[1]);
    std::map<std::string, HostTensor> inputs;
    for (const ModelInput& input : model.inputs()) {
      Sizes sizes;  // dimensions that the model leaves open are 1
      for (const Dimension& dimension : input.dimensions.value_or(std::vector<Dimension>()))
        sizes.push_back(std::max<int64_t>(dimension.size, 1));
      HostTensor& tensor = inputs[input.name] = HostTensor(input.type, sizes);
      for (size_t i = 0; i < static_cast<size_t>(tensor.elements()); ++i) tensor.setReal(i, 1);
    }

    // The first run compiles one DirectML graph and gives it the weights; runs with inputs of the same sizes reuse it.
    Session session(*context.Get(), model);
    for (const auto& [name, tensor] : session.run(inputs)) {
      std::printf("%s:", name.c_str());
      for (size_t i = 0; i < std::min<size_t>(static_cast<size_t>(tensor.elements()), 8); ++i)
        std::printf(" %g", tensor.real(i));
      std::printf("\n");
    }
    return 0;
  } catch (const std::exception& error) {  // a model that is wrong or needs what is not mapped: all of it, in sentences
    return std::printf("%s\n", error.what()), 1;
  }
}
