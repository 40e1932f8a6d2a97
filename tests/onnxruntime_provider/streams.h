// Streams that a program makes.
#pragma once

#include <dimple.h>

#include "tests/onnxruntime_provider/host.h"

namespace dimple::testing {

class HostStream {
 public:
  explicit HostStream(const Host& host) : stream_(ort::runtime().api->ReleaseSyncStream) {
    checkHost(ort::runtime().api->CreateSyncStreamForEpDevice(&host.device(), nullptr, stream_.put()));
  }

  OrtSyncStream* get() const { return stream_.get(); }
  // What ONNX Runtime calls.
  OrtSyncStreamImpl& impl() const {
    return const_cast<OrtSyncStreamImpl&>(*ort::runtime().ep->SyncStream_GetImpl(stream_.get()));
  }
  IDimpleContext& context() const {
    return *static_cast<IDimpleContext*>(ort::runtime().api->SyncStream_GetHandle(stream_.get()));
  }

 private:
  Owned<OrtSyncStream> stream_;
};

// A notification of a stream's, as ONNX Runtime makes it between nodes.
class Notice {
 public:
  explicit Notice(OrtSyncStreamImpl& stream) { checkHost(stream.CreateNotification(&stream, &notice_)); }
  ~Notice() { notice_->Release(notice_); }
  Notice(const Notice&) = delete;

  void activate() { checkHost(notice_->Activate(notice_)); }
  void waitOnDevice(OrtSyncStream* consumer) { checkHost(notice_->WaitOnDevice(notice_, consumer)); }
  void waitOnHost() { checkHost(notice_->WaitOnHost(notice_)); }

 private:
  OrtSyncNotificationImpl* notice_ = nullptr;
};

}  // namespace dimple::testing
