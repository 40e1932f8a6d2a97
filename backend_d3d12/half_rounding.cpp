#include "backend_d3d12/half_rounding.h"

#include <algorithm>
#include <array>
#include <memory>
#include <vector>

#include "backend_d3d12/device.h"
#include "backend_d3d12/fault.h"
#include "backend_d3d12/opened_device.h"
#include "core/plan/looks.h"

namespace dimple::d3d12 {
namespace {

DescriptorRange rangeOf(ID3D12DescriptorHeap& heap, const Device& device) {
#ifndef _MSC_VER
  // d3d12.h declares these methods with the pointer that MSVC passes.
  D3D12_CPU_DESCRIPTOR_HANDLE cpu{};
  D3D12_GPU_DESCRIPTOR_HANDLE gpu{};
  heap.GetCPUDescriptorHandleForHeapStart(&cpu);
  heap.GetGPUDescriptorHandleForHeapStart(&gpu);
#else
  const D3D12_CPU_DESCRIPTOR_HANDLE cpu = heap.GetCPUDescriptorHandleForHeapStart();
  const D3D12_GPU_DESCRIPTOR_HANDLE gpu = heap.GetGPUDescriptorHandleForHeapStart();
#endif
  return {&heap, cpu.ptr, gpu.ptr, 1, device.descriptorIncrement()};
}

Result<bool> look(Device& device) {
  auto opened = OpenedDevice::over(device.handle());
  if (!opened) return opened.error();
  std::array<uint32_t, kHalfAnswers> answers{};
  auto buffer = Buffer::create(device.handle(), sizeof answers, D3D12_HEAP_TYPE_DEFAULT);
  if (!buffer) return buffer.error();
  const auto heap = (*opened)->createDescriptorHeap(1);
  if (!heap) return heap.error();

  const Dispatch dispatch = lookAtHalves({SlotKind::Output, 0, 0, sizeof answers, true});
  auto executable = device.prepare({&dispatch, 1}, std::vector<uint32_t>(kParameterBlockBytes / sizeof(uint32_t)));
  if (!executable) return executable.error();
  auto sets = device.describe(**executable, rangeOf(*heap->Get(), device));
  if (!sets) return sets.error();
  const std::array writes{
      DescriptorWrite{0, 0, {reinterpret_cast<uintptr_t>(&(*buffer)->handle()), sizeof answers}, 0, sizeof answers}};
  TRY((*sets)->write(writes));

  const auto list = (*opened)->createList();
  if (!list) return list.error();
  ID3D12DescriptorHeap* const heaps[] = {heap->Get()};
  (*list)->SetDescriptorHeaps(1, heaps);
  device.record(reinterpret_cast<uintptr_t>(list->Get()), **executable, **sets, "rounding of FLOAT16");
  TRY(Outcome("Close", (*list)->Close()));
  const auto value = (*opened)->submit(*list->Get());
  if (!value) return value.error();
  TRY((*opened)->wait(*value));
  TRY((*opened)->download((*buffer)->handle(), 0, answers.data(), sizeof answers));
  return std::ranges::all_of(answers, [](uint32_t answer) { return answer == 1; });
}

}  // namespace

bool roundsHalves(Device& device) {
  const auto rounds = look(device);
  return rounds && *rounds;
}

}  // namespace dimple::d3d12
