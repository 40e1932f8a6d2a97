#include "tests/directml/answer_sheet.h"

#include <winerror.h>

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <map>
#include <string_view>
#include <utility>
#include <vector>

namespace dimple::answers {
namespace {

std::vector<std::pair<std::string, std::string>> answers;

struct Expected {
  std::string original;
  std::string ours;
};

std::map<std::string, Expected> readExpected(const char* path) {
  std::map<std::string, Expected> expected;
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    while (!line.empty() && line.back() == '\r') line.pop_back();
    const size_t colon = line.find(": ");
    if (line.starts_with("#") || colon == line.npos) continue;
    constexpr std::string_view kOurs = " # ours: ";
    const size_t ours = line.find(kOurs);
    std::string original = line.substr(colon + 2, ours == line.npos ? line.npos : ours - colon - 2);
    std::string other = ours == line.npos ? original : line.substr(ours + kOurs.size());
    if (ours != line.npos) other.resize(std::min(other.size(), other.find("; ")));
    expected[line.substr(0, colon)] = {std::move(original), std::move(other)};
  }
  return expected;
}

}  // namespace

std::string nameOf(HRESULT code) {
  static const std::map<HRESULT, const char*> names{
      {S_OK, "S_OK"},
      {S_FALSE, "S_FALSE"},
      {E_FAIL, "E_FAIL"},
      {E_INVALIDARG, "E_INVALIDARG"},
      {E_POINTER, "E_POINTER"},
      {E_NOINTERFACE, "E_NOINTERFACE"},
      {E_NOTIMPL, "E_NOTIMPL"},
      {E_OUTOFMEMORY, "E_OUTOFMEMORY"},
      {E_UNEXPECTED, "E_UNEXPECTED"},
      {DXGI_ERROR_INVALID_CALL, "DXGI_ERROR_INVALID_CALL"},
      {DXGI_ERROR_NOT_FOUND, "DXGI_ERROR_NOT_FOUND"},
      {DXGI_ERROR_MORE_DATA, "DXGI_ERROR_MORE_DATA"},
      {DXGI_ERROR_UNSUPPORTED, "DXGI_ERROR_UNSUPPORTED"},
      {DXGI_ERROR_DEVICE_REMOVED, "DXGI_ERROR_DEVICE_REMOVED"},
      {DXGI_ERROR_DEVICE_HUNG, "DXGI_ERROR_DEVICE_HUNG"},
      {DXGI_ERROR_SDK_COMPONENT_MISSING, "DXGI_ERROR_SDK_COMPONENT_MISSING"}};
  if (const auto found = names.find(code); found != names.end()) return found->second;
  char text[16];
  std::snprintf(text, sizeof text, "0x%08x", static_cast<unsigned>(code));
  return text;
}

void answer(const std::string& name, const std::string& text) {
  answers.emplace_back(name, text);
  std::printf("%s: %s\n", name.c_str(), text.c_str());
  std::fflush(stdout);
}

size_t compare(const char* path, bool isOurs) {
  auto expected = readExpected(path);
  size_t differ = 0;
  for (const auto& [name, text] : answers) {
    const auto found = expected.find(name);
    const std::string wanted = found == expected.end() ? "nothing"
                               : isOurs                ? found->second.ours
                                                       : found->second.original;
    if (found != expected.end()) expected.erase(found);
    if (text == wanted) continue;
    ++differ;
    std::printf("DIFFERS %s: %s, expected %s\n", name.c_str(), text.c_str(), wanted.c_str());
  }
  for (const auto& [name, text] : expected) {
    ++differ;
    std::printf("DIFFERS %s: nothing, expected an answer\n", name.c_str());
  }
  std::printf("%zu answers, of which %zu differ\n", answers.size(), differ);
  return differ;
}

}  // namespace dimple::answers
