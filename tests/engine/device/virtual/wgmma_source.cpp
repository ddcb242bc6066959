#include "tests/engine/device/virtual/wgmma_source.hpp"

#include "tests/engine/device/virtual/test_gpu.hpp"

namespace evo::test {
namespace {

/// "%first, …" with `count` names.
std::string names(int first, int count) {
  std::string text;
  for (int i = 0; i < count; ++i) text += (i == 0 ? "%" : ", %") + std::to_string(first + i);
  return text;
}

/// `constraint`(array[0]), …
std::string operands(const std::string& constraint, const std::string& array, int count) {
  std::string text;
  for (int i = 0; i < count; ++i)
    text += (i == 0 ? "\"" : ", \"") + constraint + "\"(" + array + "[" + std::to_string(i) + "])";
  return text;
}

/// The instruction as a macro of (d, a, place_a, place_b, scale).
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
