// A small convolutional network and a block of a transformer, written with DirectMLX and compared with plain loops.
// With the argument d3d12 on Direct3D 12, else on Vulkan.
#include <dimple.h>

#include <DirectMLX.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

using Microsoft::WRL::ComPtr;
using Floats = std::vector<float>;

static void check(HRESULT result) {
  if (FAILED(result)) std::printf("%s\n", dimpleGetLastMessage()), std::exit(1);
}

// The same numbers in every run, from -0.5 to 0.5.
static Floats numbers(size_t count, unsigned seed) {
  Floats values(count);
  for (float& value : values) {
    seed = seed * 1664525u + 1013904223u;
    value = static_cast<float>(seed >> 8) / 16777216.0f - 0.5f;
  }
  return values;
}

// Runs a compiled graph of one input and one output.
class Runner {
 public:
  explicit Runner(DimpleBackend backend) {
    DimpleContextDesc desc{};
    desc.Backend = backend;
    check(dimpleCreateContext(&desc, IID_PPV_ARGS(&context_)));
    check(context_->GetDevice(IID_PPV_ARGS(&device_)));
    check(device_->CreateCommandRecorder(IID_PPV_ARGS(&recorder_)));
  }
  IDMLDevice* device() const { return device_.Get(); }

  Floats run(IDMLCompiledOperator* graph, const Floats& input, size_t outputs) {
    const DML_BINDING_PROPERTIES needs = dimpleGetBindingProperties(graph);
    ComPtr<IDMLOperatorInitializer> initializer;
    check(device_->CreateOperatorInitializer(1, &graph, IID_PPV_ARGS(&initializer)));
    const DML_BINDING_PROPERTIES initNeeds = dimpleGetBindingProperties(initializer.Get());
    const UINT initCount = initNeeds.RequiredDescriptorCount;
    ComPtr<ID3D12DescriptorHeap> heap;
    check(context_->CreateDescriptorHeap(initCount + needs.RequiredDescriptorCount + 1, &heap));
    ComPtr<ID3D12GraphicsCommandList> list;
    check(context_->CreateCommandList(&list));
    ID3D12DescriptorHeap* const heaps[] = {heap.Get()};
    list->SetDescriptorHeaps(1, heaps);
    const auto table = [&](IDMLDispatchable* dispatchable, UINT first, UINT count) {
      DML_BINDING_TABLE_DESC desc{dispatchable, dimpleGetCPUStart(heap.Get()), dimpleGetGPUStart(heap.Get()), count};
      desc.CPUDescriptorHandle.ptr += first * context_->GetDescriptorIncrement();
      desc.GPUDescriptorHandle.ptr += first * context_->GetDescriptorIncrement();
      ComPtr<IDMLBindingTable> made;
      check(device_->CreateBindingTable(&desc, IID_PPV_ARGS(&made)));
      return made;
    };
    const auto initTable = table(initializer.Get(), 0, initCount);
    const auto runTable = table(graph, initCount, needs.RequiredDescriptorCount);
    const Buffer persistent = buffer(needs.PersistentResourceSize);
    const Buffer temporary = buffer(needs.TemporaryResourceSize);
    const Buffer initTemporary = buffer(initNeeds.TemporaryResourceSize);
    const Buffer in = buffer(input.size() * 4);
    const Buffer out = buffer(outputs * 4);
    check(context_->Upload(in.resource.Get(), 0, input.data(), input.size() * 4));
    const DML_BINDING_DESC persistentDesc = persistent.desc();
    const DML_BINDING_DESC temporaryDesc = temporary.desc();
    const DML_BINDING_DESC initTemporaryDesc = initTemporary.desc();
    const DML_BINDING_DESC inDesc = in.desc();
    const DML_BINDING_DESC outDesc = out.desc();
    initTable->BindOutputs(1, &persistentDesc);
    initTable->BindTemporaryResource(&initTemporaryDesc);
    runTable->BindInputs(1, &inDesc);
    runTable->BindOutputs(1, &outDesc);
    runTable->BindPersistentResource(&persistentDesc);
    runTable->BindTemporaryResource(&temporaryDesc);
    recorder_->RecordDispatch(list.Get(), initializer.Get(), initTable.Get());
    D3D12_RESOURCE_BARRIER barrier{};
    barrier.Type = D3D12_RESOURCE_BARRIER_TYPE_UAV;
    list->ResourceBarrier(1, &barrier);
    recorder_->RecordDispatch(list.Get(), graph, runTable.Get());
    check(list->Close());
    UINT64 fence = 0;
    check(context_->Execute(list.Get(), &fence));
    Floats result(outputs);
    check(context_->Download(out.resource.Get(), 0, result.data(), outputs * 4));
    return result;
  }

 private:
  struct Buffer {
    ComPtr<ID3D12Resource> resource;
    DML_BUFFER_BINDING binding{};
    DML_BINDING_DESC desc() const {
      return resource ? DML_BINDING_DESC{DML_BINDING_TYPE_BUFFER, &binding} : DML_BINDING_DESC{};
    }
  };
  Buffer buffer(UINT64 bytes) {
    Buffer made;
    if (bytes == 0) return made;
    check(context_->CreateBuffer(bytes, &made.resource));
    made.binding = {made.resource.Get(), 0, bytes};
    return made;
  }

  ComPtr<IDimpleContext> context_;
  ComPtr<IDMLDevice> device_;
  ComPtr<IDMLCommandRecorder> recorder_;
};

static dml::Expression constant(dml::Graph& graph, const Floats& values, dml::TensorDimensions sizes) {
  const auto* bytes = reinterpret_cast<const dml::Byte*>(values.data());
  return dml::ConstantData(graph, dml::Span<const dml::Byte>(bytes, values.size() * sizeof(float)),
                           dml::TensorDesc(DML_TENSOR_DATA_TYPE_FLOAT32, std::move(sizes)));
}

static Floats softmax(Floats values) {
  const float most = *std::max_element(values.begin(), values.end());
  float sum = 0;
  for (float& value : values) sum += value = std::exp(value - most);
  for (float& value : values) value /= sum;
  return values;
}

static int compare(const char* name, const Floats& got, const Floats& expected) {
  float worst = 0;
  for (size_t i = 0; i < expected.size(); ++i) worst = std::max(worst, std::abs(got[i] - expected[i]));
  std::printf("%s: %zu numbers, the largest error is %g\n", name, expected.size(), static_cast<double>(worst));
  return worst < 1e-5f ? 0 : 1;
}

// softmax(W * flatten(maxpool(relu(convolve(x, F) + b)))) of an 8 x 8 image.
static int network(Runner& runner) {
  constexpr unsigned kSize = 8, kFilters = 4, kPooled = kSize / 2, kClasses = 10;
  const Floats image = numbers(kSize * kSize, 1), filters = numbers(kFilters * 9, 2), bias = numbers(kFilters, 3),
               weights = numbers(kFilters * kPooled * kPooled * kClasses, 4);
  dml::Graph graph(runner.device());
  const auto x = dml::InputTensor(graph, 0, dml::TensorDesc(DML_TENSOR_DATA_TYPE_FLOAT32, {1, 1, kSize, kSize}));
  const uint32_t one[] = {1, 1}, two[] = {2, 2};
  auto y = dml::ConvolutionBuilder(x, constant(graph, filters, {kFilters, 1, 3, 3}),
                                   constant(graph, bias, {1, kFilters, 1, 1}))
               .StartPadding(one)
               .EndPadding(one)
               .Build();
  y = dml::ActivationRelu(y);
  y = dml::MaxPoolingBuilder(y, two).Strides(two).Build().values;
  y = dml::Reinterpret(y, {1, 1, 1, kFilters * kPooled * kPooled}, dml::NullOpt);
  y = dml::Gemm(y, constant(graph, weights, {1, 1, kFilters * kPooled * kPooled, kClasses}));
  y = dml::ActivationSoftmax(y);
  const dml::Expression results[] = {y};
  const auto compiled = graph.Compile(DML_EXECUTION_FLAG_NONE, results);

  Floats pooled(kFilters * kPooled * kPooled, 0.0f);
  for (unsigned f = 0; f < kFilters; ++f)
    for (unsigned row = 0; row < kSize; ++row)
      for (unsigned column = 0; column < kSize; ++column) {
        float sum = bias[f];
        for (unsigned i = 0; i < 3; ++i)
          for (unsigned j = 0; j < 3; ++j) {
            const unsigned r = row + i - 1, c = column + j - 1;  // -1 wraps to beyond the image
            if (r < kSize && c < kSize) sum += image[r * kSize + c] * filters[(f * 3 + i) * 3 + j];
          }
        float& largest = pooled[(f * kPooled + row / 2) * kPooled + column / 2];
        largest = std::max(largest, sum);
      }
  Floats expected(kClasses, 0.0f);
  for (size_t i = 0; i < pooled.size(); ++i)
    for (unsigned c = 0; c < kClasses; ++c) expected[c] += pooled[i] * weights[i * kClasses + c];
  return compare("convolutional network", runner.run(compiled.Get(), image, kClasses), softmax(expected));
}

// normalize(x + softmax(Q K^T / sqrt(d)) V) with Q, K and V products of x and weights.
static int block(Runner& runner) {
  constexpr unsigned kTokens = 6, kWidth = 16;
  const Floats tokens = numbers(kTokens * kWidth, 5);
  const Floats weights[] = {numbers(kWidth * kWidth, 6), numbers(kWidth * kWidth, 7), numbers(kWidth * kWidth, 8)};
  const float scale = 1.0f / std::sqrt(float{kWidth});
  dml::Graph graph(runner.device());
  const auto x = dml::InputTensor(graph, 0, dml::TensorDesc(DML_TENSOR_DATA_TYPE_FLOAT32, {1, 1, kTokens, kWidth}));
  const auto projected = [&](int i) { return dml::Gemm(x, constant(graph, weights[i], {1, 1, kWidth, kWidth})); };
  const auto scores =
      dml::GemmBuilder(projected(0), projected(1)).TransB(DML_MATRIX_TRANSFORM_TRANSPOSE).Alpha(scale).Build();
  const uint32_t last[] = {3};
  auto y = x + dml::Gemm(dml::ActivationSoftmax(scores, last), projected(2));
  y = dml::MeanVarianceNormalization(y, dml::NullOpt, dml::NullOpt, last, true, true, 1e-5f);
  const dml::Expression results[] = {y};
  const auto compiled = graph.Compile(DML_EXECUTION_FLAG_NONE, results);

  Floats parts[3];
  for (int p = 0; p < 3; ++p) {
    parts[p].assign(kTokens * kWidth, 0.0f);
    for (unsigned t = 0; t < kTokens; ++t)
      for (unsigned k = 0; k < kWidth; ++k)
        for (unsigned w = 0; w < kWidth; ++w)
          parts[p][t * kWidth + w] += tokens[t * kWidth + k] * weights[p][k * kWidth + w];
  }
  Floats expected = tokens;
  for (unsigned t = 0; t < kTokens; ++t) {
    Floats row(kTokens, 0.0f);
    for (unsigned other = 0; other < kTokens; ++other) {
      for (unsigned w = 0; w < kWidth; ++w) row[other] += parts[0][t * kWidth + w] * parts[1][other * kWidth + w];
      row[other] *= scale;
    }
    row = softmax(row);
    float* sums = &expected[t * kWidth];
    for (unsigned other = 0; other < kTokens; ++other)
      for (unsigned w = 0; w < kWidth; ++w) sums[w] += row[other] * parts[2][other * kWidth + w];
    float mean = 0, variance = 0;
    for (unsigned w = 0; w < kWidth; ++w) mean += sums[w] / kWidth;
    for (unsigned w = 0; w < kWidth; ++w) variance += (sums[w] - mean) * (sums[w] - mean) / kWidth;
    for (unsigned w = 0; w < kWidth; ++w) sums[w] = (sums[w] - mean) / std::sqrt(variance + 1e-5f);
  }
  return compare("transformer block", runner.run(compiled.Get(), tokens, expected.size()), expected);
}

int main(int argc, char** argv) {
  const bool onD3d12 = argc > 1 && std::string(argv[1]) == "d3d12";
  Runner runner(onD3d12 ? DIMPLE_BACKEND_D3D12 : DIMPLE_BACKEND_VULKAN);
  return network(runner) + block(runner);
}
