// The file of compiled pipelines where something else is in its place.
#include <dimple.h>
#include <doctest.h>
#include <sys/stat.h>
#include <unistd.h>
#include <wrl/client.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "tests/tool/tool_fixture.h"

using namespace dimple::testing;
using Microsoft::WRL::ComPtr;

namespace {

void STDMETHODCALLTYPE receive(void* messages, DimpleMessageSeverity, HRESULT, const char* text) {
  static_cast<std::vector<std::string>*>(messages)->emplace_back(text);
}

// Opens a device with this cache and releases it; what it said.
std::vector<std::string> use(const std::filesystem::path& cache) {
  std::vector<std::string> messages;
  const std::string path = cache.string();
  DimpleContextDesc desc{};
  desc.PipelineCachePath = path.c_str();
  desc.MessageCallback = receive;
  desc.MessageContext = &messages;
  ComPtr<IDimpleContext> context;
  CHECK_MESSAGE(dimpleCreateContext(&desc, IID_PPV_ARGS(&context)) == S_OK, dimpleGetLastMessage());
  context = nullptr;
  return messages;
}

bool says(const std::vector<std::string>& messages, const std::string& part) {
  return std::any_of(messages.begin(), messages.end(), [&](const auto& text) { return contains(text, part); });
}

size_t filesIn(const std::filesystem::path& folder) {
  return static_cast<size_t>(
      std::distance(std::filesystem::directory_iterator(folder), std::filesystem::directory_iterator()));
}

}  // namespace

TEST_CASE("faults: a pipeline cache is written beside no name that another could take") {
  const ToolFixture fixture;
  const auto cache = fixture.folder() / "cache";
  const auto precious = fixture.write("precious", "untouched");
  std::filesystem::create_symlink(precious, fixture.folder() / "cache.new");
  CHECK(use(cache).empty());
  CHECK(readText(precious) == "untouched");
  CHECK(std::filesystem::is_regular_file(cache));
  CHECK(filesIn(fixture.folder()) == 3);
  CHECK(use(cache).empty());

  // A link in its own place is replaced; what it leads to is not.
  std::filesystem::remove(cache);
  std::filesystem::create_symlink(precious, cache);
  CHECK(says(use(cache), "is not a Dimple pipeline cache."));
  CHECK(readText(precious) == "untouched");
  CHECK(std::filesystem::is_regular_file(std::filesystem::symlink_status(cache)));
}

TEST_CASE("faults: a pipeline cache that is no regular file is left alone") {
  const ToolFixture fixture;
  const auto cache = fixture.folder() / "cache";
  REQUIRE(mkfifo(cache.c_str(), 0666) == 0);
  auto messages = use(cache);
  CHECK(says(messages, "is not used: it is not a regular file."));
  CHECK(says(messages, "is not written: it is not a regular file."));
  CHECK(std::filesystem::is_fifo(cache));
  std::filesystem::remove(cache);

  std::filesystem::create_directory(cache);
  messages = use(cache);
  CHECK(says(messages, "is not used: "));
  CHECK(says(messages, "is not written: "));
  CHECK(filesIn(fixture.folder()) == 1);

  CHECK(says(use(fixture.folder() / "none" / "cache"), "is not written: "));
}

TEST_CASE("faults: a pipeline cache that is damaged or too large is replaced") {
  const ToolFixture fixture;
  const auto cache = fixture.folder() / "cache";
  fixture.write("cache", "");
  std::filesystem::resize_file(cache, uint64_t{40} << 30);  // no blocks of the disk
  CHECK(says(use(cache), "has 42949672960 bytes, expected at most "));
  CHECK(std::filesystem::file_size(cache) < 1 << 20);
  CHECK(use(cache).empty());
  // The same with a header that agrees.
  {
    std::fstream file(cache, std::ios::in | std::ios::out | std::ios::binary);
    const uint64_t bytes = (uint64_t{40} << 30) - 24;
    file.seekp(8);
    file.write(reinterpret_cast<const char*>(&bytes), sizeof bytes);
  }
  std::filesystem::resize_file(cache, uint64_t{40} << 30);
  CHECK(says(use(cache), "expected at most "));
  const auto size = std::filesystem::file_size(cache);
  std::filesystem::resize_file(cache, size - 1);
  CHECK(says(use(cache), "is damaged."));
  CHECK(std::filesystem::file_size(cache) == size);
}
