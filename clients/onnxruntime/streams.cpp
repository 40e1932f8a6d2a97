#include "clients/onnxruntime/streams.h"

namespace dimple::ort {
namespace {

Stream& streamOf(OrtSyncStreamImpl* self) { return *static_cast<Stream*>(self); }

// The place of what was submitted before it was activated.
struct Notification : OrtSyncNotificationImpl {
  explicit Notification(Device& given);

  void activate() { point = device.submissions().mark(); }
  void waitOnHost() {
    if (point == 0) throw StatusError(ORT_INVALID_ARGUMENT, "A notification that was not activated is waited for.");
    device.submissions().wait(point);
  }
  // The order of one queue is enough; elsewhere the host waits.
  void waitOnDevice(const OrtSyncStream* consumer) {
    const Stream* const stream = Stream::of(consumer);
    if (point == 0 || !stream || &stream->device != &device)
      waitOnHost();
    else
      device.check();
  }

  Device& device;
  std::atomic<UINT64> point = 0;
};

Notification& notificationOf(OrtSyncNotificationImpl* self) { return *static_cast<Notification*>(self); }

void* ORT_API_CALL handleOf(OrtSyncStreamImpl* self) noexcept { return &streamOf(self).device.context(); }

OrtStatus* ORT_API_CALL createNotification(OrtSyncStreamImpl* self, OrtSyncNotificationImpl** made) noexcept {
  *made = nullptr;
  return guarded([&] { *made = new Notification(streamOf(self).device); });
}

}  // namespace

Notification::Notification(Device& given) : OrtSyncNotificationImpl{}, device(given) {
  ort_version_supported = ORT_API_VERSION;
  Release = [](OrtSyncNotificationImpl* self) noexcept { delete &notificationOf(self); };
  Activate = [](OrtSyncNotificationImpl* self) noexcept { return guarded([&] { notificationOf(self).activate(); }); };
  WaitOnDevice = [](OrtSyncNotificationImpl* self, OrtSyncStream* consumer) noexcept {
    return guarded([&] { notificationOf(self).waitOnDevice(consumer); });
  };
  WaitOnHost = [](OrtSyncNotificationImpl* self) noexcept {
    return guarded([&] { notificationOf(self).waitOnHost(); });
  };
}

Stream::Stream(Device& given, Kind kind) : OrtSyncStreamImpl{}, device(given), kind_(kind) {
  ort_version_supported = ORT_API_VERSION;
  Release = [](OrtSyncStreamImpl* self) noexcept { delete &streamOf(self); };
  GetHandle = handleOf;
  CreateNotification = createNotification;
  Flush = [](OrtSyncStreamImpl* self) noexcept { return guarded([&] { streamOf(self).flush(); }); };
  OnSessionRunEnd = [](OrtSyncStreamImpl*) noexcept -> OrtStatus* { return nullptr; };
}

Stream* Stream::of(const OrtSyncStream* stream) {
  const OrtSyncStreamImpl* const found = stream ? runtime().ep->SyncStream_GetImpl(stream) : nullptr;
  if (!found || found->GetHandle != handleOf) return nullptr;
  return static_cast<Stream*>(const_cast<OrtSyncStreamImpl*>(found));
}

void Stream::addHostCopy(UINT64 fence) {
  UINT64 last = hostCopies_;
  while (last < fence && !hostCopies_.compare_exchange_weak(last, fence)) {
  }
}

void Stream::flush() {
  if (kind_ == Kind::Program) return device.check();
  if (const UINT64 last = hostCopies_.exchange(0)) device.submissions().wait(last);
}

}  // namespace dimple::ort
