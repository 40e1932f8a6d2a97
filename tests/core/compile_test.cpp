// What compiling gives besides a plan. No device is involved.
#include <doctest/doctest.h>

#include "core/compile.h"
#include "core/schema/desc_text.h"
#include "tests/core/descriptions.h"

using namespace dimple;
using namespace dimple::testing;

TEST_CASE("slots have the names of the operator's tensors") {
  static_assert(sizeof(BindingSlot) <= 16, "graphs have many");
  Caps caps;
  caps.features = ~uint32_t{0};
  size_t elements = 0;
  for (const std::string& line : writtenDescriptions()) {
    CAPTURE(line);
    const auto parsed = parseCase(line);
    REQUIRE(parsed);
    const auto op = Operation::parse(parsed->desc.desc());
    REQUIRE(op);
    const auto compiled = compileOperator(*op, {caps});
    REQUIRE(compiled);
    for (size_t i = 0; i < op->inputs().size(); ++i) CHECK(compiled->slotName(Role::Input, i) == op->inputName(i));
    for (size_t i = 0; i < op->outputs().size(); ++i) CHECK(compiled->slotName(Role::Output, i) == op->outputName(i));
    elements += compiled->slotName(Role::Input, 0).ends_with(']') + compiled->slotName(Role::Output, 0).ends_with(']');
  }
  CHECK(elements >= 2);
}
