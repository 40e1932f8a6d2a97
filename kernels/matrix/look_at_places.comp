#version 460
#extension GL_GOOGLE_include_directive : require
#include "common/types.glsl"

// Whether the device places the elements of matrices as places.glsl has them: one workgroup writes 1, or 0.
#include "common/grid.glsl"
#include "matrix/cooperative.glsl"
const bool kLooks = true;
#include "matrix/known_places.glsl"

layout(set = 0, binding = BINDING_known, std430) writeonly buffer knownBuffer { uint known[]; };

void main() {
  const uint group = groupIndex();
  if (group >= push.groups) return;
  stagePlaces(gl_LocalInvocationID.x);
  barrier();
  const bool here = placesAreKnown(gl_SubgroupInvocationID);
  if (gl_LocalInvocationID.x == 0u) known[group] = here ? 1u : 0u;
}
