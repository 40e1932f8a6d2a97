// What a DirectML.dll has answered, each with the name of its question, and how it compares with what was expected.
#pragma once

#include <windows.h>

#include <cstddef>
#include <string>

namespace dimple::answers {

// Of a code; its number if it has none here.
std::string nameOf(HRESULT code);

// Keeps an answer, and prints it.
void answer(const std::string& name, const std::string& text);

// How many answers differ from those of a file, or are on one side only. `isOurs`: the file's other answers are
// expected where it has such.
size_t compare(const char* path, bool isOurs);

}  // namespace dimple::answers
