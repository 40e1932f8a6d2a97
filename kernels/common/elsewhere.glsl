// Where kernels load what they do not use, and whether that is zero. On Direct3D 12 it lies outside of all buffers, which
// read as zeros there, so that nothing has to be made zero. Software drivers get the form of all others.
#if DIMPLE_HLSL && !DIMPLE_COMPACT
const bool kReadsZeros = true;
const uint kElsewhere = 0x7fffffffu;
#else
const bool kReadsZeros = false;
const uint kElsewhere = 0u;
#endif
