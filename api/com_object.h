// Reference counts, QueryInterface and private data: what every COM object of Dimple shares.
#pragma once

#include <atomic>
#include <cstring>
#include <map>
#include <mutex>
#include <new>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <dimple.h>

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

// The live objects of one kind, so that a foreign pointer is told apart before it is touched.
class LiveObjects {
 public:
  void add(const void* object);
  void remove(const void* object);
  bool contains(const void* object);

 private:
  std::mutex mutex_;
  std::set<const void*> objects_;
};

// Implements IUnknown for `Base`. QueryInterface answers IUnknown and `Interfaces`, all of which Base derives from.
template <class Base, class... Interfaces>
class ComObject : public Base {
 public:
  HRESULT STDMETHODCALLTYPE QueryInterface(REFIID riid, void** ppv) override {
    if (!ppv) return E_POINTER;
    *ppv = nullptr;
    if (riid == __uuidof(IUnknown) || (... || (riid == __uuidof(Interfaces))))
      *ppv = static_cast<Base*>(this);
    else if (void* other = queryOther(riid))
      *ppv = other;
    else
      return E_NOINTERFACE;
    AddRef();
    return S_OK;
  }
  ULONG STDMETHODCALLTYPE AddRef() override { return ++references_; }
  ULONG STDMETHODCALLTYPE Release() override {
    const ULONG left = --references_;
    if (left == 0) delete this;
    return left;
  }

 protected:
  virtual ~ComObject() = default;
  // An interface of this object beside the main chain, or null.
  virtual void* queryOther(REFIID) { return nullptr; }

 private:
  std::atomic<ULONG> references_ = 1;
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
