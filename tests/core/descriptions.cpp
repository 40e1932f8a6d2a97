#include "tests/core/descriptions.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <functional>
#include <optional>
#include <set>
#include <span>

#include "core/schema/desc_text.h"
#include "core/schema/element_text.h"
#include "core/text.h"
#include "tests/core/description_parts.h"

namespace dimple::testing {
namespace {

constexpr std::string_view kTypeNames[] = {"f32", "f16", "f64", "i8",  "u8", "i16", "u16",
                                           "i32", "u32", "i64", "u64", "i4", "u4",  "#0"};
constexpr std::string_view kActivations[] = {
    "ELU(Alpha=1)",
    "CELU(Alpha=1)",
    "HARD_SIGMOID(Alpha=1,Beta=2)",
    "IDENTITY",
    "LEAKY_RELU(Alpha=1)",
    "LINEAR(Alpha=1,Beta=2)",
    "PARAMETRIC_SOFTPLUS(Alpha=1,Beta=2)",
    "RELU",
    "SCALED_ELU(Alpha=1,Gamma=2)",
    "SCALED_TANH(Alpha=1,Beta=2)",
    "SIGMOID",
    "SOFTPLUS(Steepness=1)",
    "SOFTPLUS(Steepness=0)",
    "SOFTSIGN",
    "TANH",
    "THRESHOLDED_RELU(Alpha=1)",
    "SHRINK(Bias=1,Threshold=2)",
    "GELU",
    "SWISH(SigmoidInputScale=1)",
    "HARD_SWISH(Alpha=1,Beta=2)",
    "SOFTMAX",
    "SOFTMAX1(Axes=[0])",
    "LOG_SOFTMAX",
    "HARDMAX",
    "PARAMETERIZED_RELU",
    "ELEMENT_WISE_EXP",
    "ELEMENT_WISE_CLIP(Min=0,Max=1)",
    "GEMM",
};

class Variations {
 public:
  explicit Variations(const std::string& line)
      : original_(Description::read(line)), schema_(findSchema(original_.name)) {}

  std::vector<std::string> take() {
    for (size_t i = 0; i < original_.fields.size(); ++i) {
      Description without = original_;
      without.fields.erase(without.fields.begin() + static_cast<std::ptrdiff_t>(i));
      add(without);
      const auto found = std::find_if(schema_->fields.begin(), schema_->fields.end(),
                                      [&](const Field& f) { return f.name == original_.fields[i].key; });
      if (found != schema_->fields.end()) varyField(*found, i);
    }
    varyAllTensors();
    return {lines_.begin(), lines_.end()};
  }

 private:
  void add(const Description& description) { lines_.insert(description.text()); }
  void set(size_t field, std::string value) {
    Description changed = original_;
    changed.fields[field].value = std::move(value);
    add(changed);
  }

  void varyField(const Field& field, size_t index) {
    const std::string& value = original_.fields[index].value;
    const auto inner = [&] { return splitAtCommas(std::string_view(value).substr(1, value.size() - 2)); };
    const auto eachElement = [&](char open, char close, const auto& variantsOf) {
      const auto parts = inner();
      for (size_t i = 0; i < parts.size(); ++i)
        for (const std::string& variant : variantsOf(parts[i])) {
          auto changed = parts;
          changed[i] = variant;
          set(index, join(changed, open, close));
        }
      auto shorter = parts;
      if (!shorter.empty()) shorter.pop_back();
      set(index, join(shorter, open, close));
      if (parts.empty()) return;
      auto longer = parts;
      longer.push_back(parts.back());
      set(index, join(longer, open, close));
    };
    const auto setEach = [&](const std::vector<std::string>& values) {
      for (const std::string& each : values) set(index, each);
    };
    switch (field.type) {
      case FieldType::Tensor:
        return setEach(tensorVariants(value, field.role == Role::Output));
      case FieldType::TensorArray:
        return eachElement(
            '(', ')', [&](const std::string& tensor) { return tensorVariants(tensor, field.role == Role::Output); });
      case FieldType::Operator:
        for (const auto activation : kActivations) set(index, std::string(activation));
        return;
      case FieldType::OperatorArray:
        return eachElement('(', ')', [](const std::string&) {
          return std::vector<std::string>(std::begin(kActivations), std::end(kActivations));
        });
      case FieldType::UInt:
        return setEach(integerVariants(value));
      case FieldType::Int:
        setEach(integerVariants(value));
        return setEach({"-1", "-2147483648"});
      case FieldType::Float:
        return setEach(floatVariants(value));
      case FieldType::Bool:
        return setEach({"0", "1", "2", "-1"});
      case FieldType::Enum:
        for (size_t i = 0; i <= field.values->names.size(); ++i) set(index, std::to_string(i));
        return set(index, "4294967295");
      case FieldType::UIntArray:
        return eachElement('[', ']', integerVariants);
      case FieldType::IntArray:
        return eachElement('[', ']', [](const std::string& element) {
          auto variants = integerVariants(element);
          variants.insert(variants.end(),
                          {"-1", "-2147483648", element.starts_with("-") ? element.substr(1) : "-" + element});
          return variants;
        });
      case FieldType::FloatArray:
        return eachElement('[', ']', floatVariants);
      case FieldType::ScaleBias:
        return setEach({"[1,0]", "[2,1]", "[0,0]", "[nan,inf]"});
      case FieldType::Size2D:
        return eachElement('[', ']', integerVariants);
      case FieldType::Scalar:
        return;
    }
  }

  static std::vector<std::string> integerVariants(const std::string& text) {
    std::vector<std::string> variants{"0", "1", "2", "3", "100"};
    if (const auto value = parseNumber<int64_t>(text)) {
      for (const int64_t other : {*value - 1, *value + 1, *value * 2})
        if (other >= 0 && other <= 0x7fffffff) variants.push_back(std::to_string(other));
      if (*value >= 0) variants.emplace_back("2147483647");
    }
    return variants;
  }

  static std::vector<std::string> floatVariants(const std::string& text) {
    std::vector<std::string> variants{"0", "1", "-1", "0.5", "2", "1e30", "nan", "inf", "-inf"};
    if (const auto value = parseNumber<float>(text)) variants.push_back(numberText(-*value));
    return variants;
  }

  static std::vector<std::string> tensorVariants(const std::string& text, bool output) {
    const TensorParts original = TensorParts::read(text);
    std::vector<std::string> variants;
    const auto change = [&](const auto& edit) {
      TensorParts changed = original;
      edit(changed);
      variants.push_back(changed.text());
    };
    for (const auto type : kTypeNames) change([&](TensorParts& t) { t.type = type; });
    for (size_t d = 0; d < original.sizes.size(); ++d)
      for (const std::string& size : integerVariants(original.sizes[d]))
        if (size.size() < 5) change([&](TensorParts& t) { t.sizes[d] = size; });
    change([](TensorParts& t) { t.sizes.insert(t.sizes.begin(), "1"); });
    change([](TensorParts& t) { t.sizes.push_back("1"); });
    change([](TensorParts& t) { t.sizes.erase(t.sizes.begin()); });
    if (original.rest.empty()) {
      change([](TensorParts& t) { t.rest = "!"; });
      change([](TensorParts& t) { t.rest = "!2"; });
      change([](TensorParts& t) { t.rest = "@4"; });
      if (output)
        change([](TensorParts& t) {
          t.rest = cat("{", join(std::vector<std::string>(t.sizes.size(), "0"), ' ', '}').substr(1));
        });
    }
    return variants;
  }

  // Data types and ranks that tensors share.
  void varyAllTensors() {
    const auto eachTensor = [&](Description& description, const std::function<void(TensorParts&)>& edit) {
      for (Description::Part& part : description.fields) {
        const auto found = std::find_if(schema_->fields.begin(), schema_->fields.end(),
                                        [&](const Field& f) { return f.name == part.key; });
        if (found == schema_->fields.end()) continue;
        const auto edited = [&](const std::string& text) {
          TensorParts tensor = TensorParts::read(text);
          edit(tensor);
          return tensor.text();
        };
        if (found->type == FieldType::Tensor) part.value = edited(part.value);
        if (found->type == FieldType::TensorArray) {
          auto tensors = splitAtCommas(std::string_view(part.value).substr(1, part.value.size() - 2));
          for (std::string& tensor : tensors) tensor = edited(tensor);
          part.value = join(tensors, '(', ')');
        }
      }
    };
    std::set<std::string> used;
    Description copy = original_;
    eachTensor(copy, [&](TensorParts& tensor) { used.insert(tensor.type); });
    for (const std::string& from : used)
      for (const auto to : kTypeNames) {
        Description changed = original_;
        eachTensor(changed, [&](TensorParts& tensor) {
          if (tensor.type == from) tensor.type = to;
        });
        add(changed);
      }
    // Longer ranks, and shorter ones as far as sizes are 1.
    Description longer = original_;
    for (int i = 0; i < 8; ++i) {
      eachTensor(longer, [](TensorParts& tensor) {
        if (tensor.rest.empty()) tensor.sizes.insert(tensor.sizes.begin(), "1");
      });
      add(longer);
    }
    Description shorter = original_;
    for (int i = 0; i < 3; ++i) {
      eachTensor(shorter, [](TensorParts& tensor) {
        if (tensor.rest.empty() && tensor.sizes.size() > 1) tensor.sizes.erase(tensor.sizes.begin());
      });
      add(shorter);
    }
  }

  Description original_;
  const OpSchema* schema_;
  std::set<std::string> lines_;
};

enum class Kind { Valid, Refused };

std::vector<std::string> linesOf(Kind kind) {
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(DIMPLE_TEST_SOURCE_DIR "/core/descriptions")) {
    const std::string name = entry.path().filename().string();
    if (name.ends_with(".txt") && name != "refusals.txt" && name.ends_with(".refused.txt") == (kind == Kind::Refused))
      files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  std::vector<std::string> lines;
  for (const auto& path : files) {
    std::ifstream file(path);
    for (std::string line; std::getline(file, line);) {
      while (!line.empty() && (line.back() == '\r' || line.back() == ' ')) line.pop_back();
      if (!line.empty() && line.front() != '#') lines.push_back(line);
    }
  }
  return lines;
}

}  // namespace

std::vector<std::string> writtenDescriptions() { return linesOf(Kind::Valid); }
std::vector<std::string> refusedDescriptions() { return linesOf(Kind::Refused); }

std::vector<std::string> variationsOf(const std::string& line) { return Variations(line).take(); }

}  // namespace dimple::testing
