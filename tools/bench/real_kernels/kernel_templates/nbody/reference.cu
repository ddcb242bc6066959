// One thread per body. The forces of 1024 bodies at a time are computed and summed in f32; these
// sums are added in double precision.
extern "C" __global__ void nbody_reference(const float4* bodies, float* force, int n) {
  const int body = blockIdx.x * blockDim.x + threadIdx.x;
  if (body >= n) return;
  const float4 mine = bodies[body];
  double total[3] = {};
  for (int start = 0; start < n; start += 1024) {
    float sum[3] = {};
    for (int j = start; j < min(start + 1024, n); ++j) {
      const float4 other = bodies[j];
      const float d[3] = {other.x - mine.x, other.y - mine.y, other.z - mine.z};
      const float inverse = rsqrtf(d[0] * d[0] + d[1] * d[1] + d[2] * d[2] + 0.01f);
      for (int axis = 0; axis < 3; ++axis) sum[axis] += other.w * inverse * inverse * inverse * d[axis];
    }
    for (int axis = 0; axis < 3; ++axis) total[axis] += sum[axis];
  }
  for (int axis = 0; axis < 3; ++axis) force[3L * body + axis] = total[axis];
}
