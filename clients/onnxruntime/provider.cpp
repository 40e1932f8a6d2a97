#include "clients/onnxruntime/provider.h"

#include <array>

#include "clients/onnx/control_flow.h"
#include "clients/onnx/text.h"
#include "clients/onnxruntime/claims.h"
#include "clients/onnxruntime/graph_reader.h"
#include "clients/onnxruntime/streams.h"

namespace dimple::ort {

using onnx::cat;

namespace {

Provider& providerOf(OrtEp* self) { return *static_cast<Provider*>(self); }

const char* ORT_API_CALL nameOfProvider(const OrtEp*) noexcept { return kProviderName; }

std::string typeOf(const OrtNode& node) {
  const char* type = nullptr;
  check(runtime().api->Node_GetOperatorType(&node, &type));
  return type;
}

// An EPContext node that a provider of this name made.
bool isContextOfOurs(const OrtGraph& graph, const OrtNode& node) {
  if (typeOf(node) != "EPContext") return false;
  const onnx::ModelDescription model = describeNodes(graph, std::array{&node});
  for (const onnx::Attribute& attribute : model.graph.nodes[0]->attributes)
    if (attribute.name == "source") return attribute.text == kProviderName;
  return false;
}

void addGroups(Provider& provider, const OrtGraph& graph, OrtEpGraphSupportInfo& info) {
  OrtNodeFusionOptions fusion{};
  fusion.ort_version_supported = ORT_API_VERSION;
  fusion.drop_constant_initializers = true;
  const OrtEpApi& ep = *runtime().ep;
  // A branch or body runs with the node that it belongs to, if that can be taken as a whole.
  const OrtNode* parent = nullptr;
  check(runtime().api->Graph_GetParentNode(&graph, &parent));
  if (parent && claimsControlFlow(*parent, graph, provider.device.dml())) return;
  const Shapes shapes = provider.options.isFallbackAllowed ? Shapes::Left : Shapes::Taken;
  for (const auto& group : claim(graph, provider.device.dml(), shapes))
    check(ep.EpGraphSupportInfo_AddNodesToFuse(&info, group.data(), group.size(), &fusion));
  for (const OrtNode* node : nodesOf(graph))
    if (isContextOfOurs(graph, *node)) check(ep.EpGraphSupportInfo_AddNodesToFuse(&info, &node, 1, &fusion));
}

OrtStatus* ORT_API_CALL getCapability(OrtEp* self, const OrtGraph* graph, OrtEpGraphSupportInfo* info) noexcept {
  return guarded([&] { addGroups(providerOf(self), *graph, *info); });
}

OrtStatus* ORT_API_CALL compile(OrtEp* self, const OrtGraph** graphs, const OrtNode** fused, size_t count,
                                OrtNodeComputeInfo** infos, OrtNode**) noexcept {
  return guarded([&] {
    Provider& provider = providerOf(self);
    const ComputeOptions options{
        provider.options.halfPrecision ? DML_EXECUTION_FLAG_ALLOW_HALF_PRECISION_COMPUTATION : DML_EXECUTION_FLAG_NONE,
        provider.options.programBytes, provider.trace.get()};
    for (size_t i = 0; i < count; ++i) {
      for (const OrtNode* node : nodesOf(*graphs[i]))
        if (typeOf(*node) == "EPContext")
          throw StatusError(ORT_NOT_IMPLEMENTED,
                            "Dimple's execution provider neither makes nor reads EPContext models; use the model that "
                            "it was made from.");
      // ONNX Runtime releases those that are there when a later one fails.
      infos[i] = new Group(*graphs[i], *fused[i], provider.adapters, provider.device, options);
    }
  });
}

void ORT_API_CALL releaseInfos(OrtEp*, OrtNodeComputeInfo** infos, size_t count) noexcept {
  for (size_t i = 0; i < count; ++i) delete static_cast<Group*>(infos[i]);
}

OrtStatus* ORT_API_CALL isConcurrentRunSupported(OrtEp*, bool* is) noexcept {
  *is = true;
  return nullptr;
}

OrtStatus* ORT_API_CALL sync(OrtEp* self) noexcept {
  return guarded([&] { providerOf(self).device.wait(); });
}

// On the device that the session was made for, which may not be the adapter's last.
OrtStatus* ORT_API_CALL createStream(OrtEp* self, const OrtMemoryDevice*, OrtSyncStreamImpl** made) noexcept {
  *made = nullptr;
  return guarded([&] { *made = new Stream(providerOf(self).device, Stream::Kind::Session); });
}

// For a session, and for each run that is profiled by itself; what ONNX Runtime does not profile is not timed.
OrtStatus* ORT_API_CALL createProfiler(OrtEp*, OrtEpProfilerImpl** made) noexcept {
  *made = nullptr;
  return guarded([&] { *made = new Profiler(); });
}

std::unique_ptr<TraceFile> openTrace(const std::string& path, const Adapter& adapter, Device& device) {
  if (path.empty()) return nullptr;
  if (const std::string& refusal = device.timingRefusal(); !refusal.empty())
    throw StatusError(ORT_NOT_IMPLEMENTED, cat("Dimple's option trace is \"", path, "\". ", refusal));
  return std::make_unique<TraceFile>(path, adapter.text());
}

}  // namespace

Provider::Provider(const Adapters& all, Adapter& adapter, const Options& given)
    : OrtEp{},
      adapters(all),
      device(adapter.open(given.pipelineCache)),
      options(given),
      trace(openTrace(given.trace, adapter, device)) {
  ort_version_supported = ORT_API_VERSION;
  GetName = nameOfProvider;
  GetCapability = getCapability;
  Compile = compile;
  ReleaseNodeComputeInfos = releaseInfos;
  IsConcurrentRunSupported = isConcurrentRunSupported;
  Sync = sync;
  CreateSyncStreamForDevice = createStream;
  CreateProfiler = createProfiler;
}

}  // namespace dimple::ort
