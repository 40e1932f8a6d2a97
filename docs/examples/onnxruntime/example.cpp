// Runs a model in ONNX Runtime with Dimple's execution provider: registers the library, takes its first device, and
// prints what the model makes of six ones. example.py beside this file does the same.
#include <onnxruntime_cxx_api.h>

#include <array>
#include <cstdio>
#include <filesystem>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace {

// Those that the library offers; ONNX Runtime also lists others, such as the CPU.
std::vector<Ort::ConstEpDevice> devicesOf(const Ort::Env& env) {
  std::vector<Ort::ConstEpDevice> devices;
  for (const Ort::ConstEpDevice& device : env.GetEpDevices())
    if (std::string_view(device.EpName()) == "DimpleExecutionProvider") devices.push_back(device);
  return devices;
}

// The model is y = Relu(x * w + b): x has three columns and any number of rows, y two columns.
void run(Ort::Env& env, const Ort::ConstEpDevice& device, const char* model) {
  Ort::SessionOptions options;
  options.AppendExecutionProvider_V2(env, {device}, std::unordered_map<std::string, std::string>{});
  // A node that is left to the CPU is an error here. Most programs allow such nodes.
  options.AddConfigEntry("session.disable_cpu_ep_fallback", "1");
  Ort::Session session(env, model, options);

  std::array<float, 6> ones{1, 1, 1, 1, 1, 1};
  const std::array<int64_t, 2> sizes{2, 3};
  const auto memory = Ort::MemoryInfo::CreateCpu(OrtDeviceAllocator, OrtMemTypeDefault);
  const Ort::Value x = Ort::Value::CreateTensor<float>(memory, ones.data(), ones.size(), sizes.data(), sizes.size());
  const char* input = "x";
  const char* output = "y";
  const std::vector<Ort::Value> outputs = session.Run(Ort::RunOptions(), &input, &x, 1, &output, 1);
  const size_t count = outputs[0].GetTensorTypeAndShapeInfo().GetElementCount();
  std::printf("y:");
  for (size_t i = 0; i < count; ++i) std::printf(" %g", outputs[0].GetTensorData<float>()[i]);
  std::printf("\n");
}

}  // namespace

int main(int count, char** arguments) {
  if (count != 3) return std::printf("example LIBRARY MODEL\n"), 2;
  try {
    Ort::Env env;
    // ONNX Runtime takes a relative path from its own folder.
    env.RegisterExecutionProviderLibrary("dimple", std::filesystem::absolute(arguments[1]).native());
    const std::vector<Ort::ConstEpDevice> devices = devicesOf(env);
    for (const Ort::ConstEpDevice& device : devices)
      std::printf("device %s: %s\n", device.EpMetadata().GetValue("index"), device.EpMetadata().GetValue("name"));
    if (devices.empty())
      return std::printf("There is no Vulkan device. DIMPLE_ONNXRUNTIME_CPU=1 asks for drivers on the CPU.\n"), 1;
    run(env, devices[0], arguments[2]);
    // After its last session.
    env.UnregisterExecutionProviderLibrary("dimple");
    return 0;
  } catch (const std::exception& error) {
    return std::printf("%s\n", error.what()), 1;
  }
}
