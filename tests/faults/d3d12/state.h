// What the injector is to do, and what it saw.
#pragma once

#include <array>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "backend_d3d12/d3d12.h"
#include "tests/faults/d3d12/methods.h"

namespace dimple::faults {

// Thread-safe.
class State {
 public:
  static State& get();

  bool arm(const char* function, uint32_t call, const char* result);
  std::string report();

  // Counts a call, and says what it answers instead of doing anything; S_OK: nothing. `loses`: with that answer the
  // device is lost, once lose() was called.
  HRESULT enter(Call call, bool& loses);
  void lose();
  bool lost();
  bool injected();

  void created(Object object, void* pointer);
  // Only Dimple maps buffers, before the device uses them.
  void mapped(void* resource);
  // The last reference went. `executing`: what executing() was before.
  void destroyed(Object object, void* pointer, bool executing);
  std::vector<void*> live(Object object);

  // Whether work was submitted that the program does not know to be done.
  bool executing();
  void executed(const std::vector<void*>& lists);
  void signalled(uint64_t value);
  void reached(uint64_t value);
  // The highest value that the program waited for.
  uint64_t waited();
  // A list that could not be closed or opened must not be executed.
  void recorded(void* list, bool good);

 private:
  bool isUsedByDevice(Object object, void* pointer);

  std::mutex mutex_;
  Call armed_ = Call::Count;
  uint32_t armedCall_ = 0;
  HRESULT armedResult_ = S_OK;
  bool lasting_ = false, injected_ = false, lost_ = false;
  std::array<uint32_t, static_cast<size_t>(Call::Count)> calls_{};
  std::array<std::set<void*>, static_cast<size_t>(Object::Count)> live_;
  std::set<void*> mappedResources_, badLists_;
  uint64_t waited_ = 0;
  uint64_t executed_ = 0, known_ = 0;       // submissions, and those known to be done
  std::map<uint64_t, uint64_t> signalled_;  // submissions before each value of the fence
  std::vector<std::string> misuses_;
};

}  // namespace dimple::faults
