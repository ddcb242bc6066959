#pragma once

#include <string>
#include <vector>

namespace evo::test {

enum class PlaceOfA { kRegisters = 0, kSharedK = 1, kSharedM = 2 };

/// A variant of the product in kernels/wgmma.cu.
struct WgmmaVariant {
  const char* name;
  const char* types;  ///< types of A and B: "f16.f16", "e4m3.e5m2" …
  int n = 64;
  int steps = 1;    ///< number of steps of 32 bytes of K
  int swizzle = 0;  ///< in bytes: 0 (none), 32, 64 or 128
  PlaceOfA a = PlaceOfA::kSharedK;
  bool b_n_major = false;
  bool adds = true;  ///< the kernel adds C; otherwise scale-d of the first instruction is 0
  int scale_a = 1;
  int scale_b = 1;
};

/// The variants that tests run. Together, they use every swizzle, every place of A, and the operand
/// types f16, bf16, e4m3 and e5m2.
[[nodiscard]] std::vector<WgmmaVariant> wgmma_variants();

/// The size of an element of A and B in bytes.
[[nodiscard]] int element_bytes(const WgmmaVariant& variant);

/// CUDA source of a variant: its macro definitions, followed by kernels/wgmma.cu.
[[nodiscard]] std::string wgmma_source(const WgmmaVariant& variant);

}  // namespace evo::test
