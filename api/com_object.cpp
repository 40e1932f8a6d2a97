#include "api/com_object.h"

namespace dimple::api {
namespace {

// WKPDID_D3DDebugObjectNameW
constexpr GUID kNameGuid = {0x4cca5fd8, 0x921f, 0x42c8, {0x85, 0x66, 0x70, 0xca, 0xf2, 0xa9, 0xb7, 0x41}};

void appendUtf8(std::string& out, uint32_t c) {
  if (c < 0x80) {
    out += static_cast<char>(c);
  } else if (c < 0x800) {
    out += static_cast<char>(0xc0 | c >> 6);
    out += static_cast<char>(0x80 | (c & 0x3f));
  } else if (c < 0x10000) {
    out += static_cast<char>(0xe0 | c >> 12);
    out += static_cast<char>(0x80 | (c >> 6 & 0x3f));
    out += static_cast<char>(0x80 | (c & 0x3f));
  } else {
    out += static_cast<char>(0xf0 | (c >> 18 & 0x07));
    out += static_cast<char>(0x80 | (c >> 12 & 0x3f));
    out += static_cast<char>(0x80 | (c >> 6 & 0x3f));
    out += static_cast<char>(0x80 | (c & 0x3f));
  }
}

// WCHAR has 2 bytes (UTF-16) on Windows and 4 elsewhere.
std::string utf8(const WCHAR* text, size_t length) {
  std::string out;
  for (size_t i = 0; i < length; ++i) {
    auto c = static_cast<uint32_t>(text[i]);
    if constexpr (sizeof(WCHAR) == 2) {
      c &= 0xffff;
      if (c >= 0xd800 && c < 0xdc00 && i + 1 < length) {
        const auto low = static_cast<uint32_t>(text[i + 1]) & 0xffff;
        if (low >= 0xdc00 && low < 0xe000) {
          c = 0x10000 + ((c - 0xd800) << 10) + (low - 0xdc00);
          ++i;
        }
      }
    }
    appendUtf8(out, c);
  }
  return out;
}

}  // namespace

HRESULT PrivateData::get(REFGUID guid, UINT* dataSize, void* data) {
  if (!dataSize) return E_INVALIDARG;
  std::lock_guard lock(mutex_);
  const auto found = values_.find(guid);
  if (found == values_.end()) {
    *dataSize = 0;
    return DXGI_ERROR_NOT_FOUND;
  }
  IUnknown* object = found->second.object.get();
  const auto size = object ? static_cast<UINT>(sizeof(IUnknown*)) : static_cast<UINT>(found->second.bytes.size());
  const UINT capacity = *dataSize;
  *dataSize = size;
  if (!data) return S_OK;
  if (capacity < size) return DXGI_ERROR_MORE_DATA;
  if (object) {
    object->AddRef();
    std::memcpy(data, &object, sizeof(void*));
  } else {
    std::memcpy(data, found->second.bytes.data(), size);
  }
  return S_OK;
}

HRESULT PrivateData::set(REFGUID guid, UINT dataSize, const void* data) {
  if (dataSize != 0 && !data) return E_INVALIDARG;
  Value old;  // released outside the lock
  std::lock_guard lock(mutex_);
  if (const auto found = values_.find(guid); found != values_.end()) {
    old = std::move(found->second);
    values_.erase(found);
  }
  if (data) {
    const auto* bytes = static_cast<const std::byte*>(data);
    values_[guid] = {{bytes, bytes + dataSize}, {}};
  }
  return S_OK;
}

HRESULT PrivateData::setInterface(REFGUID guid, IUnknown* data) {
  Value value{{}, data};
  std::lock_guard lock(mutex_);
  if (data)
    std::swap(values_[guid], value);
  else if (const auto found = values_.find(guid); found != values_.end()) {
    std::swap(found->second, value);
    values_.erase(found);
  }
  return S_OK;
}

HRESULT PrivateData::setName(PCWSTR name) {
  size_t length = 0;
  while (name && name[length]) ++length;
  return set(kNameGuid, static_cast<UINT>(name ? (length + 1) * sizeof(WCHAR) : 0), name);
}

std::string PrivateData::name() {
  std::lock_guard lock(mutex_);
  const auto found = values_.find(kNameGuid);
  if (found == values_.end()) return {};
  const size_t length = found->second.bytes.size() / sizeof(WCHAR);
  std::vector<WCHAR> text(length);
  std::memcpy(text.data(), found->second.bytes.data(), length * sizeof(WCHAR));
  while (!text.empty() && text.back() == 0) text.pop_back();
  return utf8(text.data(), text.size());
}

}  // namespace dimple::api
