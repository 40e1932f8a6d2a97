// IUnknown, implemented once.
#pragma once

#include <atomic>

#include "core/directml.h"

namespace dimple {

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
  // Takes a reference to an object that another thread may be releasing. Returns false if its last reference is gone.
  bool tryAddRef() {
    ULONG count = references_;
    while (count != 0)
      if (references_.compare_exchange_weak(count, count + 1)) return true;
    return false;
  }
  ULONG STDMETHODCALLTYPE Release() override {
    const ULONG left = --references_;
    if (left == 0) delete this;
    return left;
  }

 protected:
  virtual ~ComObject() = default;
  // An interface of this object outside the main chain, or null.
  virtual void* queryOther(REFIID) { return nullptr; }

 private:
  std::atomic<ULONG> references_ = 1;
};

}  // namespace dimple
