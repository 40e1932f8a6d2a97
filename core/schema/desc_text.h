// One line of text for an operator description, generic over the schema:
//
//   ELEMENT_WISE_ADD ATensor=f32[2,3] BTensor=f32[2,3]{0,1} OutputTensor=f32[2,3] seed=7
//
// Fields in any order, separated by spaces:
//   tensor         type[sizes], then as needed {strides}, @TotalTensorSizeInBytes, %GuaranteedBaseOffsetAlignment and
//                  ! (owned by DML; !N: these flag bits). Types are f32 u8 ..., #N the number of any other.
//                  Without @ the total is the one that sizes and strides imply.
//   tensor array   (f32[2],f32[3])
//   array          [0,1]
//   enumeration    SUM, DML_REDUCE_FUNCTION_SUM or its number
//   FLOAT          -1.5, nan, inf, -inf
//   BOOL           0, 1
//   ScaleBias      [scale,bias]
//   scalar union   an element of the data type that the field before it names
//   operator       RELU, LEAKY_RELU(Alpha=0.1): a fused activation, with or without ACTIVATION_
//   operator array (RELU,TANH)
//   DML_SIZE_2D    [width,height]
// Fields that hold a count follow from the arrays; given all the same, they must agree with them. What is left out is
// null or 0. Keys that begin with a lower-case letter are no fields; they are handed to the caller.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/result.h"
#include "core/schema/desc_copy.h"
#include "core/schema/op_schema.h"

namespace dimple {

// Writes fields into a description that `owner` owns.
class FieldSetter {
 public:
  // Of a fused activation, tensors are not asked for.
  FieldSetter(OwnedDesc& owner, const OpSchema& schema, void* desc, bool isFused = false);

  // Errors are sentences that name the field.
  Status set(std::string_view field, std::string_view text);
  // Completes what depends on other fields: counts and scalar unions. To be called once, last.
  Status finish();
  // After finish(): the fields that were left out although there is no natural default for them.
  const std::vector<std::string>& missing() const { return missing_; }

 private:
  template <class T>
  T& slot(const Field& field) {
    return *reinterpret_cast<T*>(root_ + field.offset);
  }
  // New storage that a field points to.
  template <class T>
  T& allocateAt(const Field& field) {
    T* made = owner_.allocate<T>(1);
    slot<const T*>(field) = made;
    return *made;
  }
  Status setValue(const Field& field, std::string_view text);
  template <class T>
  Status setNumber(const Field& field, std::string_view text, std::string_view expected);
  template <class Pair>
  Status setPair(const Field& field, std::string_view text, std::string_view expected, Pair& target);
  Status setUInt(const Field& field, std::string_view text);
  template <class T>
  Status setArray(const Field& field, std::string_view text, std::string_view expected);
  Status setTensorArray(const Field& field, std::string_view text);
  Status setOperator(std::string_view field, std::string_view text, DML_OPERATOR_DESC& target);
  Status setOperatorArray(const Field& field, std::string_view text);
  Status setCount(const Field& array, size_t count);

  OwnedDesc& owner_;
  const OpSchema& schema_;
  std::byte* root_;
  std::vector<bool> given_;              // by field
  std::vector<const Field*> countedBy_;  // by field: the array that determined this count
  std::vector<std::pair<const Field*, std::string>> scalars_;
  std::vector<std::string> missing_;
  const bool isFused_;
};

struct CaseText {
  OwnedDesc desc;
  std::map<std::string, std::string, std::less<>> extras;
  std::vector<std::string> missing;  // fields that the line leaves out although there is no natural default for them
};

// The description is well formed, not valid: that is for Operation::parse() to say.
Result<CaseText> parseCase(std::string_view line);

// Reads back through parseCase. The operator must have a schema, and arrays as many elements as their count fields say.
std::string formatCase(const DML_OPERATOR_DESC& desc);

// "f32[2,3]{0,1}"
std::string formatTensor(const DML_BUFFER_TENSOR_DESC& tensor);

}  // namespace dimple
