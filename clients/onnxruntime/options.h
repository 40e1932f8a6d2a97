// What a session may choose.
#pragma once

#include <string>

#include "clients/onnxruntime/runtime.h"

namespace dimple::ort {

struct Options {
  std::string device;          // index, name or UUID; empty: the one that was given
  bool halfPrecision = false;  // FLOAT32 operands may be rounded to FLOAT16
  std::string pipelineCache;   // the file; empty: none
  std::string trace;           // the file; empty: none
  uint64_t programBytes = uint64_t{1} << 30;
  bool isFallbackAllowed = true;  // to ONNX Runtime's CPU provider; an option of the session
};

// Those of the session's options that are this provider's: "ep.dimpleexecutionprovider.NAME". Throws StatusError with
// the names or values that there are.
Options readOptions(const OrtSessionOptions& sessionOptions);

}  // namespace dimple::ort
