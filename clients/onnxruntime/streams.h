// Streams of ONNX Runtime's, and points in them.
#pragma once

#include <atomic>

#include "clients/onnxruntime/device.h"
#include "clients/onnxruntime/runtime.h"

namespace dimple::ort {

// A device has one queue, which its streams share: what is submitted to one comes after all that was submitted to any
// before. Its handle is the device's IDimpleContext, whose lists are executed in that order, too.
struct Stream : OrtSyncStreamImpl {
  enum class Kind {
    Session,  // ONNX Runtime's own, in runs
    Program,  // somebody else's, who asks when it is done
  };
  Stream(Device& device, Kind kind);

  // That of this provider which ONNX Runtime calls so; null: it is another provider's, or `stream` is null.
  static Stream* of(const OrtSyncStream* stream);

  // A copy that the host sees, or changes the source of, once `fence` is reached.
  void addHostCopy(UINT64 fence);
  // What is recorded is submitted at once. A session's waits for the host's copies besides, as its run ends with it.
  void flush();

  Device& device;

 private:
  const Kind kind_;
  std::atomic<UINT64> hostCopies_ = 0;  // the last
};

}  // namespace dimple::ort
