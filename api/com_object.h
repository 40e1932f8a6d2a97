// What the COM objects of the API share besides IUnknown: private data, and lists of the objects that are alive.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <iterator>
#include <map>
#include <memory>
#include <mutex>
#include <new>
#include <string>
#include <type_traits>
#include <unordered_map>
#include <utility>
#include <vector>

#include <dimple.h>

#include "api/guard.h"
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
  // Hands the reference over to the caller.
  T* detach() { return std::exchange(object_, nullptr); }
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

// The private data of IDMLObject and ID3D12Object. It is thread-safe; a call that fails leaves it as it was.
class PrivateData {
 public:
  // `size` is the capacity of `data`, and receives the size of the value. DXGI_ERROR_NOT_FOUND and
  // DXGI_ERROR_MORE_DATA are not refusals.
  HRESULT get(REFGUID guid, UINT& size, void* data);
  // Null removes the value; S_FALSE if there was none.
  HRESULT set(REFGUID guid, UINT size, const void* data);
  HRESULT setInterface(REFGUID guid, IUnknown* data);
  // Null removes the name. Direct3D keeps an object's name as WKPDID_D3DDebugObjectNameW; DirectML keeps it apart.
  HRESULT setNameAsData(PCWSTR name);
  HRESULT setName(PCWSTR name);
  // The name that setName() kept, as UTF-8; empty if there is none.
  std::string name();

 private:
  struct Value {
    std::vector<std::byte> bytes;
    ComPtr<IUnknown> object;
  };
  // Null if there is none.
  std::shared_ptr<const Value> find(REFGUID guid);
  HRESULT replace(REFGUID guid, std::shared_ptr<const Value> value);

  std::mutex mutex_;  // never held while a foreign object is called
  std::map<GUID, std::shared_ptr<const Value>, GuidLess> values_;
  std::string name_;
};

// An object that is never destroyed, since a program may release its objects while static objects are destroyed.
template <class T>
T& immortal() {
  alignas(T) static std::byte memory[sizeof(T)];
  static T* const made = new (memory) T;
  return *made;
}

// Lists an object among the live ones of its class, so that a foreign pointer is recognized before it is touched. It
// must be the last member of T, so that it lists T only while T is fully constructed and not yet being destroyed. It is
// thread-safe.
template <class T>
class Live {
 public:
  explicit Live(T* object) : address_(addressOf(static_cast<const IUnknown*>(object))) {
    auto& [mutex, objects] = immortal<Registry>();
    std::lock_guard lock(mutex);
    objects[address_] = object;
  }
  ~Live() {
    auto& [mutex, objects] = immortal<Registry>();
    std::lock_guard lock(mutex);
    objects.erase(address_);
  }
  Live(const Live&) = delete;
  Live& operator=(const Live&) = delete;

  // Returns a reference to the live T behind an interface pointer. Returns null for a foreign pointer, which is not
  // even converted to IUnknown, and for an object whose last reference is gone.
  static ComPtr<T> find(const void* interfacePointer) {
    auto& [mutex, objects] = immortal<Registry>();
    std::lock_guard lock(mutex);
    const auto found = objects.find(addressOf(interfacePointer));
    if (found == objects.end() || !found->second->tryAddRef()) return {};
    return ComPtr<T>::adopt(found->second);
  }

 private:
  struct Registry {
    std::mutex mutex;
    std::unordered_map<uint64_t, T*> objects;
  };
  static uint64_t addressOf(const void* object) { return reinterpret_cast<uintptr_t>(object); }

  const uint64_t address_;
};

// The same for objects that stand for a range of handles.
template <class T>
class LiveRange {
 public:
  // The object is found at any of `count` handles, which must not be those of another live T.
  LiveRange(T* object, uint64_t first, uint64_t count) : first_(first) {
    auto& [mutex, byFirst] = immortal<Registry>();
    std::lock_guard lock(mutex);
    byFirst[first] = {count, object};
  }
  ~LiveRange() {
    auto& [mutex, byFirst] = immortal<Registry>();
    std::lock_guard lock(mutex);
    byFirst.erase(first_);
  }
  LiveRange(const LiveRange&) = delete;
  LiveRange& operator=(const LiveRange&) = delete;

  static ComPtr<T> find(uint64_t handle) {
    auto& [mutex, byFirst] = immortal<Registry>();
    std::lock_guard lock(mutex);
    const auto after = byFirst.upper_bound(handle);
    if (after == byFirst.begin()) return {};
    const auto& [first, entry] = *std::prev(after);
    if (handle - first >= entry.count || !entry.object->tryAddRef()) return {};
    return ComPtr<T>::adopt(entry.object);
  }

 private:
  struct Entry {
    uint64_t count;
    T* object;
  };
  struct Registry {
    std::mutex mutex;
    std::map<uint64_t, Entry> byFirst;
  };

  const uint64_t first_;
};

// Hands a new object (one reference) to the caller as `riid`.
inline HRESULT handOut(IUnknown* object, REFIID riid, void** ppv) {
  const HRESULT result = object->QueryInterface(riid, ppv);
  object->Release();
  return FAILED(result) ? refuseEarly(result, "riid is not an interface of the object that the call makes.") : result;
}

// The private data methods of an IDMLObject (Unknown: IUnknown*) or ID3D12Object (const IUnknown*).
template <class Object, class Unknown>
class WithPrivateData : public Object {
 public:
  HRESULT STDMETHODCALLTYPE GetPrivateData(REFGUID guid, UINT* dataSize, void* data) override {
    return guarded(*this, "GetPrivateData", [&] {
      if (!dataSize) return refuse(E_INVALIDARG, "dataSize is null, expected where to put the size.");
      return privateData_.get(guid, *dataSize, data);
    });
  }
  HRESULT STDMETHODCALLTYPE SetPrivateData(REFGUID guid, UINT dataSize, const void* data) override {
    return guarded(*this, "SetPrivateData", [&] { return privateData_.set(guid, dataSize, data); });
  }
  HRESULT STDMETHODCALLTYPE SetPrivateDataInterface(REFGUID guid, Unknown data) override {
    return guarded(*this, "SetPrivateDataInterface",
                   [&] { return privateData_.setInterface(guid, const_cast<IUnknown*>(data)); });
  }
  HRESULT STDMETHODCALLTYPE SetName(PCWSTR name) override {
    return guarded(*this, "SetName", [&] {
      return std::is_same_v<Unknown, IUnknown*> ? privateData_.setName(name) : privateData_.setNameAsData(name);
    });
  }

  // Reports a refusal, to the object's device if it has one, and returns the code.
  virtual HRESULT refuse(HRESULT code, const char* text) noexcept { return refuseEarly(code, text); }

 protected:
  PrivateData privateData_;
};

}  // namespace dimple::api
