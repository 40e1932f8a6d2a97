// The file that keeps a driver's compiled pipelines between runs. It may lie where others write: nothing that is there
// instead of it is waited for, believed or overwritten.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/result.h"

namespace dimple::vulkan {

// Bytes of the driver that a file may hold.
constexpr uint64_t kMaxCacheBytes = uint64_t{256} << 20;

// The driver's data in the file at a UTF-8 path; empty if there is no file. Refuses what is no file that writeCacheFile
// wrote.
Result<std::vector<char>> readCacheFile(const std::string& path);

// Puts a file there, all at once, so that a reader of another process never sees half of it. What is written meanwhile
// lies beside it under a name that no other file has.
Status writeCacheFile(const std::string& path, std::span<const char> data);

// "The pipeline cache PATH is not written: WHY.", of which `why` has the full stop.
Error cacheNotWritten(const std::string& path, std::string_view why);

}  // namespace dimple::vulkan
