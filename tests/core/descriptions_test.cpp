// What CreateOperator takes of descriptions that differ in one thing from valid ones.
#include "tests/core/descriptions.h"

#include <doctest.h>

#include <chrono>
#include <cstdlib>
#include <set>

#include "core/operation.h"
#include "core/schema/desc_text.h"
#include "tests/options.h"

#ifdef _WIN32
#include <dimple.h>
#include <windows.h>
#include <wrl/client.h>

#include <cstdio>
#include <map>

#include "core/text.h"
#include "tests/expectations.h"
#include "tests/null/null_device.h"
#endif

namespace dimple::testing {
namespace {

std::string operatorOf(const std::string& line) { return line.substr(0, line.find(' ')); }

TEST_CASE("every operator has written descriptions, which are accepted") {
  std::set<std::string> described;
  for (const std::string& line : writtenDescriptions()) {
    auto parsed = parseCase(line);
    REQUIRE_MESSAGE(parsed, line, ": ", parsed.error().text);
    const auto view = Operation::parse(parsed->desc.desc());
    CHECK_MESSAGE(view, line, ": ", view ? "" : view.error().text);
    described.insert(operatorOf(line));
  }
  for (const OpSchema* schema : allSchemas())
    CHECK_MESSAGE(described.contains(std::string(schema->name)), schema->name);
}

TEST_CASE("variations of descriptions are accepted, or refused at once with a sentence") {
  size_t refused = 0;
  size_t all = 0;
  for (const std::string& written : writtenDescriptions())
    for (const std::string& line : variationsOf(written)) {
      auto parsed = parseCase(line);
      if (!parsed) continue;
      ++all;
      const auto start = std::chrono::steady_clock::now();
      const auto view = Operation::parse(parsed->desc.desc());
      // Far above the millisecond it may take, since a test's thread can be held up.
      CHECK(std::chrono::steady_clock::now() - start < std::chrono::milliseconds(500));
      if (view) continue;
      ++refused;
      const std::string& text = view.error().text;
      CHECK_MESSAGE(view.error().code == ErrorCode::InvalidArgument, line);
      const bool sentence = text.ends_with('.') && (text.find(" (") != text.npos || text.find(" is null") != text.npos);
      CHECK_MESSAGE(sentence, line, ": ", text);
    }
  CHECK(all >= 5000);
  CHECK(refused >= all / 4);
}

#ifdef _WIN32
using Microsoft::WRL::ComPtr;

// Whether the name of the line's operator contains DIMPLE_TEST_FILTER.
bool isChosen(const std::string& line) {
  const char* filter = std::getenv("DIMPLE_TEST_FILTER");
  return !filter || operatorOf(line).find(filter) != std::string::npos;
}

// An access violation or a division by zero in the library under test ends the call, not the program.
void* resumePoint[5];
bool guarding = false;
LONG WINAPI onException(EXCEPTION_POINTERS* pointers) {
  const DWORD code = pointers->ExceptionRecord->ExceptionCode;
  if (!guarding || (code != EXCEPTION_ACCESS_VIOLATION && code != EXCEPTION_INT_DIVIDE_BY_ZERO))
    return EXCEPTION_CONTINUE_SEARCH;
  guarding = false;
  __builtin_longjmp(resumePoint, 1);
}

std::string createOn(IDMLDevice& device, const DML_OPERATOR_DESC& desc) {
  if (__builtin_setjmp(resumePoint) != 0) return "crashes";
  guarding = true;
  ComPtr<IDMLOperator> op;
  const HRESULT result = device.CreateOperator(&desc, __uuidof(IDMLOperator), &op);
  guarding = false;
  if (SUCCEEDED(result)) return "accepts";
  return result == E_INVALIDARG ? "refuses" : cat("answers ", static_cast<uint32_t>(result));
}

// Microsoft's DLL calls std::terminate, which nothing here survives, for some null arrays, for FOLD and UNFOLD of more
// dimensions than there are, and for QUANTIZE and DEQUANTIZE of tensors that differ in them. By our refusal.
bool endsTheProcess(const std::string& refusal) {
  const auto contains = [&](const char* part) { return refusal.find(part) != refusal.npos; };
  return (contains(" is null, expected ") && contains(" values (")) ||
         (contains("DimensionCount has value") && contains("the spatial dimensions of") && contains("FOLD")) ||
         (contains("QUANTIZE: ") && contains(" has DimensionCount ("));
}

// Another DirectML.dll over the first adapter.
ComPtr<IDMLDevice> openDll(const std::string& path) {
  const auto procedure = [](const char* library, const char* name) {
    const HMODULE module = LoadLibraryA(library);
    REQUIRE_MESSAGE(module, library);
    return reinterpret_cast<void*>(GetProcAddress(module, name));
  };
  using CreateDevice = HRESULT(WINAPI*)(IUnknown*, D3D_FEATURE_LEVEL, REFIID, void**);
  using CreateDml = HRESULT(WINAPI*)(ID3D12Device*, DML_CREATE_DEVICE_FLAGS, DML_FEATURE_LEVEL, REFIID, void**);
  const auto createDevice = reinterpret_cast<CreateDevice>(procedure("d3d12.dll", "D3D12CreateDevice"));
  const auto createDml = reinterpret_cast<CreateDml>(procedure(path.c_str(), "DMLCreateDevice1"));
  ComPtr<ID3D12Device> device;
  REQUIRE(createDevice(nullptr, D3D_FEATURE_LEVEL_11_0, __uuidof(ID3D12Device), &device) == S_OK);
  ComPtr<IDMLDevice> dml;
  REQUIRE(createDml(device.Get(), DML_CREATE_DEVICE_FLAG_NONE, DML_FEATURE_LEVEL_6_4, __uuidof(IDMLDevice), &dml) ==
          S_OK);
  return dml;
}

TEST_CASE("dll: it accepts and refuses the same descriptions") {
  const TestOptions& options = testOptions();
  std::string error;
  Expectations expectations;
  if (!options.expectFailures.empty()) {
    auto read = Expectations::read(options.expectFailures, error);
    REQUIRE_MESSAGE(read, error);
    expectations = std::move(*read);
  }
  const auto device = openDll(options.dll);
  const auto dimple = createNullDevice();
  AddVectoredExceptionHandler(1, onException);
  std::map<std::string, size_t> disagreements;
  std::set<std::string> seen;
  size_t all = 0;
  size_t accepted = 0;
  size_t listed = 0;
  const auto compare = [&](const std::string& line) {
    if (!seen.insert(line).second) return;
    auto parsed = parseCase(line);
    if (!parsed) return;
    ++all;
    const auto view = Operation::parse(parsed->desc.desc());
    const bool fatal = !view && endsTheProcess(cat(operatorOf(line), ": ", view.error().text));
    const std::string theirs = fatal ? "crashes" : createOn(*device.Get(), parsed->desc.desc());
    const std::string ours = createOn(*dimple.Get(), parsed->desc.desc());
    CHECK_MESSAGE(ours == (view ? "accepts" : "refuses"), line);
    accepted += theirs == "accepts";
    std::string failure = (theirs == "accepts") == (ours == "accepts") ? "" : "disagrees";
    if (expectations.apply(cat(theirs, " ", line), failure)) ++listed;
    if (failure.empty()) return;
    if (disagreements[operatorOf(line)]++ < 40)
      std::printf("%s %s\n      %s\n", theirs.c_str(), line.c_str(),
                  view ? "accepted here" : view.error().text.c_str());
  };
  for (const std::string& written : writtenDescriptions()) {
    if (!isChosen(written)) continue;
    compare(written);
    for (const std::string& line : variationsOf(written)) compare(line);
  }
  for (const std::string& line : refusedDescriptions())
    if (isChosen(line)) compare(line);
  size_t total = 0;
  for (const auto& [name, count] : disagreements) {
    std::printf("%6zu disagreements: %s\n", count, name.c_str());
    total += count;
  }
  std::printf("dll: %zu descriptions, %zu accepted there, %zu disagreements, %zu more as listed\n", all, accepted,
              total, listed);
  CHECK(total == 0);
  if (!std::getenv("DIMPLE_TEST_FILTER"))
    for (const std::string& line : expectations.unused()) FAIL_CHECK("No description differs as listed: ", line);
}
#endif

}  // namespace
}  // namespace dimple::testing
