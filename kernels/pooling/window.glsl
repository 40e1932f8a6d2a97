// The elements of a tensor under sliding windows of up to three spatial dimensions, the innermost first.
// Include after walk.glsl.

// Without the division that windows without dilation do not need.
uint dividedBy(uint n, uint dilation) { return dilation == 1u ? n : n / dilation; }

// In one dimension: the coordinate of the first element under the window at `position`, and how many there are.
// `window` is {stride, dilation, size, start padding}, with a dilation above 0. Coordinates in the padded input may
// exceed 32 bits.
void windowCoverage(uint position, uvec4 window, uint size, out uint first, out uint count) {
  const uint low = position * window.x;
  const uint high = mulHigh(position, window.x);
  const bool before = high == 0u && low < window.w;
  uint skipped = 0u;
  first = low - window.w;
  if (before) {
    const uint missing = window.w - low;
    skipped = dividedBy(missing - 1u, window.y) + 1u;
    first = skipped * window.y - missing;
  }
  const bool beyond = high > 1u || (high == 1u && low >= window.w);
  const bool covers = !beyond && first < size && skipped < window.z;
  count = covers ? min(window.z - skipped, dividedBy(size - 1u - first, window.y) + 1u) : 0u;
}

// The coordinates of element `index` in a box.
uvec3 boxDigits(uint index, uvec3 box) {
  const uint rows = index / max(box.x, 1u);
  const uint planes = rows / max(box.y, 1u);
  return uvec3(index - rows * box.x, rows - planes * box.y, planes);
}

// The coordinates `distance1` elements on, itself given as coordinates.
uvec3 boxAdvance(uvec3 at, uvec3 distance1, uvec3 box) {
  uvec3 next = at + distance1;
  if (next.x >= box.x) {
    next.x -= box.x;
    ++next.y;
  }
  if (next.y >= box.y) {
    next.y -= box.y;
    ++next.z;
  }
  return next;
}

// How many elements an invocation that begins at `first` meets in steps of `step1`. A counter may pass 2^32.
uint stepsFrom(uint first, uint step1, uint total) { return first < total ? (total - 1u - first) / step1 + 1u : 0u; }
