// What the kernels of TOP_K have in common: elements as keys whose ascending order is the wanted one, in pairs with
// their indices on the axis. A pair is {key, index}, or {low word of the key, high word, index} for 64-bit elements.
#if T_BITS == 64
#define PAIR_WORDS 3u
#else
#define PAIR_WORDS 2u
#endif

struct Pair {
  RAW key;
  uint index;
};

#if T_BITS == 64
bool keyLess(RAW a, RAW b) { return a.y < b.y || (a.y == b.y && a.x < b.x); }
const RAW kLastKey = uvec2(0xffffffffu);
#else
bool keyLess(RAW a, RAW b) { return a < b; }
const RAW kLastKey = 0xffffffffu;
#endif
// Equal elements keep the order of their indices.
bool before(Pair a, Pair b) { return keyLess(a.key, b.key) || (a.key == b.key && a.index < b.index); }
