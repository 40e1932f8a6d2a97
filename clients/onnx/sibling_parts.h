// What products of the same rows that become one have in common, whatever their weights are.
#pragma once

#include <string>
#include <vector>

#include "clients/onnx/control_flow.h"

namespace dimple::onnx {

// Devices bind parts of a tensor at multiples of this many bytes, or of less; parts that begin elsewhere are copied.
inline constexpr int64_t kSiblingPartBytes = 64;
// Of joined weights, which a device has to bind at once.
inline constexpr int64_t kMostSiblingBytes = int64_t{1} << 30;

// The columns of a joined result that are what was a result of its own.
struct SiblingPart {
  std::string name;
  int64_t columns = 0;
};

// A Split of `whole` into parts, which reads the columns of each from an initializer that is added.
Node splitOfSiblings(const std::vector<SiblingPart>& parts, const std::string& whole, Initializers& initializers);

// How many nodes read each tensor; that it is an output counts as another.
std::map<std::string, size_t> readersOf(const std::vector<Node>& nodes, const std::vector<std::string>& outputs);

}  // namespace dimple::onnx
