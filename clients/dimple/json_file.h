// A JSON file whose values know their place in it, so that a complaint can name file, line and field. Comments and
// trailing commas are allowed.
#pragma once

#include <cstdint>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "clients/files/failure.h"

namespace dimple::tool {

using Json = nlohmann::ordered_json;

class JsonFile {
 public:
  // Throws InputError if the file cannot be read or is no JSON.
  explicit JsonFile(const std::filesystem::path& path);
  // A text that came from elsewhere; `name` stands for it in messages.
  JsonFile(std::string name, std::string text);

  const std::filesystem::path& path() const { return path_; }
  const Json& root() const { return root_; }
  // The line, from 1, of the value that member names and element indices lead to.
  size_t lineOf(const std::vector<std::string>& way) const;

 private:
  void parse();

  std::filesystem::path path_;
  std::string text_;  // without comments and trailing commas, all else in its place
  Json root_;
};

// A value and the way to it. Refers to its parent, which must outlive it.
class JsonValue {
 public:
  explicit JsonValue(const JsonFile& file) : value_(&file.root()), file_(&file) {}

  const Json& value() const { return *value_; }
  const JsonFile& file() const { return *file_; }

  // "model.json:12: commands[3].resource"
  std::string place() const;
  // Throws InputError: the place, and the sentence that goes on from there.
  [[noreturn]] void fail(std::string_view sentence) const;

  // Checks of the kind of value.
  const JsonValue& object() const;
  const JsonValue& array() const;
  std::string string() const;
  bool boolean() const;
  // An integer from 0 to `max`.
  uint64_t integer(uint64_t max = UINT64_MAX) const;
  double number() const;
  std::vector<uint32_t> integers() const;

  // Members of an object.
  bool has(const std::string& name) const { return value_->contains(name); }
  // Fails if there is none.
  JsonValue member(const std::string& name) const&;
  JsonValue member(const std::string& name) const&& = delete;
  // Fails if a member is not listed. Names that begin with '$' are for other programs.
  void allowOnly(std::initializer_list<std::string_view> names) const;

  size_t size() const { return value_->size(); }
  JsonValue element(size_t index) const& { return {*this, (*value_)[index], std::to_string(index)}; }
  JsonValue element(size_t index) const&& = delete;
  // Calls visit(name, JsonValue) for each member.
  template <class Visit>
  void eachMember(Visit visit) const {
    for (const auto& item : object().value_->items()) visit(item.key(), JsonValue(*this, item.value(), item.key()));
  }

 private:
  JsonValue(const JsonValue& parent, const Json& value, std::string step)
      : value_(&value), file_(parent.file_), parent_(&parent), step_(std::move(step)) {}

  const Json* value_;
  const JsonFile* file_;
  const JsonValue* parent_ = nullptr;
  std::string step_;
};

}  // namespace dimple::tool
