// Transfers in parts through memory that is kept, of a back end that only counts. No device is involved.
#include <doctest/doctest.h>

#include <numeric>
#include <vector>

#include "core/support/staging.h"

using namespace dimple;

namespace {

struct Memory {
  explicit Memory(uint64_t bytes) : content(bytes) {}
  uint64_t bytes() const { return content.size(); }
  mutable std::vector<uint8_t> content;
};

struct Transfers {
  Staging<Memory> staging;
  std::vector<uint64_t> created;
  std::vector<uint8_t> to;

  Status upload(const std::vector<uint8_t>& from) {
    to.assign(from.size(), 0);
    return staging.transfer(
        from.size(),
        [&](uint64_t bytes) -> Result<std::unique_ptr<Memory>> {
          created.push_back(bytes);
          return std::make_unique<Memory>(bytes);
        },
        [&](const Memory& memory, uint64_t done, uint64_t part) -> Status {
          std::copy_n(from.begin() + static_cast<ptrdiff_t>(done), part, memory.content.begin());
          std::copy_n(memory.content.begin(), part, to.begin() + static_cast<ptrdiff_t>(done));
          return {};
        });
  }
};

std::vector<uint8_t> counted(uint64_t bytes) {
  std::vector<uint8_t> values(bytes);
  for (size_t i = 0; i < values.size(); ++i) values[i] = static_cast<uint8_t>(i * 7 + i / 256);
  return values;
}

}  // namespace

TEST_CASE("transfers use the memory of those before") {
  Transfers transfers;
  for (const uint64_t bytes : {100, 128, 3, 129}) {
    const auto from = counted(bytes);
    CHECK(transfers.upload(from));
    CHECK(transfers.to == from);
  }
  CHECK(transfers.created == std::vector<uint64_t>{128, 256});
}

TEST_CASE("long transfers come in parts") {
  Transfers transfers;
  const auto from = counted(2 * Staging<Memory>::kMaxBytes + 5);
  CHECK(transfers.upload(from));
  CHECK(transfers.to == from);
  CHECK(transfers.created == std::vector<uint64_t>{Staging<Memory>::kMaxBytes});
}

TEST_CASE("a transfer ends with the first error") {
  Staging<Memory> staging;
  const auto refuse = [](uint64_t) -> Result<std::unique_ptr<Memory>> { return Error{ErrorCode::OutOfMemory, "none"}; };
  const auto make = [](uint64_t bytes) -> Result<std::unique_ptr<Memory>> { return std::make_unique<Memory>(bytes); };
  int copies = 0;
  const auto lose = [&](const Memory&, uint64_t, uint64_t) -> Status {
    ++copies;
    return Error{ErrorCode::DeviceLost, "lost"};
  };
  CHECK(staging.transfer(1, refuse, lose).error().text == "none");
  CHECK(copies == 0);
  CHECK(staging.transfer(2 * Staging<Memory>::kMaxBytes, make, lose).error().text == "lost");
  CHECK(copies == 1);
}
