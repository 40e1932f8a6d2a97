#include "backend_vulkan/cache_file.h"

#include <array>
#include <cstring>
#include <filesystem>
#include <random>
#include <string_view>
#include <utility>

#include "core/text.h"

#ifdef _WIN32
#include <windows.h>
#else
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#endif

namespace dimple::vulkan {
namespace {

// A cache file is this header and the driver's data. The driver's own header tells devices apart but not damage.
struct CacheHeader {
  std::array<char, 8> magic{'D', 'I', 'M', 'P', 'L', 'E', 'P', '1'};
  uint64_t bytes = 0;
  uint64_t hash = 0;
};

uint64_t hashOf(std::span<const char> data) {
  uint64_t hash = 0xcbf29ce484222325ull;  // FNV-1a
  for (const char c : data) hash = (hash ^ static_cast<uint8_t>(c)) * 0x100000001b3ull;
  return hash;
}

Error unusable(const std::string& path, std::string_view why) {
  return {ErrorCode::Unsupported, cat("The pipeline cache ", path, " is not used: it ", why, ".")};
}

Error unwritten(const std::string& path, std::string_view why) { return cacheNotWritten(path, cat(why, ".")); }

std::filesystem::path pathOf(const std::string& utf8) {
  return std::filesystem::path(std::u8string(utf8.begin(), utf8.end()));
}

#ifdef _WIN32

enum class Open { Existing, New };

// Returns an open file on the disk, or none. A file that is to be new must not exist before.
class CacheStream {
 public:
  CacheStream(const std::filesystem::path& path, Open how)
      : file_(CreateFileW(path.c_str(), how == Open::New ? GENERIC_WRITE : GENERIC_READ,
                          how == Open::New ? 0 : FILE_SHARE_READ | FILE_SHARE_DELETE, nullptr,
                          how == Open::New ? CREATE_NEW : OPEN_EXISTING, FILE_ATTRIBUTE_NORMAL, nullptr)),
        error_(file_ == INVALID_HANDLE_VALUE ? GetLastError() : 0) {}
  ~CacheStream() { close(); }
  CacheStream(const CacheStream&) = delete;
  CacheStream& operator=(const CacheStream&) = delete;

  explicit operator bool() const { return file_ != INVALID_HANDLE_VALUE; }
  bool absent() const { return error_ == ERROR_FILE_NOT_FOUND || error_ == ERROR_PATH_NOT_FOUND; }
  bool exists() const { return error_ == ERROR_FILE_EXISTS; }
  bool regular() const { return GetFileType(file_) == FILE_TYPE_DISK; }
  std::string problem() const { return std::system_category().message(static_cast<int>(error_)); }
  uint64_t size() const {
    LARGE_INTEGER size{};
    return GetFileSizeEx(file_, &size) ? static_cast<uint64_t>(size.QuadPart) : 0;
  }
  // Returns the bytes that were read or written. They are fewer than requested at the end of the file, or after a
  // failure.
  size_t read(std::span<char> data) { return move(ReadFile, data.data(), data.size()); }
  size_t write(std::span<const char> data) { return move(WriteFile, data.data(), data.size()); }
  bool close() { return !*this || CloseHandle(std::exchange(file_, INVALID_HANDLE_VALUE)); }

 private:
  template <class Move, class Byte>
  size_t move(Move moveBytes, Byte* data, size_t bytes) {
    size_t done = 0;
    DWORD part = 0;
    while (done < bytes && moveBytes(file_, data + done, static_cast<DWORD>(bytes - done), &part, nullptr) && part)
      done += part;
    if (done < bytes) error_ = GetLastError();
    return done;
  }

  HANDLE file_;
  DWORD error_;
};

bool mayReplace(const std::filesystem::path& path) {
  const DWORD attributes = GetFileAttributesW(path.c_str());
  return attributes == INVALID_FILE_ATTRIBUTES || !(attributes & (FILE_ATTRIBUTE_DIRECTORY | FILE_ATTRIBUTE_DEVICE));
}

#else

enum class Open { Existing, New };

// An open file, or none. Opening does not wait, as it would for the other end of a FIFO. A file that is to be new must
// not exist before, not even as a link.
class CacheStream {
 public:
  CacheStream(const std::filesystem::path& path, Open how)
      : file_(open(path.c_str(),
                   how == Open::New ? O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC
                                    : O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC,
                   0666)),
        error_(file_ < 0 ? errno : 0) {
    if (file_ >= 0 && fstat(file_, &about_) != 0) about_ = {};
  }
  ~CacheStream() { close(); }
  CacheStream(const CacheStream&) = delete;
  CacheStream& operator=(const CacheStream&) = delete;

  explicit operator bool() const { return file_ >= 0; }
  bool absent() const { return error_ == ENOENT; }
  bool exists() const { return error_ == EEXIST; }
  bool regular() const { return S_ISREG(about_.st_mode); }
  std::string problem() const { return std::generic_category().message(error_); }
  uint64_t size() const { return static_cast<uint64_t>(about_.st_size); }
  // Returns the bytes that were read or written. They are fewer than requested at the end of the file, or after a
  // failure.
  size_t read(std::span<char> data) {
    return move([&](size_t at) { return ::read(file_, data.data() + at, data.size() - at); }, data.size());
  }
  size_t write(std::span<const char> data) {
    return move([&](size_t at) { return ::write(file_, data.data() + at, data.size() - at); }, data.size());
  }
  bool close() {
    if (file_ < 0 || ::close(std::exchange(file_, -1)) == 0) return true;
    error_ = errno;
    return false;
  }

 private:
  template <class Move>
  size_t move(Move moveFrom, size_t bytes) {
    size_t done = 0;
    while (done < bytes) {
      const ssize_t part = moveFrom(done);
      if (part < 0 && errno == EINTR) continue;
      if (part < 0) error_ = errno;
      if (part <= 0) break;
      done += static_cast<size_t>(part);
    }
    return done;
  }

  int file_;
  int error_;
  struct stat about_ {};
};

// A link itself is replaced, and its target stays unchanged.
bool mayReplace(const std::filesystem::path& path) {
  struct stat about {};
  return lstat(path.c_str(), &about) != 0 || S_ISREG(about.st_mode) || S_ISLNK(about.st_mode);
}

#endif

std::span<char> bytesOf(CacheHeader& header) { return {reinterpret_cast<char*>(&header), sizeof header}; }

}  // namespace

Error cacheNotWritten(const std::string& path, std::string_view why) {
  return {ErrorCode::Unsupported, cat("The pipeline cache ", path, " is not written: ", why)};
}

Result<std::vector<char>> readCacheFile(const std::string& path) {
  CacheStream file(pathOf(path), Open::Existing);
  if (!file && file.absent()) return std::vector<char>{};
  if (!file) return unusable(path, cat("cannot be opened (", file.problem(), ")"));
  if (!file.regular()) return unusable(path, "is not a regular file");
  CacheHeader header;
  const CacheHeader expected;
  const uint64_t size = file.size();
  if (size > sizeof header + kMaxCacheBytes)
    return unusable(path, cat("has ", size, " bytes, expected at most ", sizeof header + kMaxCacheBytes));
  if (file.read(bytesOf(header)) != sizeof header || header.magic != expected.magic)
    return unusable(path, "is not a Dimple pipeline cache");
  if (size != sizeof header + header.bytes) return unusable(path, "is damaged");
  std::vector<char> data(header.bytes);
  if (file.read(data) != data.size() || hashOf(data) != header.hash) return unusable(path, "is damaged");
  return data;
}

Status writeCacheFile(const std::string& path, std::span<const char> data) {
  if (data.size() > kMaxCacheBytes)
    return unwritten(path, cat("it would have ", data.size(), " bytes, expected at most ", kMaxCacheBytes));
  const std::filesystem::path target = pathOf(path);
  if (!mayReplace(target)) return unwritten(path, "it is not a regular file");
  CacheHeader header;
  header.bytes = data.size();
  header.hash = hashOf(data);
  constexpr int kAttempts = 16;  // at a name
  std::random_device random;
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    std::filesystem::path temporary = target;
    temporary += cat(".", random(), random(), ".new");
    CacheStream file(temporary, Open::New);
    if (!file && file.exists()) continue;
    if (!file) return unwritten(path, file.problem());
    const bool written = file.write(bytesOf(header)) == sizeof header && file.write(data) == data.size();
    std::error_code error;
    if (file.close() && written) std::filesystem::rename(temporary, target, error);
    if (written && !error) return {};
    const std::string problem = error ? error.message() : file.problem();
    std::filesystem::remove(temporary, error);
    return unwritten(path, problem);
  }
  return unwritten(path, "there is no free name beside it");
}

}  // namespace dimple::vulkan
