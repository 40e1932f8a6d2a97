// What the inputs of dimple bench --all hold: random elements that repeat after about a million, made on the host once
// and multiplied on the device.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "clients/dimple/runner.h"
#include "core/data_type.h"

namespace dimple::tool {

class BenchContents {
 public:
  // Of an input by its number: two inputs of an operator differ. `rule` as in roofline_table.h; empty: the default.
  struct Key {
    DataType type;
    std::string rule;
    size_t input;
    auto operator<=>(const Key&) const = default;
  };

  explicit BenchContents(const Device& device) : device_(device) {}

  // The largest tensor that will be asked for, before buffer() is called.
  void reserve(const Key& key, uint64_t bytes);
  ID3D12Resource* buffer(const Key& key);
  // The first bytes of it.
  std::vector<std::byte> host(const Key& key, uint64_t bytes);

 private:
  struct Held {
    uint64_t bytes = 0;
    std::vector<std::byte> period = {};
    Com<ID3D12Resource> buffer = {};
  };

  Held& made(const Key& key);
  void multiply(const Held& held) const;

  const Device& device_;
  std::map<Key, Held> held_;
};

}  // namespace dimple::tool
