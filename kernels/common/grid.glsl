// The frame of every kernel on a linear grid: push block, parameter block, and this invocation's place.
// Define PUSH_FIELDS (uint members after the four common words) before including.
layout(local_size_x = 256, local_size_y = 1, local_size_z = 1) in;

#ifndef PUSH_FIELDS
#define PUSH_FIELDS
#endif
layout(push_constant) uniform Push {
  uint groupsX;   // workgroups in x
  uint groupsXY;  // workgroups in x * y
  uint groups;    // workgroups before which there is work; a folded grid may have more
  uint firstGroup;
  PUSH_FIELDS
} push;

layout(set = 1, binding = 0, std140) uniform Parameters { uvec4 parameters[64]; };

uint groupIndex() {
  return push.firstGroup + gl_WorkGroupID.x + gl_WorkGroupID.y * push.groupsX + gl_WorkGroupID.z * push.groupsXY;
}

// Index of this invocation's item; false if it has none.
bool gridItem(uint count, out uint item) {
  const uint group = groupIndex();
  item = group * gl_WorkGroupSize.x + gl_LocalInvocationID.x;
  return group < push.groups && item < count;
}
