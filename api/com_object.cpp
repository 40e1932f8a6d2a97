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

std::shared_ptr<const PrivateData::Value> PrivateData::find(REFGUID guid) {
  std::lock_guard lock(mutex_);
  const auto found = values_.find(guid);
  return found == values_.end() ? nullptr : found->second;
}

// What was there is released once the lock is gone: it may be an object that calls back.
void PrivateData::replace(REFGUID guid, std::shared_ptr<const Value> value) {
  std::lock_guard lock(mutex_);
  if (value) {
    std::swap(values_[guid], value);
  } else if (const auto found = values_.find(guid); found != values_.end()) {
    std::swap(found->second, value);
    values_.erase(found);
  }
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

void PrivateData::set(REFGUID guid, UINT size, const void* data) {
  std::shared_ptr<Value> value;
  if (data) {
    const auto* bytes = static_cast<const std::byte*>(data);
    value = std::make_shared<Value>();
    value->bytes.assign(bytes, bytes + size);
  }
  replace(guid, std::move(value));
}

void PrivateData::setInterface(REFGUID guid, IUnknown* data) {
  std::shared_ptr<Value> value;
  if (data) {
    value = std::make_shared<Value>();
    value->object = data;
  }
  replace(guid, std::move(value));
}

void PrivateData::setName(PCWSTR name) {
  size_t length = 0;
  while (name && name[length]) ++length;
  set(kNameGuid, static_cast<UINT>(name ? (length + 1) * sizeof(WCHAR) : 0), name);
}

std::string PrivateData::name() {
  const auto value = find(kNameGuid);
  if (!value) return {};
  const size_t length = value->bytes.size() / sizeof(WCHAR);
  std::vector<WCHAR> text(length);
  if (length != 0) std::memcpy(text.data(), value->bytes.data(), length * sizeof(WCHAR));
  while (!text.empty() && text.back() == 0) text.pop_back();
  return utf8(text.data(), text.size());
}

}  // namespace dimple::api
