// Descriptions as large, and attributes as extreme, as a valid description leads to.
#pragma once

#include <algorithm>
#include <fstream>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "core/operation.h"
#include "core/schema/desc_text.h"
#include "core/schema/element_text.h"
#include "tests/core/description_parts.h"

namespace dimple::testing {

struct Extreme {
  std::string line;
  std::string half;  // the same with one size, or all that go with it, half as large; empty: none
};

namespace detail {

// A number of a description: a size of a tensor, or an attribute.
struct Place {
  size_t field;
  size_t element;    // of an array
  size_t dimension;  // of a tensor
  bool operator<(const Place& other) const {
    return std::tie(field, element, dimension) < std::tie(other.field, other.element, other.dimension);
  }
};
using Places = std::set<Place>;

inline bool isValid(const Description& description) {
  auto parsed = parseCase(description.text());
  return parsed && Operation::parse(parsed->desc.desc());
}

inline bool isArray(const Field& field) {
  return field.type == FieldType::UIntArray || field.type == FieldType::IntArray || field.type == FieldType::Size2D;
}
inline bool isNumber(const Field& field) { return field.type == FieldType::UInt || field.type == FieldType::Int; }

inline std::vector<std::string> elementsOf(const Field& field, const std::string& value) {
  if (field.type == FieldType::Tensor || isNumber(field)) return {value};
  return splitAtCommas(std::string_view(value).substr(1, value.size() - 2));
}

inline std::string valueOf(const Field& field, const std::vector<std::string>& elements) {
  if (field.type == FieldType::Tensor || isNumber(field)) return elements[0];
  return field.type == FieldType::TensorArray ? join(elements, '(', ')') : join(elements, '[', ']');
}

class Extremes {
 public:
  explicit Extremes(const std::string& line)
      : original_(Description::read(line)), schema_(*findSchema(original_.name)) {
    for (size_t i = 0; i < original_.fields.size(); ++i) fields_.push_back(findField(schema_, original_.fields[i].key));
  }

  std::vector<Extreme> take() {
    addAttributes();
    addSizes();
    addStrides();
    return std::move(extremes_);
  }

 private:
  void add(const Description& description, const std::string& half = {}) {
    std::string line = description.text();
    if (seen_.insert(line).second && isValid(description)) extremes_.push_back({std::move(line), half});
  }

  void addAttributes() {
    for (size_t i = 0; i < fields_.size(); ++i) {
      if (!fields_[i] || (!isNumber(*fields_[i]) && !isArray(*fields_[i]))) continue;
      const auto elements = elementsOf(*fields_[i], original_.fields[i].value);
      for (const char* value : {"0", "1", "65535", "65536", "2147483647", "2147483648", "4294967295", "-2147483648"}) {
        Description changed = original_;
        for (size_t e = 0; e < elements.size(); ++e) {
          auto one = elements;
          one[e] = value;
          changed.fields[i].value = valueOf(*fields_[i], one);
          add(changed);
        }
        changed.fields[i].value = valueOf(*fields_[i], std::vector<std::string>(elements.size(), value));
        add(changed);
      }
    }
  }

  // Calls `visit` with each tensor of a description.
  template <class Visit>
  void eachTensor(const Description& description, const Visit& visit) const {
    for (size_t i = 0; i < fields_.size(); ++i) {
      if (!fields_[i] || !isTensor(*fields_[i])) continue;
      const auto elements = elementsOf(*fields_[i], description.fields[i].value);
      for (size_t e = 0; e < elements.size(); ++e) visit(i, e, TensorParts::read(elements[e]));
    }
  }

  static void setElement(Description& description, const Field& field, size_t i, size_t e, const std::string& text) {
    auto elements = elementsOf(field, description.fields[i].value);
    elements[e] = text;
    description.fields[i].value = valueOf(field, elements);
  }

  // Sizes that may have to grow together: of one value, with attributes of that value or without; of one dimension,
  // counted from the first or the last; and each alone.
  std::set<Places> sizesThatGoTogether() const {
    std::map<std::string, Places> byValue, withAttributes;
    std::map<size_t, Places> fromFirst, fromLast;
    std::set<Places> all;
    eachTensor(original_, [&](size_t i, size_t e, const TensorParts& tensor) {
      for (size_t d = 0; d < tensor.sizes.size(); ++d) {
        const Place place{i, e, d};
        if (tensor.sizes[d] != "1") byValue[tensor.sizes[d]].insert(place);
        fromFirst[d].insert(place);
        fromLast[tensor.sizes.size() - d].insert(place);
        all.insert({place});
      }
    });
    withAttributes = byValue;
    for (size_t i = 0; i < fields_.size(); ++i) {
      if (!fields_[i] || (!isNumber(*fields_[i]) && !isArray(*fields_[i]))) continue;
      const auto elements = elementsOf(*fields_[i], original_.fields[i].value);
      for (size_t e = 0; e < elements.size(); ++e)
        if (const auto found = withAttributes.find(elements[e]); found != withAttributes.end())
          found->second.insert({i, e, 0});
    }
    for (const auto* groups : {&byValue, &withAttributes})
      for (const auto& [value, places] : *groups) all.insert(places);
    for (const auto* groups : {&fromFirst, &fromLast})
      for (const auto& [dimension, places] : *groups) all.insert(places);
    return all;
  }

  // The places times 2^doublings. No value where a number exceeds 32 bits.
  std::optional<Description> scaled(const Description& from, const Places& places, uint32_t doublings) const {
    Description description = from;
    const auto times = [&](std::string& number) {
      const auto value = parseNumber<uint32_t>(number);
      if (!value || uint64_t{*value} << doublings > UINT32_MAX) return false;
      number = std::to_string(*value << doublings);
      return true;
    };
    for (const Place& place : places) {
      const Field& field = *fields_[place.field];
      std::string element = elementsOf(field, description.fields[place.field].value)[place.element];
      if (isTensor(field)) {
        TensorParts tensor = TensorParts::read(element);
        if (!times(tensor.sizes[place.dimension])) return {};
        element = tensor.text();
      } else if (!times(element)) {
        return {};
      }
      setElement(description, field, place.field, place.element, element);
    }
    return description;
  }

  // How often the places can be doubled.
  uint32_t mostDoublings(const Description& from, const Places& places) const {
    const auto takes = [&](uint32_t doublings) {
      const auto description = scaled(from, places, doublings);
      return description && isValid(*description);
    };
    if (!takes(1)) return 0;
    uint32_t low = 1, high = 32;
    while (high - low > 1) {
      const uint32_t middle = (low + high) / 2;
      (takes(middle) ? low : high) = middle;
    }
    return low;
  }

  void addWithHalf(const Description& from, const Places& places, uint32_t doublings) {
    if (doublings == 0) return;
    // Larger strides and the like may leave less to do.
    const bool sizes = std::ranges::all_of(places, [&](const Place& place) { return isTensor(*fields_[place.field]); });
    add(*scaled(from, places, doublings), sizes ? scaled(from, places, doublings - 1)->text() : "");
  }

  // Inputs of one element that is read everywhere, so that only the outputs take memory.
  Description broadcast(Description description) const {
    const Description from = description;
    eachTensor(from, [&](size_t i, size_t e, TensorParts tensor) {
      if (fields_[i]->role != Role::Input || !tensor.rest.empty()) return;
      tensor.rest = join(std::vector<std::string>(tensor.sizes.size(), "0"), '{', '}');
      setElement(description, *fields_[i], i, e, tensor.text());
    });
    return description;
  }

  void addSizes() {
    std::vector<Places> grow;
    for (const Places& places : sizesThatGoTogether()) {
      const uint32_t most = mostDoublings(original_, places);
      if (most == 0) continue;
      grow.push_back(places);
      // The largest tensors there can be, and those that a device binds at once.
      for (const uint32_t less : {0u, 3u}) {
        if (most <= less) continue;
        addWithHalf(original_, places, most - less);
        addWithHalf(broadcast(original_), places, most - less);
      }
    }
    constexpr uint32_t kHalfOfMost = 14;
    for (size_t first = 0; first < grow.size(); ++first) {
      const uint32_t most = std::min(kHalfOfMost, mostDoublings(original_, grow[first]));
      const Description large = broadcast(*scaled(original_, grow[first], most));
      for (size_t second = first + 1; second < grow.size(); ++second)
        addWithHalf(large, grow[second], mostDoublings(large, grow[second]));
    }
  }

  void addStrides() {
    eachTensor(original_, [&](size_t i, size_t e, TensorParts tensor) {
      if (!tensor.rest.empty()) return;
      std::vector<uint64_t> sizes, packed(tensor.sizes.size(), 1);
      for (const std::string& size : tensor.sizes) sizes.push_back(std::stoull(size));
      for (size_t d = sizes.size() - 1; d > 0; --d) packed[d - 1] = packed[d] * sizes[d];
      const uint64_t elements = packed[0] * sizes[0];
      for (const uint64_t reach : {uint64_t{INT32_MAX}, uint64_t{UINT32_MAX}})
        for (size_t d = 0; d < sizes.size(); ++d) {
          if (sizes[d] == 1) continue;
          std::vector<std::string> strides;
          for (const uint64_t stride : packed) strides.push_back(std::to_string(stride));
          strides[d] = std::to_string((reach - elements) / (sizes[d] - 1));
          tensor.rest = join(strides, '{', '}');
          Description changed = original_;
          setElement(changed, *fields_[i], i, e, tensor.text());
          add(changed);
        }
    });
  }

  Description original_;
  const OpSchema& schema_;
  std::vector<const Field*> fields_;  // of each part; null: none
  std::vector<Extreme> extremes_;
  std::set<std::string> seen_;
};

}  // namespace detail

// The lines of tests/core/extremes.txt: valid descriptions in which sizes and attributes depend on each other.
inline std::vector<std::string> writtenExtremes() {
  std::ifstream file(DIMPLE_TEST_SOURCE_DIR "/core/extremes.txt");
  std::vector<std::string> lines;
  for (std::string line; std::getline(file, line);) {
    while (!line.empty() && (line.back() == '\r' || line.back() == ' ')) line.pop_back();
    if (!line.empty() && line.front() != '#') lines.push_back(line);
  }
  return lines;
}

// Valid descriptions that differ from this one in attributes with the ends of their range and of half of it, in sizes
// that go together and are doubled until the description is refused, and in strides that reach the last element there
// can be. The same every time.
inline std::vector<Extreme> extremesOf(const std::string& line) { return detail::Extremes(line).take(); }

}  // namespace dimple::testing
