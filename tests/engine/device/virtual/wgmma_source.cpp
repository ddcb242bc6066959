#include "tests/engine/device/virtual/wgmma_source.hpp"

#include "tests/engine/device/virtual/test_gpu.hpp"

namespace evo::test {
namespace {

constexpr WgmmaVariant kVariants[] = {
    {"f16_one_step", "f16.f16", 64, 1, 32},
    {"f16_none", "f16.f16", 64, 2, 0},
    {"f16_32", "f16.f16", 64, 2, 32},
    {"f16_64", "f16.f16", 64, 2, 64},
    {"f16_128", "f16.f16", 64, 4, 128},
    {"f16_128_beyond_the_pattern", "f16.f16", 8, 8, 128},
    {"f16_widest", "f16.f16", 256, 2, 64},
    {"f16_b_none", "f16.f16", 72, 2, 0, PlaceOfA::kSharedK, true},
    {"f16_b_32", "f16.f16", 72, 2, 32, PlaceOfA::kSharedK, true},
    {"f16_b_64", "f16.f16", 72, 2, 64, PlaceOfA::kSharedK, true},
    {"f16_b_128", "f16.f16", 136, 4, 128, PlaceOfA::kSharedK, true},
    {"f16_both_none", "f16.f16", 24, 2, 0, PlaceOfA::kSharedM, true},
    {"f16_both_32", "f16.f16", 24, 2, 32, PlaceOfA::kSharedM, true},
    {"f16_both_64", "f16.f16", 24, 2, 64, PlaceOfA::kSharedM, true},
    {"f16_both_128", "f16.f16", 64, 2, 128, PlaceOfA::kSharedM, true},
    {"f16_registers", "f16.f16", 64, 4, 128, PlaceOfA::kRegisters, false},
    {"f16_registers_b", "f16.f16", 72, 4, 128, PlaceOfA::kRegisters, true},
    {"f16_replaces", "f16.f16", 16, 2, 64, PlaceOfA::kSharedK, false, false},
    {"f16_minus_a", "f16.f16", 16, 1, 32, PlaceOfA::kSharedK, false, true, -1},
    {"f16_minus_both", "f16.f16", 16, 1, 32, PlaceOfA::kRegisters, false, true, -1, -1},
    {"bf16_b", "bf16.bf16", 64, 4, 128, PlaceOfA::kSharedK, true},
    {"e4m3_one_step", "e4m3.e4m3", 64, 1, 32},
    {"e4m3_none", "e4m3.e4m3", 64, 2, 0},
    {"e4m3_64", "e4m3.e4m3", 32, 2, 64},
    {"e4m3_128", "e4m3.e4m3", 128, 4, 128},
    {"e4m3_registers", "e4m3.e4m3", 64, 2, 64, PlaceOfA::kRegisters},
    {"e4m3_replaces", "e4m3.e4m3", 64, 2, 64, PlaceOfA::kSharedK, false, false},
    {"e5m2_32", "e5m2.e5m2", 40, 1, 32},
    {"e4m3_e5m2", "e4m3.e5m2", 8, 1, 32},
    {"e5m2_e4m3_minus_b", "e5m2.e4m3", 8, 1, 32, PlaceOfA::kSharedK, false, true, 1, -1},
};

/// A list of `count` operands, "%first, …", whose numbers increase by 1.
std::string names(int first, int count) {
  std::string text;
  for (int i = 0; i < count; ++i) text += (i == 0 ? "%" : ", %") + std::to_string(first + i);
  return text;
}

/// A list of `count` operands of inline assembly: "constraint"(array[0]), "constraint"(array[1]), …
std::string operands(const std::string& constraint, const std::string& array, int count) {
  std::string text;
  for (int i = 0; i < count; ++i)
    text += (i == 0 ? "\"" : ", \"") + constraint + "\"(" + array + "[" + std::to_string(i) + "])";
  return text;
}

/// Defines a macro PRODUCT that executes the wgmma; its parameters place_a and place_b are the
/// shared-memory descriptors of A and B.
std::string product_macro(const WgmmaVariant& v) {
  const bool wide = element_bytes(v) == 2;
  const bool registers = v.a == PlaceOfA::kRegisters;
  const int sums = v.n / 2;
  const int b = sums + (registers ? 4 : 1);
  const std::string shape = "m64n" + std::to_string(v.n) + (wide ? "k16" : "k32");
  std::string text =
      "#define PRODUCT(d, a, place_a, place_b, scale) asm volatile(\"{ .reg .pred p; ";
  text += "setp.ne.b32 p, %" + std::to_string(b + 1) + ", 0; wgmma.mma_async.sync.aligned." +
          shape + ".f32." + v.types + " {" + names(0, sums) + "}, ";
  text += registers ? "{" + names(sums, 4) + "}" : names(sums, 1);
  text += ", %" + std::to_string(b) + ", p, " + std::to_string(v.scale_a) + ", " +
          std::to_string(v.scale_b);
  if (wide && !registers) text += v.a == PlaceOfA::kSharedM ? ", 1" : ", 0";
  if (wide) text += v.b_n_major ? ", 1" : ", 0";
  text += "; }\" : " + operands("+f", "d", sums) + " : ";
  text += registers ? operands("r", "a", 4) : "\"l\"(place_a)";
  return text + ", \"l\"(place_b), \"r\"(scale) : \"memory\")\n";
}

std::string define(const char* name, int value) {
  return std::string("#define ") + name + " " + std::to_string(value) + "\n";
}

}  // namespace

std::vector<WgmmaVariant> wgmma_variants() { return {std::begin(kVariants), std::end(kVariants)}; }

int element_bytes(const WgmmaVariant& variant) {
  const std::string types = variant.types;
  return types.starts_with("f16") || types.starts_with("bf16") ? 2 : 1;
}

std::string wgmma_source(const WgmmaVariant& variant) {
  return define("ELEMENT_BYTES", element_bytes(variant)) + define("N", variant.n) +
         define("STEPS", variant.steps) + define("SWIZZLE", variant.swizzle) +
         define("A_PLACE", static_cast<int>(variant.a)) +
         define("B_N_MAJOR", variant.b_n_major ? 1 : 0) + product_macro(variant) +
         kernel_source("wgmma.cu");
}

}  // namespace evo::test
