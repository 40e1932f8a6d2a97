// An owning pointer to a COM object.
#pragma once

#include <utility>

namespace dimple::tool {

template <class T>
class Com {
 public:
  Com() = default;
  Com(const Com& other) : object_(other.object_) {
    if (object_) object_->AddRef();
  }
  Com(Com&& other) noexcept : object_(std::exchange(other.object_, nullptr)) {}
  Com& operator=(Com other) noexcept {
    std::swap(object_, other.object_);
    return *this;
  }
  ~Com() {
    if (object_) object_->Release();
  }

  T* get() const { return object_; }
  T* operator->() const { return object_; }
  explicit operator bool() const { return object_ != nullptr; }
  // Where a function stores a new reference.
  T** put() {
    *this = Com();
    return &object_;
  }

 private:
  T* object_ = nullptr;
};

}  // namespace dimple::tool
