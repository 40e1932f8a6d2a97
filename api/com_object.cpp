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

// 0 for null.
size_t lengthOf(PCWSTR text) {
  size_t length = 0;
  while (text && text[length]) ++length;
  return length;
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

std::shared_ptr<const PrivateData::Value> PrivateData::find(REFGUID guid) {
  std::lock_guard lock(mutex_);
  const auto found = values_.find(guid);
  return found == values_.end() ? nullptr : found->second;
}

// The old value is released after the lock, since it may be an object that calls back.
HRESULT PrivateData::replace(REFGUID guid, std::shared_ptr<const Value> value) {
  std::lock_guard lock(mutex_);
  if (value) {
    std::swap(values_[guid], value);
    return S_OK;
  }
  const auto found = values_.find(guid);
  if (found == values_.end()) return S_FALSE;
  std::swap(found->second, value);
  values_.erase(found);
  return S_OK;
}

HRESULT PrivateData::get(REFGUID guid, UINT& size, void* data) {
  const auto value = find(guid);
  if (!value) {
    size = 0;
    return DXGI_ERROR_NOT_FOUND;
  }
  IUnknown* object = value->object.get();
  const UINT capacity = size;
  size = static_cast<UINT>(object ? sizeof(IUnknown*) : value->bytes.size());
  if (!data) return S_OK;
  if (capacity < size) return DXGI_ERROR_MORE_DATA;
  if (object) {
    object->AddRef();
    std::memcpy(data, &object, sizeof(void*));
  } else if (size != 0) {
    std::memcpy(data, value->bytes.data(), size);
  }
  return S_OK;
}

HRESULT PrivateData::set(REFGUID guid, UINT size, const void* data) {
  std::shared_ptr<Value> value;
  if (data) {
    const auto* bytes = static_cast<const std::byte*>(data);
    value = std::make_shared<Value>();
    value->bytes.assign(bytes, bytes + size);
  }
  return replace(guid, std::move(value));
}

HRESULT PrivateData::setInterface(REFGUID guid, IUnknown* data) {
  std::shared_ptr<Value> value;
  if (data) {
    value = std::make_shared<Value>();
    value->object = data;
  }
  return replace(guid, std::move(value));
}

HRESULT PrivateData::setNameAsData(PCWSTR name) {
  set(kNameGuid, static_cast<UINT>(name ? (lengthOf(name) + 1) * sizeof(WCHAR) : 0), name);
  return S_OK;
}

HRESULT PrivateData::setName(PCWSTR name) {
  std::string text = utf8(name, lengthOf(name));
  std::lock_guard lock(mutex_);
  std::swap(name_, text);
  return S_OK;
}

std::string PrivateData::name() {
  std::lock_guard lock(mutex_);
  return name_;
}

}  // namespace dimple::api
