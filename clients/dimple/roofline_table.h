// The rows of dimple bench --all: every operator, with typical tensors. A line of the table (roofline_cases.cpp) is
//
//   OPERATOR ... : TYPE ... : NAME=LARGE/SMALL ... : FIELDS
//
// and stands for each of the operators with each of the types in two sizes. FIELDS are those of a case line
// (core/schema/desc_text.h), in which $T stands for the type, $D for its name in the header, $W for its bytes (of types
// of 4 bits 1), $NAME for a size and $(...) for the value of an expression of sizes, numbers, +, -, *, / and
// parentheses. The small size serves latency. Without one there is the large one alone. LARGE is of FLOAT32: of a type
// half as wide the rows, R, are twice as many. --scale divides LARGE.
//
// Keys that begin with a lower-case letter are no fields:
//   note=WORD     what is special about the layout or the attributes
//   inN=RANGE     what input N holds instead of random numbers from -1 to 1, or of integers random bits:
//                 LOW:HIGH     random numbers, of integers whole ones, both ends included; several ranges, commas
//                              between, take turns
//                 order:COUNT  the numbers below COUNT, each once, in no order that a cache likes
//                 ramp:STEP    0, STEP, 2 STEP, ...
//   bytes=EXPR    what must be moved, if not each element that a tensor addresses once
//   passes=NUMBER how often that must be moved, as far as known algorithms go: no row fits a workgroup, or what is
//                 replaced is copied first
//   ops=EXPR      multiplications and additions of products
//   steps=EXPR    how many results each need the one before
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "core/data_type.h"
#include "core/schema/desc_copy.h"

namespace dimple::tool {

struct RooflineRow {
  std::string line;  // for dimple case
  std::string op;
  std::string note;
  bool small = false;
  DataType type = DML_TENSOR_DATA_TYPE_UNKNOWN;
  OwnedDesc desc;
  std::map<size_t, std::string> contents = {};  // by input
  uint64_t bytes = 0;
  double passes = 1;
  uint64_t operations = 0;
  uint64_t steps = 0;

  // "f32 [16384,4096]{4112,1} [1,4096]": the type and the layouts of the inputs, or of the output.
  std::string shape() const;
  std::string name() const;  // of all that tells it from others
};

// What --all measures, or the rows whose names contain `only`. Throws RunError where the table is wrong.
std::vector<RooflineRow> rooflineRows(uint64_t scale, std::string_view only);

// The lines of the table, a text for each family of operators.
const std::vector<std::string_view>& rooflineTable();

}  // namespace dimple::tool
