// What a session may choose: a table of options.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "clients/onnxruntime/runtime.h"

namespace dimple::ort {

struct Options {
  std::string device;          // index, name or UUID; empty: the one that was given
  bool halfPrecision = false;  // FLOAT32 operands may be rounded to FLOAT16
  std::string pipelineCache;   // the file; empty: none
  uint64_t programBytes = uint64_t{1} << 30;
};

struct OptionRow {
  std::string_view name;
  std::string_view sentence;  // what it does
  // False: `value` is none of those that the sentence says.
  bool (*set)(Options& options, const std::string& value);
  std::string_view values;
};

std::span<const OptionRow> optionRows();

// Those of the session's options that are this provider's: "ep.dimpleexecutionprovider.NAME". Throws StatusError with
// the names or values that there are.
Options readOptions(const OrtSessionOptions& sessionOptions);

}  // namespace dimple::ort
