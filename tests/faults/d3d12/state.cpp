#include "tests/faults/d3d12/state.h"

#include <algorithm>
#include <string_view>

#include "tests/faults/layer/faults.h"

namespace dimple::faults {
namespace {

#define DIMPLE_NAME(type, method, ...) #type "::" #method,
constexpr std::string_view kCallNames[] = {"D3D12CreateDevice", "D3D12SerializeRootSignature",
                                           DIMPLE_D3D12_METHODS(DIMPLE_NAME, DIMPLE_NAME, DIMPLE_NAME)};
#undef DIMPLE_NAME
#define DIMPLE_NAME(type) #type,
constexpr std::string_view kObjectNames[] = {DIMPLE_D3D12_CLASSES(DIMPLE_NAME)};
#undef DIMPLE_NAME

// Without a device to lose.
#define DIMPLE_FALSE(...) false,
#define DIMPLE_TRUE(...) true,
constexpr bool kAsksDevice[] = {false, false, DIMPLE_D3D12_METHODS(DIMPLE_TRUE, DIMPLE_TRUE, DIMPLE_FALSE)};
#undef DIMPLE_FALSE
#undef DIMPLE_TRUE

constexpr std::pair<std::string_view, HRESULT> kResults[] = {
    {"E_OUTOFMEMORY", E_OUTOFMEMORY}, {"E_FAIL", E_FAIL}, {"DXGI_ERROR_DEVICE_REMOVED", DXGI_ERROR_DEVICE_REMOVED}};

template <class Enum>
constexpr size_t at(Enum value) {
  return static_cast<size_t>(value);
}

}  // namespace

State& State::get() {
  static State state;
  return state;
}

bool State::arm(const char* function, uint32_t call, const char* result) {
  Call id = Call::Count;
  for (size_t i = 0; function && i < std::size(kCallNames); ++i)
    if (function == kCallNames[i]) id = static_cast<Call>(i);
  std::string_view wanted = function ? result : "";
  const bool lasting = wanted.ends_with('+');
  if (lasting) wanted.remove_suffix(1);
  HRESULT code = S_OK;
  for (const auto& [name, value] : kResults)
    if (wanted == name) code = value;
  if (function && (id == Call::Count || code == S_OK || call == 0)) return false;
  const std::lock_guard lock(mutex_);
  armed_ = id;
  armedCall_ = call;
  armedResult_ = code;
  lasting_ = lasting;
  injected_ = lost_ = false;
  calls_ = {};
  misuses_.clear();
  return true;
}

HRESULT State::enter(Call call, bool& loses) {
  const std::lock_guard lock(mutex_);
  const bool hit = ++calls_[at(call)] == armedCall_ && call == armed_;
  const bool asksDevice = kAsksDevice[at(call)];
  injected_ |= hit;
  loses = hit && asksDevice && armedResult_ == DXGI_ERROR_DEVICE_REMOVED;
  if (loses || (lost_ && asksDevice))
    return call == Call::ID3D12Device_GetDeviceRemovedReason ? DXGI_ERROR_DEVICE_HUNG : DXGI_ERROR_DEVICE_REMOVED;
  // Why a device was removed is no call that fails.
  if (lasting_ && injected_ && call != Call::ID3D12Device_GetDeviceRemovedReason) return armedResult_;
  return hit ? armedResult_ : S_OK;
}

// Nothing executes on a lost device.
void State::lose() {
  const std::lock_guard lock(mutex_);
  lost_ = true;
  known_ = executed_;
}

bool State::lost() {
  const std::lock_guard lock(mutex_);
  return lost_;
}

void State::created(Object object, void* pointer) {
  const std::lock_guard lock(mutex_);
  live_[at(object)].insert(pointer);
  if (object != Object::ID3D12Device) return;
  // What an earlier device left executing is none of this one's.
  known_ = executed_;
  signalled_.clear();
  waited_ = 0;
}

void State::mapped(void* resource) {
  const std::lock_guard lock(mutex_);
  mappedResources_.insert(resource);
}

bool State::isUsedByDevice(Object object, void* pointer) {
  switch (object) {
    case Object::ID3D12Resource:  // others are the program's, which has to wait
      return mappedResources_.contains(pointer);
    case Object::ID3D12CommandQueue:
    case Object::ID3D12CommandAllocator:
    case Object::ID3D12Fence:
    case Object::ID3D12QueryHeap:
    case Object::ID3D12RootSignature:
    case Object::ID3D12PipelineState:
      return true;
    default:
      return false;
  }
}

void State::destroyed(Object object, void* pointer, bool executing) {
  const std::lock_guard lock(mutex_);
  if (live_[at(object)].erase(pointer) == 0) return;
  if (executing && isUsedByDevice(object, pointer))
    misuses_.push_back("An " + std::string(kObjectNames[at(object)]) + " was released while work may execute.");
  if (object == Object::ID3D12Resource) mappedResources_.erase(pointer);
  if (object == Object::ID3D12GraphicsCommandList) badLists_.erase(pointer);
}

std::vector<void*> State::live(Object object) {
  const std::lock_guard lock(mutex_);
  return {live_[at(object)].begin(), live_[at(object)].end()};
}

bool State::executing() {
  const std::lock_guard lock(mutex_);
  return known_ < executed_;
}

void State::executed(const std::vector<void*>& lists) {
  const std::lock_guard lock(mutex_);
  ++executed_;
  for (void* const list : lists)
    if (badLists_.contains(list)) misuses_.emplace_back("A list was executed that could not be recorded.");
}

void State::signalled(uint64_t value) {
  const std::lock_guard lock(mutex_);
  signalled_[value] = executed_;
}

void State::reached(uint64_t value) {
  const std::lock_guard lock(mutex_);
  waited_ = std::max(waited_, value);
  const auto after = signalled_.upper_bound(value);
  if (after != signalled_.begin()) known_ = std::max(known_, std::prev(after)->second);
}

uint64_t State::waited() {
  const std::lock_guard lock(mutex_);
  return waited_;
}

void State::recorded(void* list, bool good) {
  const std::lock_guard lock(mutex_);
  if (good)
    badLists_.erase(list);
  else
    badLists_.insert(list);
}

std::string State::report() {
  const std::lock_guard lock(mutex_);
  std::string text;
  for (size_t i = 0; i < calls_.size(); ++i)
    if (calls_[i]) text += "reached " + std::string(kCallNames[i]) + " " + std::to_string(calls_[i]) + "\n";
  for (size_t i = 0; i < live_.size(); ++i)
    if (!live_[i].empty())
      text += "live " + std::string(kObjectNames[i]) + " " + std::to_string(live_[i].size()) + "\n";
  if (injected_) text += "injected\n";
  for (const std::string& sentence : misuses_) text += "misuse " + sentence + "\n";
  return text;
}

}  // namespace dimple::faults

bool dimpleFaultsArm(const char* function, uint32_t call, const char* result) {
  return dimple::faults::State::get().arm(function, call, result);
}

const char* dimpleFaultsReport() {
  static std::string text;
  text = dimple::faults::State::get().report();
  return text.c_str();
}
