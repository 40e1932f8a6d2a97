// Samples of regions of interest. Include after walk.glsl and math.glsl.
// parameters[0] on:
//   {image strides}   {image sizes}   {crop strides}   {crop sizes}, in the order N, C, H, W
//   {region stride, coordinate stride, batch index stride, kind of batch indices}
//   {spatial scale x, y, input pixel offset, output pixel offset}
//   {value outside, least and most samples for an output element, 1: regions to corners}
//   {divisors of crop sizes C, H, W}
//   {strides of the image's gradient}   {strides of the regions' gradient}   {divisors of image sizes C, H, W}
#define IMAGE_STRIDES parameters[0]
#define IMAGE_SIZES parameters[1]
#define CROP_STRIDES parameters[2]
#define CROP_SIZES parameters[3]
#define REGION parameters[4]
#define PLACES uintBitsToFloat(parameters[5])
#define SAMPLING parameters[6]
#define CROP_DIVISORS 7u
#define IMAGE_GRADIENT_STRIDES parameters[10]
#define REGION_GRADIENT_STRIDES parameters[11]
#define IMAGE_DIVISORS 12u

// More samples an output element and axis than this would not change an average, only take long.
const uint kMostSamples = 16384u;

// {N, C, H, W} of a row-major index; the divisors of C, H and W are at `at`.
uvec4 unpackIndex(uint index, uint at) {
  const uint w = divideBy(index, parameters[at + 2u]);
  const uint h = divideBy(w, parameters[at + 1u]);
  const uint c = divideBy(h, parameters[at]);
  return uvec4(c, h - c * parameters[at].x, w - h * parameters[at + 1u].x, index - w * parameters[at + 2u].x);
}

uint dot4(uvec4 a, uvec4 b) { return a.x * b.x + a.y * b.y + a.z * b.z + a.w * b.w; }

// The samples of one axis of a region: sample s lies at (s - output pixel offset) * step + origin.
struct Samples {
  float origin;
  float step;
  uint perOutput;
  float divisor;  // of the region's size, that gives the step
};

bool isUnbounded(float x) { return (floatBitsToUint(x) & 0x7f800000u) == 0x7f800000u; }

Samples samplesOf(float first, float last, float scale, uint outputs) {
  const float start = first * scale;
  const float size = last * scale - start;
  // Rounding must not make a whole quotient one more.
  const float quotient = size / float(outputs);
  const float wanted = ceil(quotient - abs(quotient) * 9.5367431640625e-7);
  uint n = SAMPLING.y;
  if (!isNan(wanted) && wanted > float(n)) n = wanted >= float(SAMPLING.z) ? SAMPLING.z : uint(wanted);
  n = min(n, kMostSamples);
  const float total = float(outputs) * float(n);
  Samples samples;
  samples.divisor = SAMPLING.w != 0u ? max(total - 1.0, 1.0) : total;
  samples.step = size / samples.divisor;
  samples.origin = start - PLACES.z;
  samples.perOutput = n;
  return samples;
}

float placeOf(Samples samples, uint s) { return (float(s) - PLACES.w) * samples.step + samples.origin; }

bool isInside(float place, uint size) { return place > -1.0 && place < float(size); }

// The elements around a place, and how far it is from the lower one to the upper.
struct Neighbours {
  uint lower;
  uint upper;
  float fraction;
};

Neighbours neighboursOf(float place, uint size, bool linear) {
  const float last = float(size - 1u);
  Neighbours n;
  if (!linear) {
    n.lower = min(uint(clamp(floor(place + 0.5), 0.0, last)), size - 1u);
    n.upper = n.lower;
    n.fraction = 0.0;
    return n;
  }
  const float inside = clamp(place, 0.0, last);
  const float whole = floor(inside);
  n.lower = min(uint(whole), size - 1u);
  n.fraction = inside - whole;
  n.upper = n.fraction > 0.0 ? min(n.lower + 1u, size - 1u) : n.lower;
  return n;
}

float weightOf(Neighbours n, uint index) {
  return (n.lower == index ? 1.0 - n.fraction : 0.0) + (n.upper == index && n.fraction > 0.0 ? n.fraction : 0.0);
}

// Of samples first to first + count - 1, the range outside of which none lies between the places low and high.
void samplesBetween(Samples samples, float low, float high, uint first, uint count, out uint begin, out uint end) {
  begin = first;
  end = first;
  if (isUnbounded(samples.origin) || isUnbounded(samples.step)) return;
  end = first + count;
  if (abs(samples.step) < 1e-30) {
    const float place = placeOf(samples, first);
    if (!(place >= low && place <= high)) end = first;
    return;
  }
  const float a = (low - samples.origin) / samples.step + PLACES.w;
  const float b = (high - samples.origin) / samples.step + PLACES.w;
  // A margin for what rounding takes.
  const float margin = 2.0 + max(abs(a), abs(b)) * 1e-6;
  const float lowest = float(first);
  const float highest = float(first + count);
  if (isNan(a) || isNan(b)) return;
  begin = uint(clamp(floor(min(a, b) - margin), lowest, highest));
  end = uint(clamp(ceil(max(a, b) + margin) + 1.0, lowest, highest));
  begin = min(begin, first + count);
  end = clamp(end, begin, first + count);
}
