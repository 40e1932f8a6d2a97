// What SPIRV-Cross leaves open in the HLSL it writes.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "tools/kernelgen/reflect.h"

namespace kernelgen {

// Of a specialization constant: the word of the buffer, and the line that says what the constant is, up to that.
std::string specializationMember(uint32_t id);
std::string specializationMacro(uint32_t id);

// Gives every resource the register that the Direct3D 12 back end binds it to:
//   b0 space0  push words
//   b1 space0  specialization constants, a word each in ascending order of their ids
//   b0 space1  parameter block
//   u<n> space0  storage buffer n
// Buffers that are views of one become one. The constants that `literals` names, by id, become literals.
// Throws Error when the text has what cannot be bound so; `kernel` names it in the sentence.
std::string bindHlsl(const std::string& hlsl, const Interface& interface, const std::string& kernel,
                     const std::map<uint32_t, std::string>& literals);

// Whether the HLSL that bindHlsl made has products of 64 bits, and the same with those of 64-bit integers, which are an
// instruction or two instead of eleven, and need a device that has such integers.
bool hasProducts(const std::string& hlsl);
std::string withWideProducts(std::string hlsl);

// Whether the HLSL converts numbers to FLOAT16, and the same with the conversions of shader model 6.2 in place of those
// by integers: an instruction instead of fifteen, for devices whose conversions round to nearest even.
bool convertsToHalves(const std::string& hlsl);
std::string withHalfConversions(std::string hlsl);

// The words of a constant buffer in the HLSL that bindHlsl made: "Push", whose names lose the instance's `push_`, or
// "Specialization". None where there is no such buffer.
std::vector<ReflectedWord> hlslWords(const std::string& hlsl, const std::string& buffer);

}  // namespace kernelgen
