#include <array>
#include <bit>

#include "engine/device/virtual/arithmetic/alu_table.hpp"
#include "engine/device/virtual/arithmetic/ops_rounding.hpp"
#include "engine/device/virtual/decode/decode_context.hpp"

// cvt. Packed and half-precision conversions stand in the table under their spelling; conversions
// from and to integers are put together here. Those that no single step covers become two.

namespace evo::ptx {
namespace {

struct Conversion {
  int integral = -1;  ///< .rni .rzi .rmi .rpi
  int rounding = -1;  ///< .rn .rz .rm .rp
  bool ftz = false;
  bool sat = false;
  Type to = Type::kNone;
  Type from = Type::kNone;
};

bool is_integer(Type type) { return type >= Type::kU8 && type <= Type::kS64; }

int log2_bytes(Type type) { return std::countr_zero(static_cast<unsigned>(bit_width(type) / 8)); }

std::uint16_t flags_of(const Conversion& c) {
  return static_cast<std::uint16_t>((c.ftz ? kFtz : 0) | (c.sat ? kSat : 0));
}

/// One conversion step from register `source` to a new or final register.
void step(DecodeContext& context, Handler fn, std::uint32_t dst, Type to, std::uint32_t source,
          std::uint16_t aux, TaintRule taint = TaintRule::kAny) {
  if (fn == nullptr) context.unsupported();
  Instr& out = context.emit(fn, Pipe::kConvert, taint);
  out.dst = dst;
  out.src[0] = source;
  out.aux = aux;
  context.last_info().dst_bytes = static_cast<std::uint8_t>(register_bytes(to));
  context.reads(source);
  context.writes(dst);
}

Handler resize(Type to, Type from) {
  return alu_table().helpers.resize[std::countr_zero(static_cast<unsigned>(register_bytes(to)))]
                                   [log2_bytes(from)][is_signed(from) ? 1 : 0];
}

void integer_to_integer(DecodeContext& context, const Conversion& c) {
  const Instruction& in = context.current();
  if (c.sat) context.unsupported("saturating integer conversion");
  std::uint32_t source = context.source(in.operands[1], c.from);
  Type from = c.from;
  if (bit_width(from) == 8) {
    // The register may hold anything above its low byte.
    const std::uint32_t clean = context.new_register(Type::kB16);
    step(context, alu_table().helpers.resize[1][0][is_signed(from) ? 1 : 0], clean, Type::kB16,
         source, 0);
    source = clean;
    from = is_signed(from) ? Type::kS16 : Type::kU16;
  }
  const bool narrow_result = bit_width(c.to) == 8;
  const Type to = narrow_result ? (is_signed(c.to) ? Type::kS16 : Type::kU16) : c.to;
  const std::uint32_t dst = context.destination(in.operands[0], to, is_signed(c.to));
  const std::uint32_t middle = narrow_result ? context.new_register(Type::kB16) : dst;
  const bool truncates = bit_width(to) <= bit_width(from);
  step(context, resize(to, from), middle, to, source, 0,
       truncates ? TaintRule::kMove : TaintRule::kAny);
  if (narrow_result)
    step(context, alu_table().helpers.resize[1][0][is_signed(c.to) ? 1 : 0], dst, Type::kB16,
         middle, 0);
}

void integer_to_float(DecodeContext& context, const Conversion& c) {
  const Instruction& in = context.current();
  std::uint32_t source = context.source(in.operands[1], c.from);
  Type from = c.from;
  if (bit_width(from) == 8) {
    const std::uint32_t clean = context.new_register(Type::kB16);
    step(context, alu_table().helpers.resize[1][0][is_signed(from) ? 1 : 0], clean, Type::kB16,
         source, 0);
    source = clean;
    from = is_signed(from) ? Type::kS16 : Type::kU16;
  }
  const auto& helpers = alu_table().helpers;
  const std::size_t row = is_signed(from) ? 1 : 0;
  const auto column = static_cast<std::size_t>(log2_bytes(from) - 1);
  const std::uint32_t dst = context.destination(in.operands[0], c.to);
  if (c.to == Type::kF16 || c.to == Type::kBf16) {
    // 32 bits and fewer are exact in double; then one rounding.
    if (c.rounding > 0 || c.to == Type::kBf16 || bit_width(from) == 64)
      context.unsupported("this integer to half conversion");
    const std::uint32_t wide = context.new_register(Type::kF64);
    step(context, helpers.integer_to_f64[row][column], wide, Type::kF64, source, 0);
    step(context, alu_table().entries.at("cvt.rn.f16.f64").fn, dst, Type::kB16, wide, 0);
    return;
  }
  if (c.to != Type::kF32 && c.to != Type::kF64) context.unsupported();
  if (c.rounding > 0) {
    step(context, rounded_integer_to_float(c.to, from), dst, c.to, source,
         static_cast<std::uint16_t>(c.rounding));
    return;
  }
  const auto& table = c.to == Type::kF32 ? helpers.integer_to_f32 : helpers.integer_to_f64;
  step(context, table[row][column], dst, c.to, source, 0);
}

void float_to_integer(DecodeContext& context, const Conversion& c) {
  const Instruction& in = context.current();
  if (c.integral < 0) context.unsupported("no rounding to an integer");
  const bool wide = c.from == Type::kF64;
  std::uint32_t source = context.source(in.operands[1], c.from);
  if (c.from == Type::kF16 || c.from == Type::kBf16) {
    const std::uint32_t middle = context.new_register(Type::kF32);
    step(context, alu_table().entries.at(c.from == Type::kF16 ? "cvt.f32.f16" : "cvt.f32.bf16").fn,
         middle, Type::kF32, source, 0);
    source = middle;
  } else if (c.from != Type::kF32 && !wide) {
    context.unsupported();
  }
  const auto& table =
      wide ? alu_table().helpers.f64_to_integer : alu_table().helpers.f32_to_integer;
  const Handler fn = table[is_signed(c.to) ? 1 : 0][log2_bytes(c.to)];
  const Type stored = bit_width(c.to) == 8 ? Type::kB16 : c.to;
  const std::uint32_t dst = context.destination(in.operands[0], stored, is_signed(c.to));
  step(context, fn, dst, stored, source, static_cast<std::uint16_t>(c.integral | flags_of(c)));
}

void float_to_float(DecodeContext& context, const Conversion& c) {
  const Instruction& in = context.current();
  const bool same = c.from == c.to;
  if (same && (c.to == Type::kF32 || c.to == Type::kF64)) {
    const std::uint32_t source = context.source(in.operands[1], c.from);
    const std::uint32_t dst = context.destination(in.operands[0], c.to);
    const auto aux = static_cast<std::uint16_t>(((c.integral + 1) << kSlowShift) | flags_of(c));
    step(context, alu_table().entries.at(c.to == Type::kF32 ? "cvt.same.f32" : "cvt.same.f64").fn,
         dst, c.to, source, aux);
    return;
  }
  if (same && (c.to == Type::kF16 || c.to == Type::kBf16) && c.integral >= 0) {
    const bool half = c.to == Type::kF16;
    const auto& entries = alu_table().entries;
    const std::uint32_t source = context.source(in.operands[1], c.from);
    const std::uint32_t dst = context.destination(in.operands[0], c.to);
    const std::uint32_t wide = context.new_register(Type::kF32);
    const std::uint32_t rounded = context.new_register(Type::kF32);
    step(context, entries.at(half ? "cvt.f32.f16" : "cvt.f32.bf16").fn, wide, Type::kF32, source,
         0);
    step(context, entries.at("cvt.same.f32").fn, rounded, Type::kF32, wide,
         static_cast<std::uint16_t>((c.integral + 1) << kSlowShift));
    step(context, entries.at(half ? "cvt.rn.f16.f32" : "cvt.rn.bf16.f32").fn, dst, Type::kB16,
         rounded, 0);
    return;
  }
  if (c.from == Type::kF64 && c.to == Type::kF32 && c.rounding > 0 && !c.sat) {
    const std::uint32_t source = context.source(in.operands[1], c.from);
    const std::uint32_t dst = context.destination(in.operands[0], c.to);
    step(context, rounded_f64_to_f32, dst, c.to, source,
         static_cast<std::uint16_t>(c.rounding | flags_of(c)));
    return;
  }
  context.unsupported();
}

}  // namespace

bool decode_convert(DecodeContext& context) {
  const Instruction& in = context.current();
  if (in.parts[0] != "cvt") return false;
  if (alu_table().entries.contains(in.opcode)) return false;  // decode_alu takes it
  if (in.operands.size() != 2) context.unsupported();
  Modifiers modifiers(in);
  Conversion c;
  c.integral = modifiers.take_one_of({"rni", "rzi", "rmi", "rpi"});
  c.rounding = modifiers.take_one_of({"rn", "rz", "rm", "rp"});
  c.ftz = modifiers.take("ftz");
  c.sat = modifiers.take("sat");
  c.to = modifiers.take_type();
  c.from = modifiers.take_type();
  modifiers.finish();
  if (is_integer(c.to) && is_integer(c.from)) {
    integer_to_integer(context, c);
  } else if (is_integer(c.from)) {
    integer_to_float(context, c);
  } else if (is_integer(c.to)) {
    float_to_integer(context, c);
  } else {
    float_to_float(context, c);
  }
  return true;
}

}  // namespace evo::ptx
