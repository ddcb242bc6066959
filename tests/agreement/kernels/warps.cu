// Exchange between the lanes of a warp.
typedef unsigned u32;
typedef unsigned long long u64;

#define KERNEL extern "C" __global__ void
#define INDEX (blockIdx.x * blockDim.x + threadIdx.x)

KERNEL warp_shuffles(const u32* in, u32* out, int n) {
  const int i = INDEX;
  const u32 x = in[i];
  const u32 b = in[(i * 7 + 3) % n];
  u32* o = out + 9 * i;
  u32 p;
#define SHUFFLE(column, mode, c) \
  asm volatile("{.reg .pred q; shfl.sync." mode ".b32 %0|q, %2, %3, " c ", 0xffffffff; selp.u32 %1, 1, 0, q;}" : "=r"(o[column]), "=r"(p) : "r"(x), "r"(b & 31)); \
  all |= p << column
  u32 all = 0;
  SHUFFLE(0, "up", "0");
  SHUFFLE(1, "down", "31");
  SHUFFLE(2, "bfly", "31");
  SHUFFLE(3, "idx", "31");
  SHUFFLE(4, "up", "0x1800");
  SHUFFLE(5, "down", "0x1807");
  SHUFFLE(6, "bfly", "0x180f");
  SHUFFLE(7, "idx", "0x1c03");
  o[8] = all;
}

KERNEL warp_partial_masks(const u32* in, u32* out) {
  // Makes lanes with odd and even values take different branches.
  const int i = INDEX;
  const u32 x = in[i];
  const u32 odd = __ballot_sync(~0u, x & 1);
  const u32 mask = x & 1 ? odd : ~odd;
  u32* o = out + 6 * i;
  if (x & 1) {
    o[0] = __ballot_sync(mask, x & 2);
    o[1] = __reduce_add_sync(mask, x);
    o[2] = __reduce_max_sync(mask, static_cast<int>(x));
    o[3] = __match_any_sync(mask, x & 12);
    o[4] = __shfl_sync(mask, x, __ffs(mask) - 1);
    o[5] = __all_sync(mask, x > 100);
  } else {
    o[0] = __reduce_xor_sync(mask, x);
    o[1] = __reduce_and_sync(mask, x | 0xff00);
    o[2] = __reduce_min_sync(mask, x);
    o[3] = __any_sync(mask, x > 0xf0000000u);
    o[4] = __reduce_or_sync(mask, x & 0xff);
    o[5] = __popc(mask);
  }
}

KERNEL warp_matches(const u32* in, u32* out) {
  const int i = INDEX;
  const u32 x = in[i];
  u32* o = out + 6 * i;
  int same = 0;
  o[0] = __match_any_sync(~0u, x & 7);
  o[1] = __match_any_sync(~0u, static_cast<u64>(x & 3) << 40);
  o[2] = __match_all_sync(~0u, i / 64, &same);
  o[3] = same;
  o[4] = __match_all_sync(~0u, x & 1, &same);
  u32 uniform;
  asm volatile("{.reg .pred p, q; setp.ne.u32 p, %1, 0; vote.sync.uni.pred q, p, 0xffffffff; selp.u32 %0, 1, 0, q;}" : "=r"(uniform) : "r"(i / 32 % 2 ? x & 1 : 1));
  o[5] = uniform + 2 * same;
}

KERNEL warp_election(u32* out) {
  const int i = INDEX;
  u32 leader, chosen;
  asm volatile("{.reg .pred p; elect.sync %0|p, 0xffffffff; selp.u32 %1, 1, 0, p;}" : "=r"(leader), "=r"(chosen));
  out[2 * i] = leader;
  out[2 * i + 1] = chosen;
}
