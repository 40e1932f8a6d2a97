// Cases of the operators that split, repeat, pad and reorder tensors or fill them by a rule.
#include <numeric>

#include "core/text.h"
#include "tests/conformance/generators/movement.h"

namespace dimple::testing {
namespace {

// Elements of an output that grows in several dimensions.
constexpr uint64_t kMaxGrown = 8192;

// A constant that the type can hold, as a FLOAT attribute or as an element.
std::string_view smallConstant(Generator& generator) {
  constexpr std::string_view kWholes[] = {"0", "1", "3", "100", "7", "-1", "-2", "-100"};
  constexpr std::string_view kReals[] = {"0", "1", "-2.75", "0.1", "1000.25", "-0", "inf", "nan"};
  if (isFloat(generator.type)) return generator.random.pick(kReals);
  return kWholes[generator.random.below(isSigned(generator.type) ? 8 : 5)];
}

// A FLOAT attribute, whose fraction integers lose.
std::string floatConstant(Generator& generator) {
  const std::string_view text = smallConstant(generator);
  return cat(text, !isFloat(generator.type) && generator.random.chance(0.3) ? ".75" : "");
}

struct Pads {
  Sizes output;
  std::vector<uint32_t> starts, ends;
};

// Paddings of `in`, now and then several times its size or negative.
Pads makePads(Random& random, const Sizes& in) {
  Pads pads;
  uint64_t grown = productOf(in);
  for (const uint32_t size : in) {
    const auto draw = [&]() -> int64_t {
      const uint64_t most = std::min<uint64_t>(kMaxGrown * size / grown, random.chance(0.2) ? 5 * size : size);
      if (random.chance(0.3)) return 0;
      if (random.chance(0.15)) return -static_cast<int64_t>(random.below(size));
      return static_cast<int64_t>(random.below(most / 2 + 1));
    };
    const int64_t start = draw();
    int64_t end = draw();
    if (size + start + end < 1) end = 1 - size - start;
    const auto output = static_cast<uint32_t>(size + start + end);
    pads.starts.push_back(static_cast<uint32_t>(start));
    pads.ends.push_back(static_cast<uint32_t>(end));
    pads.output.push_back(output);
    grown = std::max<uint64_t>(1, grown / size * output);
  }
  return pads;
}

void keepPads(Generator& generator, const Sizes& in, const Pads& pads, std::string_view mode, bool plain) {
  TensorText input{generator.type, in};
  TensorText output{generator.type, pads.output};
  if (!plain) {
    input = generator.input(generator.type, in, generator.cycle());
    output = generator.output(generator.type, pads.output, generator.cycle() / 2);
    generator.maybeOwn(input);
  }
  Line line(generator.schema);
  line.set("InputTensor", input).set("OutputTensor", output).set("PaddingMode", mode);
  if (generator.schema.type == DML_OPERATOR_PADDING1) {
    line.set("PaddingValueDataType", dataTypeName(generator.type)).set("PaddingValue", smallConstant(generator));
  } else {
    line.set("PaddingValue", floatConstant(generator));
  }
  line.set("StartPadding", bracketed(pads.starts)).set("EndPadding", bracketed(pads.ends));
  keepMovement(generator, std::move(line));
}

// Both tensors of 4 dimensions that are blocks of each other.
void generateBlocks(Generator& generator, bool toDepth) {
  Random& random = generator.random;
  const auto add = [&](uint32_t block, uint32_t batch, uint32_t channels, uint32_t height, uint32_t width, bool plain) {
    const Sizes space = {batch, channels, height * block, width * block};
    const Sizes depth = {batch, channels * block * block, height, width};
    TensorText input{generator.type, toDepth ? space : depth};
    TensorText output{generator.type, toDepth ? depth : space};
    if (!plain) {
      input = generator.input(generator.type, input.sizes, generator.cycle());
      output = generator.output(generator.type, output.sizes, generator.cycle() / 2);
      generator.maybeOwn(input);
    }
    Line line(generator.schema);
    line.set("InputTensor", input).set("OutputTensor", output).set("BlockSize", block);
    if (generator.schema.fields.size() > 3)
      line.set("Order", generator.index() % 2 == 0 ? "DEPTH_COLUMN_ROW" : "COLUMN_ROW_DEPTH");
    keepMovement(generator, std::move(line));
  };
  while (generator.index() < kCasesPerType) {
    const Sizes inner = makeSizes(random, 4, std::max<uint64_t>(2, logUniform(random, 500)));
    add(random.chance(0.1) ? 1 : random.size(2, 4), inner[0], inner[1], inner[2], inner[3], false);
  }
  add(3, 1, 1, 1, 1, true);
  add(7, 1, 3, 2, 5, true);
  add(2, 1, 3, 296, 297, true);
  add(5, 2, 3, 83, 87, true);
}

}  // namespace

void generateSplit(Generator& generator) {
  Random& random = generator.random;
  const auto add = [&](Sizes in, size_t axis, const Sizes& parts, bool plain) {
    in[axis] = std::accumulate(parts.begin(), parts.end(), 0u);
    std::string outputs;
    for (const uint32_t part : parts) {
      Sizes out = in;
      out[axis] = part;
      TensorText output{generator.type, out};
      if (!plain) output = generator.output(generator.type, out, generator.cycle() + outputs.size() % 3);
      outputs += cat(outputs.empty() ? "(" : ",", output.text());
    }
    TensorText input{generator.type, in};
    if (!plain) {
      input = generator.input(generator.type, in, generator.cycle() / 2);
      generator.maybeOwn(input);
    }
    Line line(generator.schema);
    line.set("InputTensor", input).set("OutputTensors", outputs + ")").set("Axis", axis);
    keepMovement(generator, std::move(line));
  };
  while (generator.index() < kCasesPerType) {
    Sizes sizes = makeSizes(random, generator.rank(), logUniform(random, 1024));
    const size_t axis = random.below(sizes.size());
    Sizes parts;
    for (uint64_t count = random.chance(0.1) ? 1 : random.below(4) + 2; count > 0; --count)
      parts.push_back(random.size(1, std::min(sizes[axis], 40u)));
    add(std::move(sizes), axis, parts, random.chance(0.2));
  }
  add({3, 1, 5}, 1, Sizes(100, 2), true);
  add({3, 1, 5}, 2, Sizes(100, 1), false);
  add({1}, 0, Sizes(300, 1), true);
  add({1}, 0, {3, kLargeCount, 1}, true);
  add({1, 1031}, 0, {500, 521, 3}, true);
}

void generateTile(Generator& generator) {
  Random& random = generator.random;
  const auto add = [&](const Sizes& in, const Sizes& repeats, bool plain) {
    Sizes out = in;
    for (size_t d = 0; d < in.size(); ++d) out[d] *= repeats[d];
    TensorText input{generator.type, in};
    TensorText output{generator.type, out};
    if (!plain) {
      input = generator.input(generator.type, in, generator.cycle());
      output = generator.output(generator.type, out, generator.cycle() / 2);
      generator.maybeOwn(input);
    }
    Line line(generator.schema);
    line.set("InputTensor", input).set("OutputTensor", output).set("Repeats", bracketed(repeats));
    keepMovement(generator, std::move(line));
  };
  while (generator.index() < kCasesPerType) {
    const Sizes in = makeSizes(random, generator.rank(), std::max<uint64_t>(2, logUniform(random, 1024)));
    Sizes repeats;
    uint64_t left = kMaxGrown / productOf(in);
    for (size_t d = 0; d < in.size(); ++d) {
      repeats.push_back(random.chance(0.4) ? 1
                                           : random.size(1, static_cast<uint32_t>(std::clamp<uint64_t>(left, 1, 4))));
      left /= repeats.back();
    }
    add(in, repeats, false);
  }
  add({1}, {17}, true);
  add({17}, {1}, true);
  add({3}, {341}, true);
  add({2, 1, 2, 2, 2, 2, 2, 2}, {2, 3, 2, 2, 2, 2, 2, 2}, true);
  add({1031}, {1019}, true);
  add({5, 1, 211}, {11, 7, 13}, true);
}

void generatePadding(Generator& generator) {
  constexpr std::string_view kModes[] = {"CONSTANT", "EDGE", "REFLECTION", "SYMMETRIC", "WRAP"};
  Random& random = generator.random;
  while (generator.index() < kCasesPerType) {
    const Sizes in = makeSizes(random, generator.rank(), std::max<uint64_t>(2, logUniform(random, 1024)));
    keepPads(generator, in, makePads(random, in), kModes[generator.index() % 5], false);
  }
  for (const std::string_view mode : kModes) {
    keepPads(generator, {1}, {{36}, {17}, {18}}, mode, true);
    keepPads(generator, {7}, {{1024}, {500}, {517}}, mode, true);
    keepPads(generator, {3, 1000}, {{5, 1001}, {1, 0xffffffffu}, {1, 2}}, mode, true);
  }
  keepPads(generator, {3, 600, 500}, {{4, 613, 519}, {0, 6, 10}, {1, 7, 9}}, "CONSTANT", true);
  keepPads(generator, {500, 500}, {{1025, 1027}, {263, 265}, {262, 262}}, "REFLECTION", true);
}

void generateSliceGrad(Generator& generator) {
  Random& random = generator.random;
  const auto add = [&](const Sizes& out, bool plain) {
    Sizes offsets, windows, sizes;
    std::vector<int64_t> strides;
    for (const uint32_t size : out) {
      offsets.push_back(random.chance(0.4) ? 0 : random.size(0, size - 1));
      const uint32_t rest = size - offsets.back();
      windows.push_back(random.chance(0.5) ? rest : random.size(1, rest));
      const uint32_t step = random.chance(0.5) ? 1 : random.size(1, 1 + windows.back() / 2);
      const bool backwards = random.chance(0.5);
      strides.push_back(backwards ? -int64_t{step} : int64_t{step});
      uint32_t most = 1 + (windows.back() - 1) / step;
      // More than the window has, as long as they lie inside of the output.
      if (random.chance(0.15)) {
        const uint32_t end = offsets.back() + windows.back();
        most = 1 + (rest - 1) / step;
        if (backwards) most = std::min(most, 1 + (end - 1) / step);
      }
      sizes.push_back(random.chance(0.7) ? most : random.size(1, most));
    }
    TensorText input{generator.type, sizes};
    TensorText output{generator.type, out};
    if (!plain) {
      input = generator.input(generator.type, sizes, generator.cycle());
      output = generator.output(generator.type, out, generator.cycle() / 2);
      generator.maybeOwn(input);
    }
    Line line(generator.schema);
    line.set("InputGradientTensor", input).set("OutputGradientTensor", output);
    line.set("InputWindowOffsets", bracketed(offsets)).set("InputWindowSizes", bracketed(windows));
    keepMovement(generator, std::move(line.set("InputWindowStrides", bracketed(strides))));
  };
  while (generator.index() < kCasesPerType) add(randomSizes(generator, generator.rank()), false);
  for (const uint32_t size : {1u, 2u, 3u, 5u, 17u, 255u, 1025u}) add({size}, true);
  add({3, 601, 701}, true);
}

void generateDepthToSpace(Generator& generator) { generateBlocks(generator, false); }
void generateSpaceToDepth(Generator& generator) { generateBlocks(generator, true); }

void generateReverseSubsequences(Generator& generator) {
  Random& random = generator.random;
  const auto add = [&](const Sizes& sizes, size_t axis, bool plain) {
    Sizes lengthSizes = sizes;
    lengthSizes[axis] = 1;
    const DataType lengthType = generator.index() % 2 == 0 ? DML_TENSOR_DATA_TYPE_UINT32 : DML_TENSOR_DATA_TYPE_UINT64;
    TensorText input{generator.type, sizes};
    TensorText lengths{lengthType, lengthSizes};
    TensorText output{generator.type, sizes};
    if (!plain) {
      input = generator.input(generator.type, sizes, generator.cycle());
      lengths = generator.input(lengthType, lengthSizes, generator.cycle() / 2);
      output = generator.output(generator.type, sizes, generator.cycle() / 3);
      generator.maybeOwn(input);
      generator.maybeOwn(lengths);
    }
    Line line(generator.schema);
    line.set("InputTensor", input).set("SequenceLengthsTensor", lengths).set("OutputTensor", output).set("Axis", axis);
    if (random.chance(0.3)) line.set("indices", "wild");
    keepMovement(generator, std::move(line));
  };
  while (generator.index() < kCasesPerType) {
    Sizes sizes = makeSizes(random, generator.rank(), std::max<uint64_t>(2, logUniform(random, 2048)));
    const size_t axis = random.below(sizes.size());
    if (sizes[axis] == 1 && random.chance(0.8)) sizes[axis] = random.size(2, 9);
    add(sizes, axis, random.chance(0.2));
  }
  add({1025}, 0, true);
  add({1021, 1033}, 1, true);
  add({11, 97, 101}, 1, true);
}

void generateValueScale2D(Generator& generator) {
  constexpr std::string_view kNumbers[] = {"1", "0", "-1", "0.1", "2.5", "-0.007", "3", "-64.25"};
  Random& random = generator.random;
  const auto add = [&](const Sizes& sizes, bool plain) {
    TensorText input{generator.type, sizes};
    TensorText output{generator.type, sizes};
    if (!plain) {
      input = generator.input(generator.type, sizes, generator.cycle());
      output = generator.output(generator.type, sizes, generator.cycle() / 2);
      generator.maybeOwn(input);
    }
    std::string bias;
    for (uint32_t c = 0; c < sizes[1]; ++c) bias += cat(c == 0 ? "[" : ",", random.pick(kNumbers));
    Line line(generator.schema);
    line.set("InputTensor", input).set("OutputTensor", output);
    line.set("Scale", random.chance(0.9) ? kNumbers[2 + random.below(6)] : random.pick(kNumbers));
    keepMovement(generator, std::move(line.set("Bias", bias + "]")));
  };
  while (generator.index() < kCasesPerType) {
    Sizes sizes = makeSizes(random, 4, std::max<uint64_t>(2, logUniform(random, 2048)));
    sizes[1] = random.chance(0.7) ? 3 : 1;
    add(sizes, false);
  }
  add({1, 3, 591, 593}, true);
  add({1, 1, 1, 1}, true);
  add({5, 3, 7, 11}, true);
}

void generateFillSequence(Generator& generator) {
  constexpr std::string_view kReals[] = {"0", "1", "-2", "0.25", "-0.125", "3.5", "100", "-1000", "0.1", "-0.007"};
  Random& random = generator.random;
  const auto value = [&]() -> std::string {
    if (isFloat(generator.type)) return std::string(random.pick(kReals));
    const uint32_t bits = bitWidth(generator.type) - (isSigned(generator.type) ? 1 : 0);
    const uint64_t magnitude = random.next() >> (64 - random.size(1, bits));
    return cat(isSigned(generator.type) && magnitude != 0 && random.chance(0.5) ? "-" : "", magnitude);
  };
  const auto add = [&](const TensorText& output) {
    Line line(generator.schema);
    line.set("OutputTensor", output).set("ValueDataType", dataTypeName(generator.type));
    generator.keep(std::move(line.set("ValueStart", value()).set("ValueDelta", value())), "int");
  };
  while (generator.index() < kCasesPerType) {
    Sizes sizes = makeSizes(random, generator.rank(), logUniform(random, 4096));
    add(generator.output(generator.type, std::move(sizes), generator.cycle()));
  }
  for (const uint32_t size : {1u, 2u, 3u, 5u, 7u, 9u, 17u, 33u, 257u, kLargeCount}) add({generator.type, {size}});
}

void generateDiagonalMatrix(Generator& generator) {
  Random& random = generator.random;
  const auto diagonal = [&](const Sizes& sizes) {
    const auto rows = static_cast<int64_t>(sizes[sizes.size() - 2]);
    const auto columns = static_cast<int64_t>(sizes.back());
    if (random.chance(0.05)) return random.chance(0.5) ? int64_t{INT32_MIN} : int64_t{INT32_MAX};
    return random.chance(0.3) ? random.range(-1, 1) : random.range(-rows - 1, columns + 1);
  };
  const auto add = [&](const Sizes& sizes, bool plain) {
    TensorText output{generator.type, sizes};
    if (!plain) output = generator.output(generator.type, sizes, generator.cycle());
    Line line(generator.schema);
    if (generator.schema.type == DML_OPERATOR_DIAGONAL_MATRIX) {
      line.set("OutputTensor", output).set("Offset", std::to_string(diagonal(sizes)));
      return generator.keep(std::move(line.set("Value", floatConstant(generator))), "int");
    }
    if (random.chance(0.75)) {
      TensorText input{generator.type, sizes};
      if (!plain) {
        input = generator.input(generator.type, sizes, generator.cycle() / 2);
        generator.maybeOwn(input);
      }
      line.set("InputTensor", input);
    }
    line.set("OutputTensor", output).set("ValueDataType", dataTypeName(generator.type));
    line.set("Value", smallConstant(generator)).set("DiagonalFillBegin", std::to_string(diagonal(sizes)));
    keepMovement(generator, std::move(line.set("DiagonalFillEnd", std::to_string(diagonal(sizes)))));
  };
  while (generator.index() < kCasesPerType)
    add(makeSizes(random, 2 + generator.index() % 3, std::max<uint64_t>(2, logUniform(random, 4096))), false);
  for (const uint32_t size : {1u, 2u, 3u, 17u, 33u}) add({size, size}, true);
  add({1021, 1033}, true);
  add({3, 593, 601}, true);
}

}  // namespace dimple::testing
