// The execution provider of a session.
#pragma once

#include "clients/onnxruntime/compute.h"
#include "clients/onnxruntime/options.h"
#include "clients/onnxruntime/trace.h"

namespace dimple::ort {

inline constexpr const char* kProviderName = "DimpleExecutionProvider";

struct Provider : OrtEp {
  Provider(const Adapters& adapters, Adapter& adapter, const Options& options);

  const Adapters& adapters;
  Device& device;
  const Options options;
  std::unique_ptr<TraceFile> trace;
};

}  // namespace dimple::ort
