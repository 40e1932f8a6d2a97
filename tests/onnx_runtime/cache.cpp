// Runs GroupQueryAttention of FLOAT16 in an unmodified onnxruntime.dll on its DirectML provider, as generators of text
// do: past and present are the same memory on the device. After a prompt and after each of some steps it compares the
// results, and all of the cache, with what they should be.
//
//   onnx_runtime_cache.exe FOLDER     of models that `write_models --cache` writes
//
// It ends with 1 if anything differs.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "core/schema/element_text.h"
#include "core/text.h"
#include "tests/conformance/random.h"
#include "tests/onnx_runtime/cache_model.h"
#include "tests/onnx_runtime/device_memory.h"
#include "tests/onnx_runtime/runtime.h"

namespace dimple::testing {
namespace {

namespace shape = cache_model;

constexpr double kTolerance = 2e-3;

Halves drawn(Random& random, size_t count) {
  Halves halves(count);
  for (uint16_t& half : halves) half = static_cast<uint16_t>(halfBits(4 * random.unit() - 2));
  return halves;
}

// What attention of queries behind `past` positions answers, when the cache holds their keys and values.
std::vector<double> expectedOf(const Halves& queries, const Halves& keys, const Halves& values, size_t past) {
  const size_t count = queries.size() / (shape::kHeads * shape::kChannels);
  std::vector<double> expected;
  expected.reserve(queries.size());
  for (size_t s = 0; s < count; ++s)
    for (size_t h = 0; h < shape::kHeads; ++h) {
      const size_t first = h / (shape::kHeads / shape::kKeyHeads) * shape::kCapacity * shape::kChannels;
      std::vector<double> weights(past + s + 1);
      double sum = 0;
      for (size_t l = 0; l < weights.size(); ++l) {
        for (size_t c = 0; c < shape::kChannels; ++c)
          weights[l] += numberOf(queries[(s * shape::kHeads + h) * shape::kChannels + c]) *
                        numberOf(keys[first + l * shape::kChannels + c]);
        sum += weights[l] = std::exp(weights[l] / std::sqrt(double{shape::kChannels}));
      }
      for (size_t c = 0; c < shape::kChannels; ++c) {
        double mixed = 0;
        for (size_t l = 0; l < weights.size(); ++l)
          mixed += weights[l] / sum * numberOf(values[first + l * shape::kChannels + c]);
        expected.push_back(mixed);
      }
    }
  return expected;
}

class Generator {
 public:
  Generator(HMODULE directml, const std::filesystem::path& folder)
      : device_(directml), env_(ORT_LOGGING_LEVEL_ERROR, "cache"), folder_(folder) {
    for (Buffer* buffer : {&keyBuffer_, &valueBuffer_}) {
      Halves& held = buffer == &keyBuffer_ ? keys_ : values_;
      held = drawn(random_, held.size());  // also where nothing is stored yet
      buffer->write(held.data());
    }
  }

  // Executes one model with so many new positions. Whether all is as it should be.
  bool run(const char* model, bool graphs, size_t past, size_t count) {
    const DmlApi& api = *dmlApi();
    Ort::Session session(env_, (folder_ / model / "model.onnx").c_str(), optionsOf(device_, graphs));

    const Halves queries = drawn(random_, count * shape::kHeads * shape::kChannels);
    const Halves newKeys = drawn(random_, count * shape::kKeyHeads * shape::kChannels);
    const Halves newValues = drawn(random_, newKeys.size());
    append(keys_, newKeys, past);
    append(values_, newValues, past);
    const auto memory = Ort::MemoryInfo::CreateCpu(OrtDeviceAllocator, OrtMemTypeCPU);
    const auto given = [&](const Halves& halves, size_t heads) {
      const int64_t sizes[] = {1, static_cast<int64_t>(count), static_cast<int64_t>(heads * shape::kChannels)};
      return Ort::Value::CreateTensor(memory, const_cast<uint16_t*>(halves.data()), halves.size() * 2, sizes, 3,
                                      ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT16);
    };
    int32_t length = static_cast<int32_t>(past + count - 1);
    const int64_t one[] = {1};
    const std::vector<int64_t> cache{1, shape::kKeyHeads, shape::kCapacity, shape::kChannels};
    Tensor key(api, keyBuffer_, cache, keys_.size() * 2), value(api, valueBuffer_, cache, values_.size() * 2);
    Ort::IoBinding binding(session);
    binding.BindInput("query", given(queries, shape::kHeads));
    binding.BindInput("key", given(newKeys, shape::kKeyHeads));
    binding.BindInput("value", given(newValues, shape::kKeyHeads));
    binding.BindInput("seqlens_k", Ort::Value::CreateTensor<int32_t>(memory, &length, 1, one, 1));
    binding.BindInput("past_key", key.value);
    binding.BindInput("past_value", value.value);
    binding.BindOutput("output", memory);
    binding.BindOutput("present_key", key.value);
    binding.BindOutput("present_value", value.value);
    session.Run(Ort::RunOptions{nullptr}, binding);
    binding.SynchronizeOutputs();
    const auto results = binding.GetOutputValues();
    const auto* output = static_cast<const uint16_t*>(results[0].GetTensorRawData());
    return compare(cat(model, graphs ? ", graph" : ", operators"), {output, queries.size()}, queries, past, count);
  }

 private:
  // [1, position, head, channel] to [1, head, position, channel].
  static void append(Halves& cache, const Halves& added, size_t past) {
    for (size_t i = 0; i < added.size(); ++i) {
      const size_t c = i % shape::kChannels, h = i / shape::kChannels % shape::kKeyHeads;
      const size_t s = i / shape::kChannels / shape::kKeyHeads;
      cache[(h * shape::kCapacity + past + s) * shape::kChannels + c] = added[i];
    }
  }

  bool compare(const std::string& name, std::span<const uint16_t> output, const Halves& queries, size_t past,
               size_t count) {
    const std::vector<double> expected = expectedOf(queries, keys_, values_, past);
    double most = 0;
    for (size_t i = 0; i < expected.size(); ++i) {
      const double difference = std::fabs(numberOf(output[i]) - expected[i]);
      most = difference <= most ? most : difference;
    }
    Halves keys(keys_.size()), values(values_.size());
    keyBuffer_.read(keys.data());
    valueBuffer_.read(values.data());
    size_t other = 0;
    for (size_t i = 0; i < keys.size(); ++i) other += (keys[i] != keys_[i]) + (values[i] != values_[i]);
    const bool good = most <= kTolerance && other == 0;
    std::printf("%s %s: %zu behind %zu; difference %.1e, %zu of %zu elements of the cache are not as they should be\n",
                good ? "good" : "BAD ", name.c_str(), count, past, most, other, 2 * keys.size());
    std::fflush(stdout);
    // So that each execution is judged by itself.
    keyBuffer_.write(keys_.data());
    valueBuffer_.write(values_.data());
    return good;
  }

  Device device_;
  Ort::Env env_;
  std::filesystem::path folder_;
  Random random_{1};
  Halves keys_ = Halves(shape::kElements), values_ = Halves(shape::kElements);
  Buffer keyBuffer_{device_, shape::kElements * 2}, valueBuffer_{device_, shape::kElements * 2};
};

int runCache(const std::filesystem::path& folder) {
  const HMODULE directml = loadRuntime();
  bool good = true;
  for (const bool graphs : {true, false}) {
    Generator generator(directml, folder);
    good &= generator.run("prompt", graphs, 0, shape::kPrompt);
    good &= generator.run("step", graphs, shape::kPrompt, 1);
    good &= generator.run("step", graphs, shape::kPrompt + 1, 1);
    good &= generator.run("step", graphs, shape::kCapacity - 1, 1);
  }
  return good ? 0 : 1;
}

}  // namespace
}  // namespace dimple::testing

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: onnx_runtime_cache FOLDER\n");
    return 2;
  }
  try {
    return dimple::testing::runCache(argv[1]);
  } catch (const std::exception& error) {
    std::printf("%s\n", error.what());
    return 1;
  }
}
