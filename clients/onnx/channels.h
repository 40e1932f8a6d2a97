// What follows a convolution and is done to each of its channels.
#pragma once

#include "clients/onnx/control_flow.h"

namespace dimple::onnx {

// Factors, sums and normalizations of each channel go into the weights and the bias of the convolution before them, if
// all of that is constant: as nodes that read constants alone. `nodes` are in an order in which they can run; `outputs`
// are read by others. (DirectML's graphs do the same, but only for tensors that DML owns.)
void foldChannels(std::vector<Node>& nodes, Initializers& initializers, const std::vector<std::string>& outputs);

}  // namespace dimple::onnx
