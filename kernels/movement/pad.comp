#version 460
#extension GL_GOOGLE_include_directive : require
#include "common/types.glsl"
#include "common/whole_vectors.glsl"
#include "directml_enums.glsl"

// What surrounds the input is a constant {low, high} or elements of the input itself. The parameters are three a
// dimension, the innermost first:
//   {output size and its divisor}   {output stride, input stride, start padding, input size}   {period and its divisor}
// Start paddings are signed; what repeats does so after a period.
#include "common/grid.glsl"
#include "common/walk.glsl"

TENSOR_IN(x)
TENSOR_OUT(y)

// The input coordinate that an output coordinate shows; false if it shows the constant.
bool sourceOf(uint coordinate, uvec4 dimension, uvec4 period, out uint source) {
  const uint start = dimension.z;
  const uint size = dimension.w;
  const bool before = int(start) > 0 && coordinate < start;
  // From the input's first element, backwards if `before`.
  uint distance = before ? start - coordinate : coordinate - start;
  if (MODE == DML_PADDING_MODE_CONSTANT) {
    source = distance;
    return !before && distance < size;
  }
  if (MODE == DML_PADDING_MODE_EDGE) {
    source = before ? 0u : min(distance, size - 1u);
    return true;
  }
  if (MODE == DML_PADDING_MODE_SYMMETRIC && before) --distance;
  distance -= divideBy(distance, period) * period.x;
  if (MODE == DML_PADDING_MODE_WRAP) {
    source = before && distance != 0u ? size - distance : distance;
    return true;
  }
  // The way back from the last element, which SYMMETRIC shows twice.
  const uint back = 2u * size - (MODE == DML_PADDING_MODE_SYMMETRIC ? 1u : 2u) - distance;
  source = distance < size ? distance : back;
  return true;
}

void main() {
  uint item;
  if (!gridItem(push.count, item)) return;
  uint rest = item;
  uint from = 0u;
  uint to = 0u;
  bool inside = true;
  for (uint d = 0u; d < push.rank; ++d) {
    const uvec4 size = parameters[3u * d];
    const uvec4 dimension = parameters[3u * d + 1u];
    const uint quotient = d + 1u < push.rank ? divideBy(rest, size) : 0u;
    const uint coordinate = rest - quotient * size.x;
    uint source;
    inside = sourceOf(coordinate, dimension, parameters[3u * d + 2u], source) && inside;
    to += coordinate * dimension.x;
    from += source * dimension.y;
    rest = quotient;
  }
#ifdef VECTORS
  uvec4 value = uvec4(push.low, push.high, push.low, push.high);
#elif T_BITS == 64
  RAW value = uvec2(push.low, push.high);
#else
  RAW value = push.low;
#endif
  if (inside) value = loadRaw_x(from);
  storeRaw_y(to, value);
}
