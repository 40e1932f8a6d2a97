// Which elements of an axis of the input an output coordinate depends on, and their weights. Include after place.glsl.
// MODE: 0: antialiased. 1: gradient of nearest neighbours. 2: gradient of linear interpolation.

// Of one axis, for one output coordinate.
struct Axis {
  uint at;          // of its parameters
  uint coordinate;  // of the output
  uint first;       // input elements with weights
  uint count;
  // Antialiasing only: the place, and the weights that fall outside of the input, which its edges get.
  Place place;
  float before;
  float behind;
  float scale;  // 1 / the sum of all weights
};

// The sum of the weights 1 - d / stretch at distances d = first, first + 1, ..., at most `count` of them.
float weightsFrom(float first, float count, float stretch, float inverse) {
  if (first >= stretch) return 0.0;
  const float n = min(count, floor(stretch - first) + 1.0);
  return n * (1.0 - (first + 0.5 * (n - 1.0)) * inverse);
}

// The first input coordinate whose place is at least `index` whole elements up.
uint firstAtLeast(uint axis, int index, uint size) {
  uint low = 0u;
  uint high = size;
  while (low < high) {
    const uint middle = low + (high - low) / 2u;
    const Place place = placeOf(axis, middle);
    if (place.index + (MODE == 1u && push.roundUp != 0u && place.fraction > 0.0 ? 1 : 0) >= index)
      high = middle;
    else
      low = middle + 1u;
  }
  return low;
}

Axis axisOf(uint at, uint coordinate) {
  const float kAll = 3e38;
  const uint walked = parameters[at + 1u].w;
  const uvec4 c = parameters[at + 2u];
  Axis axis;
  axis.at = at;
  axis.coordinate = coordinate;
  axis.place = Place(0, 0.0);
  axis.before = 0.0;
  axis.behind = 0.0;
  axis.scale = 1.0;
  if (MODE == 0u) {
    const float stretch = uintBitsToFloat(c.z);
    const float inverse = uintBitsToFloat(c.w);
    const Place p = placeOf(at, coordinate);
    const float down = p.fraction;  // distance of the element below the place, and of the one above
    const float up = 1.0 - p.fraction;
    const float allBelow = weightsFrom(down, kAll, stretch, inverse);
    const float allAbove = weightsFrom(up, kAll, stretch, inverse);
    const int size = int(min(walked, 0x7fffffffu));
    axis.before = p.index >= 0 ? weightsFrom(down + float(p.index + 1), kAll, stretch, inverse)
                               : allBelow + weightsFrom(up, float(-1 - p.index), stretch, inverse);
    axis.behind = p.index < size ? weightsFrom(up + float(size - 1 - p.index), kAll, stretch, inverse)
                                 : allAbove + weightsFrom(down, float(p.index - size + 1), stretch, inverse);
    axis.scale = 1.0 / (allBelow + allAbove);
    const float last = float(size - 1);
    const float place = float(p.index) + p.fraction;
    axis.place = p;
    axis.first = uint(clamp(floor(place - stretch) - 1.0, 0.0, last));
    axis.count = min(uint(clamp(ceil(place + stretch) + 1.0, 0.0, last)), walked - 1u) + 1u - axis.first;
    return axis;
  }
  // Edges get what lies outside.
  const uint size = c.y;
  const int lowest = int(coordinate) - (MODE == 2u ? 1 : 0);
  axis.first = coordinate == 0u ? 0u : firstAtLeast(at, lowest, walked);
  axis.count = (coordinate + 1u == size ? walked : firstAtLeast(at, int(coordinate) + 1, walked)) - axis.first;
  return axis;
}

float weightOf(Axis axis, uint k) {
  const uvec4 c = parameters[axis.at + 2u];
  if (MODE == 0u) {
    const float distance1 = abs(float(int(k) - axis.place.index) - axis.place.fraction);
    float weight = max(0.0, 1.0 - distance1 * uintBitsToFloat(c.w));
    if (k == 0u) weight += axis.before;
    if (k + 1u == parameters[axis.at + 1u].w) weight += axis.behind;
    return weight * axis.scale;
  }
  const Place place = placeOf(axis.at, k);
  if (MODE == 1u) return nearestIndex(place, push.roundUp != 0u, c.y) == axis.coordinate ? 1.0 : 0.0;
  return (clampedIndex(place.index, c.y) == axis.coordinate ? 1.0 - place.fraction : 0.0) +
         (clampedIndex(place.index + 1, c.y) == axis.coordinate ? place.fraction : 0.0);
}
