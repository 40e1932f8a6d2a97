// What COM objects of the API share beside IUnknown: private data, and lists of the live ones.
#pragma once

#include <cstdint>
#include <cstring>
#include <iterator>
#include <map>
#include <mutex>
#include <new>
#include <string>
#include <utility>
#include <vector>

#include <dimple.h>

#include "core/support/com_object.h"

namespace dimple::api {

// An owning reference to a COM object.
template <class T>
class ComPtr {
 public:
  ComPtr() = default;
  ComPtr(T* object) : object_(object) {
    if (object_) object_->AddRef();
  }
  ComPtr(const ComPtr& other) : ComPtr(other.object_) {}
  ComPtr(ComPtr&& other) noexcept : object_(std::exchange(other.object_, nullptr)) {}
  ComPtr& operator=(ComPtr other) noexcept {
    std::swap(object_, other.object_);
    return *this;
  }
  ~ComPtr() {
    if (object_) object_->Release();
  }
  // Takes over a reference that the caller owns.
  static ComPtr adopt(T* object) {
    ComPtr pointer;
    pointer.object_ = object;
    return pointer;
  }
  T* get() const { return object_; }
  T* operator->() const { return object_; }
  T& operator*() const { return *object_; }
  explicit operator bool() const { return object_ != nullptr; }

 private:
  T* object_ = nullptr;
};

struct GuidLess {
  bool operator()(const GUID& a, const GUID& b) const { return std::memcmp(&a, &b, sizeof(GUID)) < 0; }
};

// The private data of IDMLObject and ID3D12Object. Thread-safe.
class PrivateData {
 public:
  HRESULT get(REFGUID guid, UINT* dataSize, void* data);
  HRESULT set(REFGUID guid, UINT dataSize, const void* data);
  HRESULT setInterface(REFGUID guid, IUnknown* data);
  // Kept as WKPDID_D3DDebugObjectNameW. Null removes the name.
  HRESULT setName(PCWSTR name);
  // As UTF-8; empty without a name.
  std::string name();

 private:
  struct Value {
    std::vector<std::byte> bytes;
    ComPtr<IUnknown> object;
  };
  std::mutex mutex_;
  std::map<GUID, Value, GuidLess> values_;
};

// Lists an object among the live ones of its class, so that a foreign pointer or handle is told apart before it is
// touched. As the last member of T it lists T when all of it is constructed, until its destruction begins. Thread-safe.
template <class T>
class Live {
 public:
  explicit Live(T* object) : Live(object, addressOf(object), 1) {}
  // To be found at any of `count` addresses, which are those of no other live T.
  Live(T* object, uint64_t first, uint64_t count) : first_(first) {
    std::lock_guard lock(registry().mutex);
    registry().byFirst[first] = {count, object};
  }
  ~Live() {
    std::lock_guard lock(registry().mutex);
    registry().byFirst.erase(first_);
  }
  Live(const Live&) = delete;
  Live& operator=(const Live&) = delete;

  // The live T behind an interface pointer, or null for a foreign one, which is not even converted to IUnknown.
  static T* find(const void* interfacePointer) { return findAt(reinterpret_cast<uintptr_t>(interfacePointer)); }
  static T* findAt(uint64_t address) {
    std::lock_guard lock(registry().mutex);
    const auto after = registry().byFirst.upper_bound(address);
    if (after == registry().byFirst.begin()) return nullptr;
    const auto& [first, entry] = *std::prev(after);
    return address - first < entry.count ? entry.object : nullptr;
  }

 private:
  struct Entry {
    uint64_t count;  // of addresses
    T* object;
  };
  struct Registry {
    std::mutex mutex;
    std::map<uint64_t, Entry> byFirst;
  };
  static Registry& registry() {
    static Registry registry;
    return registry;
  }
  static uint64_t addressOf(const IUnknown* object) { return reinterpret_cast<uintptr_t>(object); }

  const uint64_t first_;
};

// Hands a new object (one reference) to the caller as `riid`.
inline HRESULT handOut(IUnknown* object, REFIID riid, void** ppv) {
  const HRESULT result = object->QueryInterface(riid, ppv);
  object->Release();
  return result;
}

// The private data methods of an IDMLObject (Unknown: IUnknown*) or ID3D12Object (const IUnknown*).
template <class Object, class Unknown>
class WithPrivateData : public Object {
 public:
  HRESULT STDMETHODCALLTYPE GetPrivateData(REFGUID guid, UINT* dataSize, void* data) override {
    return privateData_.get(guid, dataSize, data);
  }
  HRESULT STDMETHODCALLTYPE SetPrivateData(REFGUID guid, UINT dataSize, const void* data) override {
    return privateData_.set(guid, dataSize, data);
  }
  HRESULT STDMETHODCALLTYPE SetPrivateDataInterface(REFGUID guid, Unknown data) override {
    return privateData_.setInterface(guid, const_cast<IUnknown*>(data));
  }
  HRESULT STDMETHODCALLTYPE SetName(PCWSTR name) override { return privateData_.setName(name); }

 protected:
  PrivateData privateData_;
};

}  // namespace dimple::api
