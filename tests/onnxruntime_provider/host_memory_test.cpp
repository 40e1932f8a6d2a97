// Memory of the host that the device copies from and to.
#include <doctest.h>

#include <cstring>

#include "tests/onnx/model_builder.h"
#include "tests/onnxruntime_provider/host.h"
#include "tests/onnxruntime_provider/transfers.h"

namespace dimple::testing {
namespace {

using onnx::HostTensor;
using onnx::Type;
using Reals = std::vector<double>;

const OrtApi& hostApi() { return *ort::runtime().api; }

// With elements that the host writes and reads.
class HostValue {
 public:
  HostValue(const Host& host, Type type, const onnx::Sizes& sizes) : value_(host.makeForCopies(type, sizes)) {}
  OrtValue& value() const { return *value_.get(); }
  float* data() const {
    void* data = nullptr;
    checkHost(hostApi().GetTensorMutableData(value_.get(), &data));
    return static_cast<float*>(data);
  }
  Reals reals(size_t count) const { return {data(), data() + count}; }

 private:
  Owned<OrtValue> value_;
};

// y = -x
std::string negative() {
  ModelMaker maker;
  maker.input("x", Type::Float, {-1});
  maker.node("Neg", {"x"}, {"y"});
  maker.output("y");
  return maker.bytes();
}

TEST_CASE("provider host memory: tensors are copied to the device and back without a copy by the host") {
  const Host host;
  const HostValue from(host, Type::Float, {3});
  const HostValue to(host, Type::Float, {3});
  const Owned<OrtValue> onDevice = host.makeOnDevice(Type::Float, {3});
  takeTransfers();
  for (float first = 1; first < 4; ++first) {
    const float values[] = {first, 2, 3};
    std::memcpy(from.data(), values, sizeof values);
    host.copy(from.value(), *onDevice.get());
    host.copy(*onDevice.get(), to.value());
    CHECK(to.reals(3) == Reals{first, 2, 3});
  }
  CHECK(takeTransfers() == Transfers{});
  // Between memory of the host it is a copy of bytes.
  const HostValue third(host, Type::Float, {3});
  host.copy(to.value(), third.value());
  CHECK(third.reals(3) == Reals{3, 2, 3});
  CHECK(host.download(third.value()).reals() == Reals{3, 2, 3});
}

TEST_CASE("provider host memory: a run reads inputs there and leaves outputs there") {
  const Host host;
  const HostSession session = host.open(negative());
  const HostValue x(host, Type::Float, {4});
  const HostValue y(host, Type::Float, {4});
  Owned<OrtIoBinding> binding(hostApi().ReleaseIoBinding);
  checkHost(hostApi().CreateIoBinding(&session.session(), binding.put()));
  for (float first = 1; first < 4; ++first) {
    const float values[] = {first, 2, 3, 4};
    std::memcpy(x.data(), values, sizeof values);
    checkHost(hostApi().BindInput(binding.get(), "x", &x.value()));
    checkHost(hostApi().BindOutput(binding.get(), "y", &y.value()));
    takeTransfers();
    checkHost(hostApi().RunWithBinding(&session.session(), nullptr, binding.get()));
    CHECK(y.reals(4) == Reals{-first, -2, -3, -4});
    CHECK(takeTransfers() == Transfers{});
  }
}

}  // namespace
}  // namespace dimple::testing
