// Runs a decoder of words in an unmodified onnxruntime.dll: a prompt, then words one by one, each of them the likeliest
// behind the last. On the DirectML provider the cache stays in memory of the device, where past and present are the
// same; the CPU provider gets as its past what it gave as present. The logits of all runs are compared.
//
//   onnx_runtime_language.exe FOLDER     that `write_models --language` writes
//
// It ends with 1 if they differ.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <numeric>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/text.h"
#include "tests/onnx_runtime/device_memory.h"
#include "tests/onnx_runtime/runtime.h"

namespace dimple::testing {
namespace {

constexpr size_t kPrompt = 8;
constexpr size_t kSteps = 32;
constexpr double kTolerance = 5e-2;  // of a logit, and as a part of it

// A past, the present that continues it, and their sizes.
struct Cache {
  std::string past, present;
  std::vector<int64_t> sizes;

  size_t elements() const {
    return static_cast<size_t>(std::accumulate(sizes.begin(), sizes.end(), int64_t{1}, std::multiplies<>()));
  }
};

std::vector<Cache> cachesOf(const Ort::Session& session) {
  constexpr std::string_view kPast = "past_key_values.", kPresent = "present.";
  std::vector<Cache> caches;
  const Ort::AllocatorWithDefaultOptions allocator;
  for (size_t i = 0; i < session.GetInputCount(); ++i) {
    const std::string name = session.GetInputNameAllocated(i, allocator).get();
    if (!name.starts_with(kPast)) continue;
    const auto info = session.GetInputTypeInfo(i);
    caches.push_back({name, cat(kPresent, name.substr(kPast.size())), info.GetTensorTypeAndShapeInfo().GetShape()});
  }
  if (caches.empty()) throw std::runtime_error("The model has no cache.");
  return caches;
}

// The inputs of a run for words behind `past` others, but for the past.
class Words {
 public:
  Words(std::vector<int64_t> words, size_t past)
      : words_(std::move(words)),
        positions_(words_.size()),
        last_(static_cast<int32_t>(past + words_.size() - 1)),
        total_(last_ + 1) {
    std::iota(positions_.begin(), positions_.end(), static_cast<int64_t>(past));
  }

  void bind(Ort::IoBinding& binding) {
    const auto memory = Ort::MemoryInfo::CreateCpu(OrtDeviceAllocator, OrtMemTypeCPU);
    const int64_t row[] = {1, static_cast<int64_t>(words_.size())};
    const int64_t one[] = {1};
    binding.BindInput("input_ids", Ort::Value::CreateTensor<int64_t>(memory, words_.data(), words_.size(), row, 2));
    binding.BindInput("position_ids",
                      Ort::Value::CreateTensor<int64_t>(memory, positions_.data(), positions_.size(), row, 2));
    binding.BindInput("seqlens_k", Ort::Value::CreateTensor<int32_t>(memory, &last_, 1, one, 1));
    binding.BindInput("total_sequence_length", Ort::Value::CreateTensor<int32_t>(memory, &total_, 1, nullptr, 0));
  }

 private:
  std::vector<int64_t> words_, positions_;
  int32_t last_, total_;
};

// What bound "logits" first.
Halves logitsOf(const Ort::IoBinding& binding) {
  const auto results = binding.GetOutputValues();
  const auto* halves = static_cast<const uint16_t*>(results[0].GetTensorRawData());
  return {halves, halves + results[0].GetTensorTypeAndShapeInfo().GetElementCount()};
}

// Behind the last of `count` words.
int64_t likeliest(const Halves& logits, size_t count) {
  const size_t words = logits.size() / count;
  const auto numbers = [](uint16_t a, uint16_t b) { return numberOf(a) < numberOf(b); };
  return std::max_element(logits.end() - static_cast<std::ptrdiff_t>(words), logits.end(), numbers) -
         (logits.end() - static_cast<std::ptrdiff_t>(words));
}

// The CPU provider, whose pasts are those of the host.
class Expected {
 public:
  Expected(Ort::Env& env, const std::filesystem::path& model) : session_(env, model.c_str(), Ort::SessionOptions()) {
    for (const Cache& cache : cachesOf(session_)) {
      Ort::Value past = Ort::Value::CreateTensor(allocator_, cache.sizes.data(), cache.sizes.size(),
                                                 ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT16);
      std::fill_n(static_cast<uint16_t*>(past.GetTensorMutableRawData()), cache.elements(), uint16_t{0});
      pasts_.emplace_back(cache, std::move(past));
    }
  }

  Halves run(Words& words) {
    const auto memory = Ort::MemoryInfo::CreateCpu(OrtDeviceAllocator, OrtMemTypeCPU);
    Ort::IoBinding binding(session_);
    words.bind(binding);
    binding.BindOutput("logits", memory);
    for (const auto& [cache, past] : pasts_) {
      binding.BindInput(cache.past.c_str(), past);
      binding.BindOutput(cache.present.c_str(), memory);
    }
    session_.Run(Ort::RunOptions{nullptr}, binding);
    Halves logits = logitsOf(binding);
    auto results = binding.GetOutputValues();
    for (size_t i = 0; i < pasts_.size(); ++i) pasts_[i].second = std::move(results[i + 1]);
    return logits;
  }

 private:
  Ort::AllocatorWithDefaultOptions allocator_;
  Ort::Session session_;
  std::vector<std::pair<Cache, Ort::Value>> pasts_;
};

// The DirectML provider, whose pasts are presents, too.
class Generator {
 public:
  Generator(Device& device, Ort::Env& env, const std::filesystem::path& model, bool graphs)
      : session_(env, model.c_str(), optionsOf(device, graphs)), caches_(cachesOf(session_)) {
    for (const Cache& cache : caches_) {
      const Halves zeros(cache.elements());
      buffers_.push_back(std::make_unique<Buffer>(device, zeros.size() * 2));
      buffers_.back()->write(zeros.data());
      tensors_.push_back(std::make_unique<Tensor>(*dmlApi(), *buffers_.back(), cache.sizes, zeros.size() * 2));
    }
  }

  Halves run(Words& words) {
    Ort::IoBinding binding(session_);
    words.bind(binding);
    binding.BindOutput("logits", Ort::MemoryInfo::CreateCpu(OrtDeviceAllocator, OrtMemTypeCPU));
    for (size_t i = 0; i < caches_.size(); ++i) {
      binding.BindInput(caches_[i].past.c_str(), tensors_[i]->value);
      binding.BindOutput(caches_[i].present.c_str(), tensors_[i]->value);
    }
    session_.Run(Ort::RunOptions{nullptr}, binding);
    binding.SynchronizeOutputs();
    return logitsOf(binding);
  }

 private:
  Ort::Session session_;
  std::vector<Cache> caches_;
  std::vector<std::unique_ptr<Buffer>> buffers_;
  std::vector<std::unique_ptr<Tensor>> tensors_;
};

// The largest difference of two runs' logits, in units of what is tolerated.
double differenceOf(const Halves& logits, const Halves& expected) {
  if (logits.size() != expected.size()) throw std::runtime_error("The logits have another size.");
  double most = 0;
  for (size_t i = 0; i < logits.size(); ++i) {
    const double number = numberOf(expected[i]);
    const double share = std::fabs(numberOf(logits[i]) - number) / (kTolerance * (1 + std::fabs(number)));
    most = share <= most ? most : share;
  }
  return most;
}

bool generate(Device& device, Ort::Env& env, const std::filesystem::path& model, bool graphs) {
  Expected expected(env, model);
  Generator generator(device, env, model, graphs);
  std::vector<int64_t> words;
  for (size_t i = 0; i < kPrompt; ++i) words.push_back(static_cast<int64_t>((i * i * 7 + 11 * i + 3) % 90));
  double most = 0;
  size_t past = 0;
  std::string text;
  for (size_t step = 0; step <= kSteps; ++step) {
    Words given(words, past);
    const Halves wanted = expected.run(given);
    const double difference = differenceOf(generator.run(given), wanted);
    most = difference <= most ? most : difference;
    past += words.size();
    words = {likeliest(wanted, words.size())};
    text += cat(" ", words[0]);
  }
  const bool good = most <= 1;
  std::printf("%s %s: a prompt of %zu words and %zu more; the logits differ by %.1e of what is tolerated\n  words%s\n",
              good ? "good" : "BAD ", graphs ? "graphs" : "operators", kPrompt, kSteps, most, text.c_str());
  std::fflush(stdout);
  return good;
}

int runLanguage(const std::filesystem::path& folder) {
  const HMODULE directml = loadRuntime();
  Device device(directml);
  Ort::Env env(ORT_LOGGING_LEVEL_ERROR, "language");
  bool good = true;
  for (const bool graphs : {true, false}) good &= generate(device, env, folder / "model.onnx", graphs);
  return good ? 0 : 1;
}

}  // namespace
}  // namespace dimple::testing

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: onnx_runtime_language FOLDER\n");
    return 2;
  }
  try {
    return dimple::testing::runLanguage(argv[1]);
  } catch (const std::exception& error) {
    std::printf("%s\n", error.what());
    return 1;
  }
}
