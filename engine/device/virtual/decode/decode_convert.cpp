#include <bit>
#include <initializer_list>
#include <optional>
#include <string_view>

#include "engine/device/virtual/arithmetic/alu_table.hpp"
#include "engine/device/virtual/arithmetic/ops_rounding.hpp"
#include "engine/device/virtual/decode/decode_context.hpp"

// Decodes cvt. alu_table() contains most conversions between floating-point formats, by their
// spelling. All other supported conversions are composed of one to three instructions here.

namespace evo::ptx {
namespace {

struct Conversion {
  std::optional<Rounding> integral;  ///< .rni .rzi .rmi .rpi
  std::optional<Rounding> rounding;  ///< .rn .rz .rm .rp
  bool ftz = false;
  bool sat = false;
  Type to = Type::kNone;
  Type from = Type::kNone;
};

/// Consumes the first of `names` that the instruction has. `names`: four modifiers in the order of
/// the enumeration Rounding.
std::optional<Rounding> take_rounding(Modifiers& modifiers,
                                      std::initializer_list<std::string_view> names) {
  const int found = modifiers.take_one_of(names);
  if (found < 0) return std::nullopt;
  return static_cast<Rounding>(found);
}

bool is_integer(Type type) { return type >= Type::kU8 && type <= Type::kS64; }

int log2_bytes(Type type) { return std::countr_zero(static_cast<unsigned>(bit_width(type) / 8)); }

/// True if the conversion has a rounding mode other than "to nearest".
bool is_directed(const Conversion& c) { return c.rounding && *c.rounding != Rounding::kNearest; }

void emit_step(DecodeContext& context, Handler fn, const Operands& operands, std::uint32_t dst,
               Type to, std::uint32_t source, TaintRule taint) {
  if (fn == nullptr) context.unsupported();
  context.emit(fn, operands, Pipe::kConvert, taint);
  context.last_info().dst_bytes = static_cast<std::uint8_t>(register_bytes(to));
  context.reads(source);
  context.writes(dst);
}

/// Emits one instruction that converts register `source` to register `dst`.
void step(DecodeContext& context, Handler fn, std::uint32_t dst, Type to, std::uint32_t source,
          TaintRule taint = TaintRule::kAny) {
  emit_step(context, fn, AluOperands{.dst = dst, .src = {source}}, dst, to, source, taint);
}

/// Emits one instruction whose handler rounds as `op` says.
void rounding_step(DecodeContext& context, Handler fn, const ConvertOperands& op, Type to) {
  emit_step(context, fn, op, op.dst, to, op.source, TaintRule::kAny);
}

Handler resize(Type to, Type from) {
  return alu_table().helpers.resize[std::countr_zero(static_cast<unsigned>(register_bytes(to)))]
                                   [log2_bytes(from)][is_signed(from) ? 1 : 0];
}

/// The register of an integer to convert, and its type. In a register, the bits above an 8-bit
/// integer are arbitrary, so a step clears them or fills them with the sign.
std::pair<std::uint32_t, Type> integer_source(DecodeContext& context, const Conversion& c) {
  const std::uint32_t source = context.source(context.current().operands[1], c.from);
  if (bit_width(c.from) != 8) return {source, c.from};
  const std::uint32_t clean = context.new_register(Type::kB16);
  step(context, resize(Type::kB16, c.from), clean, Type::kB16, source);
  return {clean, is_signed(c.from) ? Type::kS16 : Type::kU16};
}

/// Extends the integer to 64 bits, and saturates these.
void saturate(DecodeContext& context, const Conversion& c) {
  const auto [source, from] = integer_source(context, c);
  const Type wide_type = is_signed(from) ? Type::kS64 : Type::kU64;
  const std::uint32_t wide = context.new_register(Type::kB64);
  step(context, resize(Type::kB64, from), wide, wide_type, source);
  const Type to = bit_width(c.to) != 8 ? c.to : is_signed(c.to) ? Type::kS16 : Type::kU16;
  const std::uint32_t dst = context.destination(context.current().operands[0], to, is_signed(to));
  const auto& rows = alu_table().helpers.saturate[is_signed(from) ? 1 : 0];
  step(context, rows[is_signed(to) ? 1 : 0][log2_bytes(c.to)], dst, to, wide);
}

void integer_to_integer(DecodeContext& context, const Conversion& c) {
  const Instruction& in = context.current();
  if (c.sat) return saturate(context, c);
  const auto [source, from] = integer_source(context, c);
  const bool narrow_result = bit_width(c.to) == 8;
  const Type to = narrow_result ? (is_signed(c.to) ? Type::kS16 : Type::kU16) : c.to;
  const std::uint32_t dst = context.destination(in.operands[0], to, is_signed(c.to));
  const std::uint32_t middle = narrow_result ? context.new_register(Type::kB16) : dst;
  const bool truncates = bit_width(to) <= bit_width(from);
  step(context, resize(to, from), middle, to, source,
       truncates ? TaintRule::kMove : TaintRule::kAny);
  if (narrow_result) {
    step(context, alu_table().helpers.resize[1][0][is_signed(c.to) ? 1 : 0], dst, Type::kB16,
         middle);
  }
}

bool is_narrow(Type type) { return type == Type::kF16 || type == Type::kBf16; }

/// Converts to f16 or bf16 with one rounding: rounds an f32 that is the source, exactly or rounded
/// to odd.
void to_narrow(DecodeContext& context, const Conversion& c) {
  const auto& helpers = alu_table().helpers;
  const Operand& operand = context.current().operands[1];
  std::uint32_t source = kNoRegister;
  Handler first = nullptr;
  if (is_integer(c.from)) {
    const auto [integer, type] = integer_source(context, c);
    source = integer;
    first = helpers.integer_to_odd[is_signed(type) ? 1 : 0][log2_bytes(type) - 1];
  } else {
    source = context.source(operand, c.from);
    if (c.from == Type::kF16) first = alu_table().entries.at("cvt.f32.f16").fn;
    if (c.from == Type::kBf16) first = alu_table().entries.at("cvt.f32.bf16").fn;
    if (first == nullptr && c.from != Type::kF32 && c.from != Type::kF64) context.unsupported();
  }
  if (first != nullptr) {
    const std::uint32_t middle = context.new_register(Type::kF32);
    step(context, first, middle, Type::kF32, source);
    source = middle;
  }
  const std::uint32_t dst = context.destination(context.current().operands[0], c.to);
  const auto& to_types = c.from == Type::kF64 ? helpers.f64_to_narrow : helpers.f32_to_narrow;
  rounding_step(context, to_types[c.to == Type::kF16 ? 0 : 1],
                {.dst = dst,
                 .source = source,
                 .rounding = c.rounding.value_or(Rounding::kNearest),
                 .ftz = c.ftz,
                 .sat = c.sat},
                c.to);
}

void integer_to_float(DecodeContext& context, const Conversion& c) {
  if (is_narrow(c.to)) return to_narrow(context, c);
  if (c.sat) context.unsupported("saturating conversion to f32 or f64");
  const Instruction& in = context.current();
  const auto [source, from] = integer_source(context, c);
  const auto& helpers = alu_table().helpers;
  const std::size_t row = is_signed(from) ? 1 : 0;
  const auto column = static_cast<std::size_t>(log2_bytes(from) - 1);
  const std::uint32_t dst = context.destination(in.operands[0], c.to);
  if (c.to != Type::kF32 && c.to != Type::kF64) context.unsupported();
  if (is_directed(c)) {
    rounding_step(context, rounded_integer_to_float(c.to, from),
                  {.dst = dst, .source = source, .rounding = *c.rounding}, c.to);
    return;
  }
  const auto& table = c.to == Type::kF32 ? helpers.integer_to_f32 : helpers.integer_to_f64;
  step(context, table[row][column], dst, c.to, source);
}

void float_to_integer(DecodeContext& context, const Conversion& c) {
  const Instruction& in = context.current();
  if (!c.integral) context.unsupported("no rounding to an integer");
  const bool wide = c.from == Type::kF64;
  std::uint32_t source = context.source(in.operands[1], c.from);
  if (c.from == Type::kF16 || c.from == Type::kBf16) {
    const std::uint32_t middle = context.new_register(Type::kF32);
    step(context, alu_table().entries.at(c.from == Type::kF16 ? "cvt.f32.f16" : "cvt.f32.bf16").fn,
         middle, Type::kF32, source);
    source = middle;
  } else if (c.from != Type::kF32 && !wide) {
    context.unsupported();
  }
  const auto& table =
      wide ? alu_table().helpers.f64_to_integer : alu_table().helpers.f32_to_integer;
  const Handler fn = table[is_signed(c.to) ? 1 : 0][log2_bytes(c.to)];
  const Type stored = bit_width(c.to) == 8 ? Type::kB16 : c.to;
  const std::uint32_t dst = context.destination(in.operands[0], stored, is_signed(c.to));
  rounding_step(context, fn,
                {.dst = dst, .source = source, .rounding = *c.integral, .ftz = c.ftz, .sat = c.sat},
                stored);
}

void float_to_float(DecodeContext& context, const Conversion& c) {
  const Instruction& in = context.current();
  const bool same = c.from == c.to;
  if (same && (c.to == Type::kF32 || c.to == Type::kF64)) {
    const std::uint32_t source = context.source(in.operands[1], c.from);
    const std::uint32_t dst = context.destination(in.operands[0], c.to);
    const auto& helpers = alu_table().helpers;
    rounding_step(context, c.to == Type::kF32 ? helpers.same_f32 : helpers.same_f64,
                  {.dst = dst,
                   .source = source,
                   .rounding = c.integral.value_or(Rounding::kNearest),
                   .keeps_value = !c.integral,
                   .ftz = c.ftz,
                   .sat = c.sat},
                  c.to);
    return;
  }
  if (is_narrow(c.to) && (same ? c.sat && !c.integral : c.rounding.has_value()))
    return to_narrow(context, c);
  if (same && is_narrow(c.to) && c.integral) {
    const bool half = c.to == Type::kF16;
    const auto& entries = alu_table().entries;
    const std::uint32_t source = context.source(in.operands[1], c.from);
    const std::uint32_t dst = context.destination(in.operands[0], c.to);
    const std::uint32_t wide = context.new_register(Type::kF32);
    const std::uint32_t rounded = context.new_register(Type::kF32);
    step(context, entries.at(half ? "cvt.f32.f16" : "cvt.f32.bf16").fn, wide, Type::kF32, source);
    rounding_step(context, alu_table().helpers.same_f32,
                  {.dst = rounded, .source = wide, .rounding = *c.integral, .sat = c.sat},
                  Type::kF32);
    step(context, entries.at(half ? "cvt.rn.f16.f32" : "cvt.rn.bf16.f32").fn, dst, Type::kB16,
         rounded);
    return;
  }
  if (c.from == Type::kF64 && c.to == Type::kF32 && is_directed(c) && !c.sat) {
    const std::uint32_t source = context.source(in.operands[1], c.from);
    const std::uint32_t dst = context.destination(in.operands[0], c.to);
    rounding_step(
        context, rounded_f64_to_f32,
        {.dst = dst, .source = source, .rounding = *c.rounding, .ftz = c.ftz, .sat = c.sat}, c.to);
    return;
  }
  context.unsupported();
}

}  // namespace

void decode_convert(DecodeContext& context) {
  const Instruction& in = context.current();
  if (alu_table().entries.contains(in.spelling)) {
    decode_alu(context);
    return;
  }
  if (in.operands.size() != 2) context.unsupported();
  Modifiers modifiers(in);
  Conversion c;
  c.integral = take_rounding(modifiers, {"rni", "rzi", "rmi", "rpi"});
  c.rounding = take_rounding(modifiers, {"rn", "rz", "rm", "rp"});
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
}

}  // namespace evo::ptx
