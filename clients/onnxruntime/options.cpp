#include "clients/onnxruntime/options.h"

#include <algorithm>
#include <charconv>
#include <string_view>

#include "clients/onnx/text.h"
#include "clients/onnxruntime/device.h"

namespace dimple::ort {

using onnx::cat;

namespace {

// ONNX Runtime writes the provider's name in small letters.
constexpr std::string_view kPrefix = "ep.dimpleexecutionprovider.";
// Asks for a model that holds what providers have compiled.
constexpr std::string_view kContextOption = "ep.context_enable";
constexpr std::string_view kNoFallback = "session.disable_cpu_ep_fallback";

bool setPrecision(Options& options, const std::string& value) {
  options.halfPrecision = value == "float16";
  return value == "float32" || value == "float16";
}

bool setProgramBytes(Options& options, const std::string& value) {
  const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), options.programBytes);
  return error == std::errc() && end == value.data() + value.size();
}

struct OptionRow {
  std::string_view name;
  // False: `value` is none of `values`.
  bool (*set)(Options& options, const std::string& value);
  std::string_view values;
};

constexpr OptionRow kRows[] = {
    {"device",
     [](Options& options, const std::string& value) {
       options.device = value;
       return !value.empty();
     },
     "an index, a UUID or a part of a name"},
    {"precision", setPrecision, "float32 or float16"},
    {"pipeline_cache",
     [](Options& options, const std::string& value) {
       options.pipelineCache = value == "none" ? "" : value;
       return !value.empty();
     },
     "a path or none"},
    {"program_bytes", setProgramBytes, "a number of bytes"},
    {"trace",
     [](Options& options, const std::string& value) {
       options.trace = value;
       return !value.empty();
     },
     "a path"},
};

std::string names() {
  std::string all;
  for (const OptionRow& row : kRows) all += cat(all.empty() ? "" : ", ", row.name);
  return all;
}

}  // namespace

Options readOptions(const OrtSessionOptions& sessionOptions) {
  const OrtApi& api = *runtime().api;
  OrtKeyValuePairs* pairs = nullptr;
  check(api.GetSessionOptionsConfigEntries(&sessionOptions, &pairs));
  const Pairs owner(pairs, api.ReleaseKeyValuePairs);
  const char* const* keys = nullptr;
  const char* const* values = nullptr;
  size_t count = 0;
  api.GetKeyValuePairs(pairs, &keys, &values, &count);
  Options options;
  options.pipelineCache = Adapter::defaultPipelineCache();
  for (size_t i = 0; i < count; ++i) {
    std::string_view key = keys[i];
    if (key == kContextOption && values[i] != std::string_view("0"))
      throw StatusError(ORT_NOT_IMPLEMENTED,
                        cat("Dimple's execution provider does not make EPContext models, expected ", key, " of 0."));
    if (key == kNoFallback) options.isFallbackAllowed = std::string_view(values[i]) != "1";
    if (!key.starts_with(kPrefix)) continue;
    key.remove_prefix(kPrefix.size());
    const auto row = std::ranges::find(kRows, key, &OptionRow::name);
    if (row == std::end(kRows))
      throw StatusError(ORT_INVALID_ARGUMENT,
                        cat("Dimple's execution provider has no option \"", key, "\", expected one of ", names(), "."));
    if (!row->set(options, values[i]))
      throw StatusError(ORT_INVALID_ARGUMENT,
                        cat("Dimple's option ", row->name, " is \"", values[i], "\", expected ", row->values, "."));
  }
  return options;
}

}  // namespace dimple::ort
