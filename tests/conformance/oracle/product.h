// Matrix products and convolutions.
#pragma once

#include <cmath>

#include "tests/conformance/oracle/oracle.h"

namespace oracle {

Result evaluateGemm(const DML_GEMM_OPERATOR_DESC& desc, std::span<const Array> inputs);
Result evaluateMatrixMultiplyInteger(const DML_MATRIX_MULTIPLY_INTEGER_OPERATOR_DESC& desc,
                                     std::span<const Array> inputs);
Result evaluateMatrixMultiplyIntegerToFloat(const DML_MATRIX_MULTIPLY_INTEGER_TO_FLOAT_OPERATOR_DESC& desc,
                                            std::span<const Array> inputs);
Result evaluateQuantizedLinearMatrixMultiply(const DML_QUANTIZED_LINEAR_MATRIX_MULTIPLY_OPERATOR_DESC& desc,
                                             std::span<const Array> inputs);
Result evaluateConvolution(const DML_CONVOLUTION_OPERATOR_DESC& desc, std::span<const Array> inputs);
Result evaluateConvolutionInteger(const DML_CONVOLUTION_INTEGER_OPERATOR_DESC& desc, std::span<const Array> inputs);
Result evaluateQuantizedLinearConvolution(const DML_QUANTIZED_LINEAR_CONVOLUTION_OPERATOR_DESC& desc,
                                          std::span<const Array> inputs);

// A sum of products of floats in double, and what a sum in FLOAT32 may depend on.
struct ProductSum {
  double value = 0;
  double magnitude = 0;  // of the finite products
  double flushed = 0;    // what flushing denormals may take from it
  bool free = false;     // flushing one may decide between infinity and NaN

  // `smallest` is the smallest normal number of the operands' type.
  void add(double a, double b, double smallest) {
    const auto isDenormal = [](double x, double normal) { return x != 0 && std::fabs(x) < normal; };
    const double product = a * b;
    value += product;
    const bool flushes = isDenormal(a, smallest) || isDenormal(b, smallest);
    if (!std::isfinite(product)) {
      free = free || flushes;
      return;
    }
    magnitude += std::fabs(product);
    if (flushes || isDenormal(product, 0x1p-126)) flushed += std::fabs(product);
  }
};

// scale * sums + addends (empty: none), and a fused activation.
Result finishFloats(Result result, std::span<const ProductSum> sums, uint64_t terms, double scale,
                    std::span<const double> addends, const DML_OPERATOR_DESC* activation);

// Large pictures and batches of 3 x 3 windows side by side: there transforms of tiles of 4 x 4 (Winograd) may take the
// place of sums of products.
bool mayBeTransformed(const DML_CONVOLUTION_OPERATOR_DESC& desc);

// Of one element of a quantized output.
struct OutputScale {
  double operands;  // the product of the operands' scales
  double output;
  int64_t zero;
};

// Scales a sum, rounds it half to even as ONNX does (the pages say "round"), adds the zero point and saturates.
void quantize(Result& result, size_t element, int64_t sum, const OutputScale& scale);

}  // namespace oracle
