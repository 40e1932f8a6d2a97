// Tensors in memory that another Vulkan device exported.
#include <doctest.h>
#include <fcntl.h>
#include <unistd.h>

#include <memory>

#include "core/text.h"
#include "tests/exported_memory.h"
#include "tests/onnx/model_builder.h"
#include "tests/onnxruntime_provider/host.h"

namespace dimple::testing {
namespace {

using onnx::ComPtr;
using onnx::HostTensor;
using onnx::Type;
using Reals = std::vector<double>;

constexpr size_t kBytes = 4096;
// Of the output, behind the input.
constexpr size_t kOutput = 1024;

const OrtInteropApi& interop() { return *ort::runtime().api->GetInteropApi(); }

class ImportedTensors {
 public:
  explicit ImportedTensors(const Host& host)
      : importer_(interop().ReleaseExternalResourceImporter), memory_(interop().ReleaseExternalMemoryHandle) {
    checkHost(interop().CreateExternalResourceImporterForDevice(&host.device(), importer_.put()));
  }

  OrtExternalResourceImporter& importer() const { return *importer_.get(); }
  void import(int file, size_t bytes, size_t offset = 0) {
    OrtExternalMemoryDescriptor desc{};
    desc.version = ort::runtime().apiVersion;
    desc.handle_type = ORT_EXTERNAL_MEMORY_HANDLE_TYPE_VK_MEMORY_OPAQUE_FD;
    desc.native_handle = reinterpret_cast<void*>(static_cast<intptr_t>(file));
    desc.size_bytes = bytes;
    desc.offset_bytes = offset;
    checkHost(interop().ImportMemory(importer_.get(), &desc, memory_.put()));
  }
  Owned<OrtValue> tensor(size_t offset, const onnx::Sizes& sizes) const {
    OrtExternalTensorDescriptor desc{};
    desc.version = ort::runtime().apiVersion;
    desc.element_type = ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT;
    desc.shape = sizes.data();
    desc.rank = sizes.size();
    desc.offset_bytes = offset;
    Owned<OrtValue> value(ort::runtime().api->ReleaseValue);
    checkHost(interop().CreateTensorFromMemory(importer_.get(), memory_.get(), &desc, value.put()));
    return value;
  }

 private:
  Owned<OrtExternalResourceImporter> importer_;
  Owned<OrtExternalMemoryHandle> memory_;
};

std::string negation() {
  ModelMaker maker;
  maker.input("x", Type::Float, {4});
  maker.node("Neg", {"x"}, {"y"});
  maker.output("y");
  return maker.bytes();
}

TEST_CASE("provider import: a model reads and writes memory of another device") {
  const ExportedMemory exported(kBytes);
  REQUIRE(exported.file() >= 0);
  // What the other device sees.
  ComPtr<IDimpleContext> context;
  REQUIRE(dimpleCreateContext(nullptr, IID_PPV_ARGS(&context)) == S_OK);
  ComPtr<IDMLDevice> device;
  REQUIRE(context->GetDevice(IID_PPV_ARGS(&device)) == S_OK);
  ComPtr<ID3D12Resource> buffer;
  REQUIRE(dimpleImportBuffer(device.Get(), exported.file(), exported.bytes(), &buffer) == S_OK);

  const Host host;
  const HostSession session = host.open(negation());
  for (int round = 0; round < 2; ++round) {
    ImportedTensors tensors(host);
    bool can = false;
    checkHost(
        interop().CanImportMemory(&tensors.importer(), ORT_EXTERNAL_MEMORY_HANDLE_TYPE_VK_MEMORY_OPAQUE_FD, &can));
    CHECK(can);
    tensors.import(exported.file(), exported.bytes());
    const Owned<OrtValue> x = tensors.tensor(0, {4});
    const Owned<OrtValue> y = tensors.tensor(kOutput, {4});
    const HostTensor given = floats({4}, {1, 2, 3, 4.0 + round});
    REQUIRE(context->Upload(buffer.Get(), 0, given.bytes.data(), given.bytes.size()) == S_OK);
    CHECK(host.download(*x.get()).reals() == given.reals());
    const char* const inputs[] = {"x"};
    const char* const outputs[] = {"y"};
    const OrtValue* const in = x.get();
    OrtValue* out = y.get();
    checkHost(ort::runtime().api->Run(&session.session(), nullptr, inputs, &in, 1, outputs, 1, &out));
    // Nothing else waits for the run.
    CHECK(host.download(*y.get()).reals() == Reals{-1, -2, -3, -4.0 - round});
    HostTensor seen(Type::Float, {4});
    REQUIRE(context->Download(buffer.Get(), kOutput, seen.bytes.data(), seen.bytes.size()) == S_OK);
    CHECK(seen.reals() == Reals{-1, -2, -3, -4.0 - round});
  }
}

TEST_CASE("provider import: what cannot be imported is refused") {
  const ExportedMemory exported(kBytes);
  const Host host;
  ImportedTensors tensors(host);
  OrtExternalResourceImporter& importer = tensors.importer();
  bool can = true;
  checkHost(interop().CanImportMemory(&importer, ORT_EXTERNAL_MEMORY_HANDLE_TYPE_D3D12_RESOURCE, &can));
  CHECK(!can);
  const auto contains = [](const std::string& all, const std::string& part) {
    CHECK_MESSAGE(all.find(part) != all.npos, all);
  };
  contains(refusal([&] { tensors.import(-1, kBytes); }), "file has value (-1), which is not an open file descriptor.");
  const int other = open("/dev/null", O_RDWR);
  contains(refusal([&] { tensors.import(other, kBytes); }), "expected memory of 4096 bytes that Vulkan exported.");
  close(other);
  contains(refusal([&] { tensors.import(exported.file(), exported.bytes(), exported.bytes()); }),
           cat("Memory is imported from byte ", exported.bytes(), " on, but has ", exported.bytes(), " bytes."));
  tensors.import(exported.file(), exported.bytes(), kOutput);
  contains(refusal([&] { tensors.tensor(16, {4}); }),
           "A tensor begins at byte 1040 of imported memory, expected a multiple of 256.");
  contains(refusal([&] { tensors.tensor(kBytes * kBytes, {4}); }), "of imported memory, expected less than ");
  contains(refusal([&] { tensors.tensor(SIZE_MAX - kOutput + 1, {4}); }), "of imported memory, expected less than ");
  CHECK(refusal([&] { tensors.tensor(0, {kBytes}); }) != "");
  CHECK(refusal([&] { tensors.tensor(0, {4}); }) == "");
}

}  // namespace
}  // namespace dimple::testing
