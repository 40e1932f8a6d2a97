// No exception crosses the API: allocation failures become E_OUTOFMEMORY, anything else E_FAIL.
#pragma once

#include <new>

#include <dimple.h>

namespace dimple::api {

template <class F>
HRESULT guarded(F&& body) noexcept {
  try {
    return body();
  } catch (const std::bad_alloc&) {
    return E_OUTOFMEMORY;
  } catch (...) {
    return E_FAIL;
  }
}

}  // namespace dimple::api
