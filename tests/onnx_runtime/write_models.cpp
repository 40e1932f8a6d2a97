// Writes models and their inputs into folders for other programs: FOLDER/NAME/model.onnx and an array INPUT.npy for
// each input.
//
//   write_models FOLDER [OCR]
//   write_models --operators FOLDER
//   write_models --cache FOLDER
//   write_models --language FOLDER
//
// The networks of tests/onnx, with one picture (or pair of texts) and 16, in FLOAT32 and FLOAT16, and with the folder
// that `tools/setup.sh --ocr` makes its models, with what they are given when they read its photograph. With
// --operators the standard's tests of operators. With --cache two models of one GroupQueryAttention, for
// onnx_runtime_cache. With --language a decoder of words, for onnx_runtime_language.
#include <array>
#include <cstdio>
#include <filesystem>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <dimple.h>
#include <wrl/client.h>

#include "clients/files/image.h"
#include "clients/files/npy.h"
#include "clients/ocr/reader.h"
#include "clients/onnx/failure.h"
#include "clients/onnx/reader.h"
#include "clients/onnx/session.h"
#include "clients/onnx/text.h"
#include "tests/driver.h"
#include "tests/onnx/language_model.h"
#include "tests/onnx/networks.h"
#include "tests/onnx/standard_tests.h"
#include "tests/onnx_runtime/cache_model.h"

namespace dimple::testing {
namespace {

using ocr::Part;
using onnx::cat;
using onnx::HostTensor;
namespace fs = std::filesystem;

void writeInput(const fs::path& folder, const std::string& name, const HostTensor& tensor) {
  const std::vector<uint32_t> sizes(tensor.sizes.begin(), tensor.sizes.end());
  const DataType type = tensor.type == onnx::Type::Double ? DML_TENSOR_DATA_TYPE_FLOAT64 : traits(tensor.type).device;
  tool::writeNpy(folder / (name + ".npy"), type, sizes, tensor.bytes);
}

void writeNetwork(const fs::path& folder, const Network& network) {
  const std::string bytes = network.model.bytes();
  tool::writeFile(folder / "model.onnx", std::as_bytes(std::span(bytes)));
  for (const auto& [name, tensor] : network.inputs) writeInput(folder, name, tensor);
}

// Of several lines of text the first: the others would take as long each.
HostTensor firstOf(HostTensor lines) {
  lines.bytes.resize(lines.bytes.size() / static_cast<size_t>(lines.sizes[0]));
  lines.sizes[0] = 1;
  return lines;
}

struct AllRecorded {};

// The models of a reader, each with what it is given first.
void writeReader(const fs::path& folder, const fs::path& ocr) {
  struct Recorded {
    const char* name;
    const char* file;
  };
  const std::map<Part, Recorded> parts{{Part::Detection, {"ocr_det", "ch_PP-OCRv4_det_infer.onnx"}},
                                       {Part::Angle, {"ocr_cls", "ch_ppocr_mobile_v2.0_cls_infer.onnx"}},
                                       {Part::Recognition, {"ocr_rec", "ch_PP-OCRv4_rec_infer.onnx"}}};
  Microsoft::WRL::ComPtr<IDimpleContext> context;
  if (FAILED(dimpleCreateContext(nullptr, IID_PPV_ARGS(&context)))) throw std::runtime_error(dimpleGetLastMessage());
  const auto run = [&](Part part, const HostTensor& input) {
    const Recorded& recorded = parts.at(part);
    const onnx::Model model = onnx::readModel(ocr / recorded.file);
    const std::string& name = model.inputs()[0].name;
    writeInput(folder / recorded.name, name, firstOf(input));
    fs::copy_file(ocr / recorded.file, folder / recorded.name / "model.onnx", fs::copy_options::overwrite_existing);
    if (part == Part::Recognition) throw AllRecorded();
    return onnx::Session(*context.Get(), model).run({{name, input}})[0].tensor;
  };
  const auto page = tool::readImage(ocr / "page.png", 3);
  try {
    ocr::readText({page.width, page.height, page.pixels}, ocr::Dictionary::load(ocr / "ppocr_keys_v1.txt"), run);
  } catch (const AllRecorded&) {
    return;
  }
  throw std::runtime_error("The photograph has no text to recognize.");
}

int writeOperators(const fs::path& folder) {
  fs::remove_all(folder);
  int written = 0;
  for (const fs::path& test : standardTests()) {
    try {
      const StandardTest read = readStandardTest(test);
      const fs::path own = folder / read.name;
      for (const auto& [name, tensor] : read.inputs) writeInput(own, name, tensor);
      fs::create_directories(own);
      fs::copy_file(test / "model.onnx", own / "model.onnx");
      ++written;
    } catch (const onnx::ModelError&) {
      // Values that are no tensors.
    }
  }
  std::printf("%d models\n", written);
  return written == 0;
}

// Of so many new positions.
void writeAttention(const fs::path& folder, int64_t positions) {
  using onnx::Type;
  namespace shape = cache_model;
  ModelMaker maker;
  auto& operators = *maker.proto().add_opset_import();
  operators.set_domain("com.microsoft");
  operators.set_version(1);
  const std::vector<int64_t> cache{1, shape::kKeyHeads, shape::kCapacity, shape::kChannels};
  maker.input("query", Type::Float16, {1, positions, shape::kHeads * shape::kChannels});
  for (const char* name : {"key", "value"})
    maker.input(name, Type::Float16, {1, positions, shape::kKeyHeads * shape::kChannels});
  for (const char* name : {"past_key", "past_value"}) maker.input(name, Type::Float16, cache);
  maker.input("seqlens_k", Type::Int32, {1});
  maker.initializer("total_sequence_length", onnx::integerTensor(Type::Int32, std::array{shape::kCapacity}));
  const std::vector<std::string> outputs{"output", "present_key", "present_value"};
  auto& node =
      maker.node("GroupQueryAttention",
                 {"query", "key", "value", "past_key", "past_value", "seqlens_k", "total_sequence_length"}, outputs);
  node.set_domain("com.microsoft");
  setAttribute(node, "num_heads", shape::kHeads);
  setAttribute(node, "kv_num_heads", shape::kKeyHeads);
  for (const std::string& name : outputs) maker.output(name);
  const std::string bytes = maker.bytes();
  tool::writeFile(folder / "model.onnx", std::as_bytes(std::span(bytes)));
}

int writeCache(const fs::path& folder) {
  fs::remove_all(folder);
  for (const auto& [name, positions] : {std::pair{"prompt", cache_model::kPrompt}, {"step", int64_t{1}}}) {
    fs::create_directories(folder / name);
    writeAttention(folder / name, positions);
  }
  return 0;
}

int writeLanguage(const fs::path& folder) {
  fs::remove_all(folder);
  LanguageSizes sizes;
  sizes.type = onnx::Type::Float16;
  sizes.rotatesApart = true;
  const std::string bytes = languageModel(sizes).bytes();
  tool::writeFile(folder / "model.onnx", std::as_bytes(std::span(bytes)));
  return 0;
}

// A prompt, and a cache without words.
Network languageNetwork(const LanguageSizes& sizes) {
  Network network{languageModel(sizes), languageInputs(sizes, promptOf(sizes, 8), 0)};
  for (const auto& [past, present] : cachesOf(sizes)) network.inputs[past] = HostTensor(sizes.type, sizes.cache());
  return network;
}

int writeModels(const fs::path& folder, const char* ocr) {
  fs::remove_all(folder);
  for (const int64_t batch : {1, 16})
    for (const onnx::Type type : {onnx::Type::Float, onnx::Type::Float16}) {
      std::string kind = type == onnx::Type::Float ? "" : "_float16";
      if (batch > 1) kind += cat("_batch", batch);
      writeNetwork(folder / ("squeezenet" + kind), squeezeNet({1, 224, batch, type}));
      writeNetwork(folder / ("mobilenet" + kind), mobileNet({1, 224, batch, type}));
      writeNetwork(folder / ("resnet50" + kind), resNet({1, 224, batch, type}));
      writeNetwork(folder / ("transformer" + kind), transformer({1, 128, batch, type}));
      writeNetwork(folder / ("decoder" + kind), decoder({1, 8, batch, type}));
      writeNetwork(folder / ("decoder_step" + kind), decoder({1, 1, batch, type}));
      if (batch == 1) writeNetwork(folder / ("encoder" + kind), transformer({1, 128, batch, type, 6}));
      LanguageSizes sizes;
      sizes.batch = batch;
      sizes.type = type;
      writeNetwork(folder / ("language" + kind), languageNetwork(sizes));
    }
  if (ocr) writeReader(folder, ocr);
  return 0;
}

}  // namespace
}  // namespace dimple::testing

int main(int argc, char** argv) {
  if (argc < 2 || argc > 3) {
    std::fprintf(stderr, "usage: write_models FOLDER [OCR]\n");
    return 2;
  }
  // Without run.sh, which has chosen already.
  dimple::testing::chooseDriver();
  try {
    if (std::string_view(argv[1]) == "--operators" && argc == 3) return dimple::testing::writeOperators(argv[2]);
    if (std::string_view(argv[1]) == "--cache" && argc == 3) return dimple::testing::writeCache(argv[2]);
    if (std::string_view(argv[1]) == "--language" && argc == 3) return dimple::testing::writeLanguage(argv[2]);
    return dimple::testing::writeModels(argv[1], argc > 2 ? argv[2] : nullptr);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "write_models: %s\n", error.what());
    return 1;
  }
}
