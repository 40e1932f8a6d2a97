// Sums of products: matrix products, and convolutions as such (kernels/matrix/product.comp).
#pragma once

#include <array>
#include <optional>

#include "core/plan/plan_builder.h"

namespace dimple {

// y = finish(sum over the depth of A * B + C) for each of a walk of matrices.
struct Product {
  // Of a matrix's dimensions, in elements.
  struct Strides {
    uint32_t row = 0;
    uint32_t column = 0;
  };

  DataType type{};    // of A and B in a product of floats, of y in one of integers
  uint32_t rows = 1;  // of A, C and y
  uint32_t columns = 1;
  uint32_t depth = 1;
  Walk matrices{};  // operands A, B, C, y
  Strides a;        // column: along the depth
  Strides b;        // row: along the depth
  Strides c{};
  Strides y;
  BufferRange from[3]{};  // A, B, C; C's is any readable one if it is absent
  uint64_t bytes[2]{};    // of A and B that may be read, if some lie behind the last element
  bool hasC = false;
  BufferRange to{};

  uint64_t elements() const { return matrices.count() * rows * columns; }
  uint64_t multiplyAdds() const;  // or the largest number if there are more
};

// alpha * sum + beta * c, what follows, and an activation that works on single elements.
struct FloatFinish {
  float alpha = 1;
  float beta = 1;
  Activation activation;
  bool wide = false;  // y holds FLOAT32, whatever the operands' type is
  Epilogue epilogue{};
};

// Scales and zero points of integers. Absent tensors have no range.
struct Quantization {
  struct Parameter {
    std::optional<BufferRange> range;
    uint32_t stride = 0;
  };
  Parameter scaleA, zeroA;  // of each row
  Parameter scaleB, zeroB;  // of each column
  Parameter scaleY, zeroY;  // of each row
  DataType a{}, b{}, c{}, scale{};
  Epilogue epilogue{};  // kEpilogueAddsFloats, kEpiloguePositive, kEpilogueClips
};

// Places among the inputs. 0: there is none.
struct IntegerPlaces {
  size_t b = 0, zeroA = 0, zeroB = 0, scaleA = 0, scaleB = 0, scaleY = 0, zeroY = 0, c = 0;

  // With what an epilogue adds in the place of C.
  IntegerPlaces with(const Epilogue& epilogue) const {
    IntegerPlaces places = *this;
    if (epilogue.addend) places.c = epilogue.addend;
    return places;
  }
};

// Of the inputs `a` and those at other places. The strides are those of what a row, or a column, has of its own.
Quantization quantizationOf(const PlanBuilder& builder, size_t a, const IntegerPlaces& at,
                            uint32_t (*ofRows)(const Tensor&), uint32_t (*ofColumns)(const Tensor&));

// How B's elements lie in the input of a convolution, and what the choice of a kernel needs
// (kernels/matrix/convolution.glsl).
struct ConvolutionWindow {
  // Strides in elements.
  struct Strides {
    uint32_t filter = 0, filterChannel = 0;  // of A
    uint32_t inputChannel = 0, inputBatch = 0;
    uint32_t bias = 0, biasPlace = 0;  // of C: the second of matrices alone, along the innermost dimension
    uint32_t outputChannel = 0, outputBatch = 0;
  };
  // A spatial dimension. Places that no window reaches and elements of the window that reach nothing are left out of
  // `outputs` and `window`, so that what is left is computed without overflow.
  struct Dimension {
    uint32_t size = 1;      // of the output
    uint32_t elements = 1;  // of the window
    uint32_t input = 1;
    uint32_t stride = 1, dilation = 1, padding = 0;
    uint32_t results = 1;  // places of the output, without the padding behind them
    uint32_t outputs = 1;
    uint32_t window = 1;
    uint32_t inputStride = 0, filterStride = 0, outputStride = 0;
  };

  bool backward = false;
  Strides strides;
  std::array<Dimension, 3> dimensions;  // the innermost first
  uint32_t taps = 1;                    // elements of the window, of those that reach something
  bool continues = false;               // the product before, whose results are others
  // Of a group, where B's channels lie side by side and the depth counts through them first
  // (kernels/matrix/channels_last.glsl); else 0.
  uint32_t channelsLast = 0;
  // Of a group's channels, those that belong to the window, where a line of it counts as one element; else 0.
  uint32_t channelsOfLine = 0;
  // Whether windows of 3 x 3, or 1 x 1, elements are read from patches of such an input
  // (kernels/matrix/cooperative_patch.comp).
  bool patches = false;
  // Whether B is the input itself, so that windows may reach over its edges; a copy has zeros around each picture.
  bool edges = false;
  // Whether it is only the depth that counts so, and B is gathered as it lies: windows may reach over the edges.
  bool gathered = false;
  // Whether A is a copy in which neighbouring filters lie side by side, in vectors of four.
  bool turned = false;
  bool distant = false;  // there are more than 2^30 places, or elements of padding, in a dimension
};

// The input C of GEMM.
constexpr size_t kBiasOfGemm = 2;

// Of the tensors at these places among the inputs, C's 0 if there is none, into a tensor that lies in `to`.
Product productOf(const PlanBuilder& builder, size_t aIndex, bool transposeA, size_t bIndex, bool transposeB,
                  size_t cIndex, const Tensor& y, const BufferRange& to);

// Copies B at initialization, if DML owns it, into a layout whose elements are read in vectors, where its own is none
// and its sizes allow one. Copies a transposed B of a large product of floats in any case, and at every execution if
// DML does not own it. `input`: its place among the inputs; `integers`: null for a product of floats.
Status packB(PlanBuilder& builder, size_t input, Product& product, const Quantization* integers = nullptr);

// A product of matrices as a convolution: its columns are places of a line, each of which has a window of one element.
ConvolutionWindow windowOfMatrices(const Product& p);

// Each adds one dispatch. Without a window a product of matrices.
Status addFloatProduct(PlanBuilder& builder, Product product, const FloatFinish& finish,
                       const ConvolutionWindow* window = nullptr);
Status addIntegerProduct(PlanBuilder& builder, const Product& product, const Quantization& quantization,
                         const ConvolutionWindow* window = nullptr);

// A quantized convolution whose output is FLOAT32 and so has no scale and zero point: the inputs are those before. The
// bias is FLOAT32, and kEpiloguePositive or kEpilogueClips may follow.
Operation convolutionToFloats(const DML_QUANTIZED_LINEAR_CONVOLUTION_OPERATOR_DESC& desc, std::vector<Tensor> inputs,
                              const Tensor& output);

// Matrices that have one B and lie one behind the other are rows of one matrix.
void joinMatrices(Product& p);

}  // namespace dimple
