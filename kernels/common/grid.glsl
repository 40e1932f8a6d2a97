// The frame of every kernel on a linear grid: its interface as the manifest declares it (push words, specialization
// constants, BINDING_NAME of each buffer), the parameter block, and this invocation's place.
#include "interface.glsl"

#ifdef INVOCATIONS_ID
layout(local_size_x = 256, local_size_x_id = INVOCATIONS_ID) in;
#else
layout(local_size_x = 256, local_size_y = 1, local_size_z = 1) in;
#endif

layout(set = 1, binding = 0, std140) uniform Parameters { uvec4 parameters[64]; };

// Behind push.groups there is no work: a folded grid may have more workgroups.
uint groupIndex() {
  return push.firstGroup + gl_WorkGroupID.x + gl_WorkGroupID.y * push.groupsX + gl_WorkGroupID.z * push.groupsXY;
}

// Index of this invocation's item; false if it has none.
bool gridItem(uint count, out uint item) {
  const uint group = groupIndex();
  item = group * gl_WorkGroupSize.x + gl_LocalInvocationID.x;
  return group < push.groups && item < count;
}
