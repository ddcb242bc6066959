// Integer instructions, compared bit for bit: one output column for each.
typedef unsigned short u16;
typedef unsigned u32;
typedef unsigned long long u64;

#define KERNEL extern "C" __global__ void
#define INDEX (blockIdx.x * blockDim.x + threadIdx.x)
#define ONE(column, instruction) asm(instruction " %0, %1;" : "=r"(o[column]) : "r"(x))
#define TWO(column, instruction) asm(instruction " %0, %1, %2;" : "=r"(o[column]) : "r"(x), "r"(y))
#define THREE(column, instruction) asm(instruction " %0, %1, %2, %3;" : "=r"(o[column]) : "r"(x), "r"(y), "r"(z))
#define W_ONE(column, instruction) asm(instruction " %0, %1;" : "=l"(o[column]) : "l"(x))
#define W_TWO(column, instruction) asm(instruction " %0, %1, %2;" : "=l"(o[column]) : "l"(x), "l"(y))
#define W_THREE(column, instruction) asm(instruction " %0, %1, %2, %3;" : "=l"(o[column]) : "l"(x), "l"(y), "l"(z))

KERNEL integer_products(const u32* a, const u32* b, const u32* c, u32* out, int n) {
  const int i = INDEX;
  if (i >= n) return;
  const u32 x = a[i], y = b[i], z = c[i];
  u32* o = out + 16 * i;
  TWO(0, "mul.lo.s32");
  TWO(1, "mul.hi.s32");
  TWO(2, "mul.hi.u32");
  TWO(3, "mul24.lo.s32");
  TWO(4, "mul24.hi.u32");
  THREE(5, "mad.lo.u32");
  THREE(6, "mad.hi.s32");
  THREE(7, "mad.hi.u32");
  THREE(8, "mad24.lo.u32");
  THREE(9, "mad24.hi.s32");
  THREE(10, "sad.s32");
  THREE(11, "sad.u32");
  THREE(12, "dp4a.s32.s32");
  THREE(13, "dp4a.u32.s32");
  THREE(14, "dp2a.lo.s32.s32");
  THREE(15, "dp2a.hi.u32.u32");
}

KERNEL integer_sums(const u32* a, const u32* b, u32* out, int n) {
  const int i = INDEX;
  if (i >= n) return;
  const u32 x = a[i], y = b[i];
  u32* o = out + 14 * i;
  TWO(0, "add.s32");
  TWO(1, "sub.s32");
  TWO(2, "add.sat.s32");
  TWO(3, "sub.sat.s32");
  TWO(4, "min.s32");
  TWO(5, "max.u32");
  ONE(6, "abs.s32");
  ONE(7, "neg.s32");
  asm("{add.cc.u32 %0, %3, %4; addc.cc.u32 %1, %4, %3; addc.u32 %2, 0, 0;}" : "=r"(o[8]), "=r"(o[9]), "=r"(o[10]) : "r"(x), "r"(y));
  asm("{sub.cc.u32 %0, %3, %4; subc.cc.u32 %1, %4, %3; subc.u32 %2, 0, 0;}" : "=r"(o[11]), "=r"(o[12]), "=r"(o[13]) : "r"(x), "r"(y));
}

KERNEL integer_division_edges(const u32* a, const u32* b, u32* out, int n) {
  const int i = INDEX;
  if (i >= n) return;
  const u32 x = a[i], y = b[i] == 0 ? 3u : b[i];
  u32* o = out + 4 * i;
  TWO(0, "div.u32");
  TWO(1, "rem.u32");
  TWO(2, "div.s32");
  TWO(3, "rem.s32");
}

KERNEL integer_bit_fields(const u32* a, const u32* b, const u32* c, u32* out, int n) {
  const int i = INDEX;
  if (i >= n) return;
  const u32 x = a[i], y = b[i], z = c[i];
  const u32 at = y & 0xff, length = z & 0xff;
  u32* o = out + 16 * i;
  asm("bfe.u32 %0, %1, %2, %3;" : "=r"(o[0]) : "r"(x), "r"(at), "r"(length));
  asm("bfe.s32 %0, %1, %2, %3;" : "=r"(o[1]) : "r"(x), "r"(at), "r"(length));
  asm("bfe.s32 %0, %1, %2, %3;" : "=r"(o[2]) : "r"(x), "r"(at & 31), "r"(length & 31));
  asm("bfi.b32 %0, %1, %2, %3, %4;" : "=r"(o[3]) : "r"(x), "r"(y), "r"(at), "r"(length));
  asm("bfi.b32 %0, %1, %2, %3, %4;" : "=r"(o[4]) : "r"(x), "r"(y), "r"(at & 31), "r"(length & 31));
  ONE(5, "brev.b32");
  ONE(6, "popc.b32");
  ONE(7, "clz.b32");
  ONE(8, "bfind.u32");
  ONE(9, "bfind.s32");
  ONE(10, "bfind.shiftamt.u32");
  TWO(11, "shl.b32");
  TWO(12, "shr.u32");
  TWO(13, "shr.s32");
  asm("shl.b32 %0, %1, %2;" : "=r"(o[14]) : "r"(x), "r"(y & 63));
  asm("shr.s32 %0, %1, %2;" : "=r"(o[15]) : "r"(x), "r"(y & 63));
}

KERNEL integer_permutes(const u32* a, const u32* b, const u32* c, u32* out, int n) {
  const int i = INDEX;
  if (i >= n) return;
  const u32 x = a[i], y = b[i], z = c[i];
  u32* o = out + 16 * i;
  THREE(0, "prmt.b32");
  THREE(1, "prmt.b32.f4e");
  THREE(2, "prmt.b32.b4e");
  THREE(3, "prmt.b32.rc8");
  THREE(4, "prmt.b32.ecl");
  THREE(5, "prmt.b32.ecr");
  THREE(6, "prmt.b32.rc16");
  THREE(7, "shf.l.wrap.b32");
  THREE(8, "shf.r.wrap.b32");
  THREE(9, "shf.l.clamp.b32");
  THREE(10, "shf.r.clamp.b32");
  asm("lop3.b32 %0, %1, %2, %3, 0x96;" : "=r"(o[11]) : "r"(x), "r"(y), "r"(z));
  asm("lop3.b32 %0, %1, %2, %3, 0xca;" : "=r"(o[12]) : "r"(x), "r"(y), "r"(z));
  asm("lop3.b32 %0, %1, %2, %3, 0x1d;" : "=r"(o[13]) : "r"(x), "r"(y), "r"(z));
  asm("lop3.b32 %0, %1, %2, %3, 0xe8;" : "=r"(o[14]) : "r"(x), "r"(y), "r"(z));
  asm("slct.u32.s32 %0, %1, %2, %3;" : "=r"(o[15]) : "r"(x), "r"(y), "r"(z));
}

KERNEL integer_wide(const u64* a, const u64* b, const u64* c, u64* out, int n) {
  const int i = INDEX;
  if (i >= n) return;
  const u64 x = a[i], y = b[i], z = c[i];
  u64* o = out + 18 * i;
  u32 r;
  W_TWO(0, "mul.lo.u64");
  W_TWO(1, "mul.hi.u64");
  W_TWO(2, "mul.hi.s64");
  W_THREE(3, "mad.lo.s64");
  asm("mul.wide.s32 %0, %1, %2;" : "=l"(o[4]) : "r"(static_cast<u32>(x)), "r"(static_cast<u32>(y)));
  asm("mul.wide.u32 %0, %1, %2;" : "=l"(o[5]) : "r"(static_cast<u32>(x)), "r"(static_cast<u32>(y)));
  asm("mad.wide.s32 %0, %1, %2, %3;" : "=l"(o[6]) : "r"(static_cast<u32>(x)), "r"(static_cast<u32>(y)), "l"(z));
  asm("bfe.u64 %0, %1, %2, %3;" : "=l"(o[7]) : "l"(x), "r"(static_cast<u32>(y) & 0x7f), "r"(static_cast<u32>(z) & 0x7f));
  asm("bfe.s64 %0, %1, %2, %3;" : "=l"(o[8]) : "l"(x), "r"(static_cast<u32>(y) & 0x3f), "r"(static_cast<u32>(z) & 0x3f));
  asm("bfi.b64 %0, %1, %2, %3, %4;" : "=l"(o[9]) : "l"(x), "l"(y), "r"(static_cast<u32>(y) & 0x3f), "r"(static_cast<u32>(z) & 0x3f));
  W_ONE(10, "brev.b64");
  asm("popc.b64 %0, %1;" : "=r"(r) : "l"(x));
  o[11] = r;
  asm("clz.b64 %0, %1;" : "=r"(r) : "l"(x));
  o[12] = r;
  asm("shl.b64 %0, %1, %2;" : "=l"(o[13]) : "l"(x), "r"(static_cast<u32>(y) & 0x7f));
  asm("shr.s64 %0, %1, %2;" : "=l"(o[14]) : "l"(x), "r"(static_cast<u32>(y) & 0x7f));
  W_TWO(15, "min.s64");
  W_TWO(16, "max.u64");
  const u64 divisor = y == 0 ? 5 : y;
  asm("div.s64 %0, %1, %2;" : "=l"(o[17]) : "l"(x), "l"(divisor));
}

KERNEL integer_short(const u32* a, const u32* b, u32* out, int n) {
  const int i = INDEX;
  if (i >= n) return;
  const u16 x = static_cast<u16>(a[i]), y = static_cast<u16>(b[i]);
  u32* o = out + 6 * i;
  u16 h;
#define S_TWO(column, instruction) asm(instruction " %0, %1, %2;" : "=h"(h) : "h"(x), "h"(y)); o[column] = h
  S_TWO(0, "mul.lo.s16");
  S_TWO(1, "mul.hi.u16");
  S_TWO(2, "add.s16");
  S_TWO(3, "min.s16");
  asm("mul.wide.s16 %0, %1, %2;" : "=r"(o[4]) : "h"(x), "h"(y));
  asm("mul.wide.u16 %0, %1, %2;" : "=r"(o[5]) : "h"(x), "h"(y));
}
