// The demo, with a picture of its own in place of the photograph, against the oracle.
#include <doctest.h>

#include <cstring>
#include <map>
#include <nlohmann/json.hpp>
#include <random>
#include <vector>

#include "core/schema/desc_text.h"
#include "tests/conformance/oracle/oracle.h"
#include "tests/tool/tool_fixture.h"

using namespace dimple;
using testing::readText;

namespace {

using Bytes = std::vector<std::byte>;

// The lines of `dimple plan` that describe operators, by the name in the comment before them.
std::map<std::string, std::string> caseLines(const std::string& planText) {
  std::map<std::string, std::string> lines;
  std::istringstream text(planText);
  std::string line, name;
  while (std::getline(text, line)) {
    if (!name.empty()) lines[name] = line;
    name = line.starts_with("# ") ? line.substr(2) : "";
  }
  return lines;
}

std::string npyHeader(const std::string& descr, const std::string& shape) {
  std::string header = "{'descr': '" + descr + "', 'fortran_order': False, 'shape': " + shape + ", }";
  header.append(63 - (10 + header.size()) % 64, ' ');
  header += "\n";
  return std::string("\x93NUMPY\x01\x00", 8) + static_cast<char>(header.size() & 255) +
         static_cast<char>(header.size() >> 8) + header;
}

Bytes npyContents(const std::string& file) {
  const size_t start = 10 + static_cast<unsigned char>(file[8]) + 256u * static_cast<unsigned char>(file[9]);
  Bytes bytes(file.size() - start);
  std::memcpy(bytes.data(), file.data() + start, bytes.size());
  return bytes;
}

void replace(std::string& text, const std::string& from, const std::string& to) {
  const auto at = text.find(from);
  REQUIRE(at != text.npos);
  text.replace(at, from.size(), to);
}

// Smooth shades with some noise, so that every tone is somewhere the nearest.
std::string makePicture(const nlohmann::json& dimensions) {
  const size_t height = dimensions[0], width = dimensions[1], channels = dimensions[2];
  std::mt19937 random(1);
  std::string pixels;
  for (size_t y = 0; y < height; ++y)
    for (size_t x = 0; x < width; ++x)
      for (size_t c = 0; c < channels; ++c)
        pixels += static_cast<char>((x * 180 / width + y * 60 / height + random() % (10 + 5 * c)) & 255);
  return pixels;
}

}  // namespace

TEST_CASE("demo: the picture is the one of the oracle") {
  const testing::ToolFixture fixture;
  std::string text = readText(DIMPLE_SOURCE_DIR "/tools/demo/posterize.json");
  const auto original = nlohmann::json::parse(text, nullptr, true, true);
  const auto& photo = original.at("resources").at("photo");
  replace(text, photo.at("initialValues").at("sourcePath"), "photo.npy");
  replace(text, "posterized.png", "posterized.npy");
  const auto& dimensions = photo.at("dimensions");
  const std::string pixels = makePicture(dimensions);
  fixture.write("photo.npy", npyHeader("|u1", "(" + std::to_string(dimensions[0].get<int>()) + ", " +
                                                  std::to_string(dimensions[1].get<int>()) + ", 3)") +
                                 pixels);
  fixture.write("demo.json", text);
  for (const std::string& backend : testing::toolBackends()) {
    const auto outcome =
        fixture.run("run demo.json --dir " + backend + (backend == "vulkan" ? " --validate" : " --backend " + backend));
    REQUIRE_MESSAGE(outcome.code == 0, outcome.err);
  }

  const auto plan = fixture.run("plan demo.json --caps default");
  REQUIRE_MESSAGE(plan.code == 0, plan.err);
  const auto lines = caseLines(plan.out);
  std::map<std::string, Bytes> buffers;
  for (const auto& [name, resource] : original.at("resources").items()) {
    Bytes& bytes = buffers[name];
    if (name == "photo") {
      bytes.resize(pixels.size());
      std::memcpy(bytes.data(), pixels.data(), pixels.size());
    } else if (resource.contains("sizeInBytes")) {
      bytes.resize(resource.at("sizeInBytes"));
    } else {
      for (const auto& value : resource.at("initialValues")) {
        const uint8_t narrow = value.get<uint8_t>();
        const uint32_t word = value.get<uint32_t>();
        const float real = value.get<float>();
        const std::string type = resource.at("initialValuesDataType");
        const void* source = type == "UINT8"    ? static_cast<const void*>(&narrow)
                             : type == "UINT32" ? static_cast<const void*>(&word)
                                                : &real;
        const size_t width = type == "UINT8" ? 1 : 4;
        bytes.insert(bytes.end(), static_cast<const std::byte*>(source), static_cast<const std::byte*>(source) + width);
      }
      bytes.resize((bytes.size() + 3) / 4 * 4);
    }
  }
  size_t dispatches = 0;
  for (const auto& command : original.at("commands")) {
    if (command.at("type") != "dispatch") continue;
    const auto parsed = parseCase(lines.at(command.at("dispatchable")));
    REQUIRE(parsed);
    std::vector<oracle::Array> inputs;
    const auto tensorOf = [&](const Field& field) -> const DML_BUFFER_TENSOR_DESC& {
      const auto* root = static_cast<const std::byte*>(parsed->desc.desc().Desc);
      const auto* tensor = *reinterpret_cast<const DML_TENSOR_DESC* const*>(root + field.offset);
      return *static_cast<const DML_BUFFER_TENSOR_DESC*>(tensor->Desc);
    };
    for (const Field& field : parsed->desc.schema().fields)
      if (field.role == Role::Input) {
        const std::string buffer = command.at("bindings").at(std::string(field.name));
        inputs.push_back(oracle::read(tensorOf(field), buffers.at(buffer)));
      }
    const auto results = oracle::evaluate(parsed->desc.desc(), inputs);
    for (const Field& field : parsed->desc.schema().fields)
      if (field.role == Role::Output) {
        const std::string buffer = command.at("bindings").at(std::string(field.name));
        oracle::write(tensorOf(field), results.front().value, buffers.at(buffer));
      }
    ++dispatches;
  }
  CHECK(dispatches == 8);
  for (const std::string& backend : testing::toolBackends()) {
    INFO("on ", backend);
    const Bytes actual = npyContents(readText(fixture.folder() / backend / "posterized.npy"));
    CHECK(actual == buffers.at(original.at("commands").back().at("resource")));
  }
}
