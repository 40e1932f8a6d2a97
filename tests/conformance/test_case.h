// A case line (core/desc_text.h) with what the operator tests add to it:
//
//   seed=N             what the fills are made of (0)
//   fill=KIND          int: small integers, of which every algorithm makes exact results; float: mixed magnitudes, and
//                      for integer types mixed widths; special: infinities, NaN, zeros, denormals, limits of the type,
//                      crossed between the inputs. Index tensors get valid indices, some negative where the type has a
//                      sign.
//   indices=wild       some indices lie outside
//   input0=[1,nan,-0]  elements of input 0 in row-major order, repeated as needed, instead of a fill
//   expect0=[2,inf]    what output 0 must be; the oracle has to agree
//   inplace=0          the output lies in the memory of input 0
//   half=allowed       the operator is compiled with DML_EXECUTION_FLAG_ALLOW_HALF_PRECISION_COMPUTATION; the oracle
//                      knows nothing of it, so that fills should be such as FLOAT16 holds
//   expect=refused     CreateOperator must refuse the description
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "core/schema/desc_text.h"

namespace dimple::testing {

enum class FillKind : uint8_t { Int, Float, Special };

struct TestCase {
  std::string line;
  OwnedDesc desc;
  // In binding order; null: an optional tensor that is absent.
  std::vector<const DML_BUFFER_TENSOR_DESC*> inputs = {}, outputs = {};
  std::vector<std::string> outputNames = {};
  uint64_t seed = 0;
  FillKind fill = FillKind::Int;
  bool wildIndices = false;
  std::map<size_t, std::string> givenInputs = {}, givenOutputs = {};  // bracketed lists
  bool inPlace = false;
  bool halfPrecision = false;
  bool refused = false;

  DML_OPERATOR_TYPE type() const { return desc.schema().type; }
  // The description as the structure of its operator.
  template <class Desc>
  const Desc& as() const {
    return *static_cast<const Desc*>(desc.desc().Desc);
  }
};

Result<TestCase> parseTestCase(std::string_view line);

// The lines of a case file without blank lines and comments (lines that begin with #, and all from " #" on). Error if
// it cannot be read.
Result<std::vector<std::string>> readCaseFile(const std::string& path);

}  // namespace dimple::testing
