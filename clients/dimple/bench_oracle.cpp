#include "clients/dimple/bench_oracle.h"

#include <algorithm>

#include "clients/dimple/model.h"
#include "core/text.h"
#include "tests/conformance/oracle/oracle.h"

namespace dimple::tool {

OracleVerdict askOracle(const OwnedDesc& desc, const std::vector<std::vector<std::byte>>& inputs,
                        const std::vector<std::vector<std::byte>>& outputs) {
  std::vector<oracle::Array> arrays;
  std::vector<const DML_BUFFER_TENSOR_DESC*> results;
  size_t next = 0;
  for (const BindPoint& point : bindPoints(desc))
    for (const auto* tensor : point.tensors) {
      if (point.role != Role::Input)
        results.push_back(tensor);
      else
        arrays.push_back(tensor ? oracle::read(*tensor, inputs.at(next++)) : oracle::Array());
    }
  const auto expected = oracle::evaluate(desc.desc(), arrays);
  OracleVerdict verdict;
  next = 0;
  for (size_t i = 0; i < results.size(); ++i) {
    if (!results[i]) continue;
    const auto comparison = oracle::compare(expected.at(i), oracle::read(*results[i], outputs.at(next++)));
    verdict.share = std::max(verdict.share, comparison.maxShare);
    if (!comparison.ok && verdict.failure.empty()) verdict.failure = comparison.message;
  }
  return verdict;
}

}  // namespace dimple::tool
