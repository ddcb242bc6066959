#include <algorithm>
#include <array>
#include <bit>
#include <optional>

#include "engine/device/virtual/arithmetic/alu_table.hpp"
#include "engine/device/virtual/decode/decode_context.hpp"

// Decodes setp and set.

namespace evo::ptx {
namespace {

struct Spelling {
  std::string_view name;
  Compare op;
};

constexpr std::array kComparisons = {
    Spelling{"eq", Compare::kEq},   Spelling{"ne", Compare::kNe},   Spelling{"lt", Compare::kLt},
    Spelling{"le", Compare::kLe},   Spelling{"gt", Compare::kGt},   Spelling{"ge", Compare::kGe},
    Spelling{"equ", Compare::kEqu}, Spelling{"neu", Compare::kNeu}, Spelling{"ltu", Compare::kLtu},
    Spelling{"leu", Compare::kLeu}, Spelling{"gtu", Compare::kGtu}, Spelling{"geu", Compare::kGeu},
    Spelling{"num", Compare::kNum}, Spelling{"nan", Compare::kNan}, Spelling{"lo", Compare::kLt},
    Spelling{"ls", Compare::kLe},   Spelling{"hi", Compare::kGt},   Spelling{"hs", Compare::kGe},
};

Handler handler_for(Type type) {
  const auto& helpers = alu_table().helpers;
  if (type == Type::kF16) return helpers.setp_f16;
  if (type == Type::kBf16) return helpers.setp_bf16;
  if (type == Type::kF16x2) return helpers.setp_f16x2;
  if (type == Type::kBf16x2) return helpers.setp_bf16x2;
  const int bytes = bit_width(type) / 8;
  if (bytes < 2 || bytes > 8) return nullptr;
  const std::size_t row = is_float(type) ? 2 : is_signed(type) ? 1 : 0;
  return helpers.setp[row][std::countr_zero(static_cast<unsigned>(bytes))];
}

/// Emits an instruction that compares operands 1 and 2 and writes the result to the predicates of
/// `op`.
void emit_compare(DecodeContext& context, CompareOperands op, Type type) {
  const Instruction& in = context.current();
  const Handler fn = handler_for(type);
  if (fn == nullptr) context.unsupported();
  op.a = context.source(in.operands[1], type);
  op.b = context.source(in.operands[2], type);
  if (op.combine != Combine::kNone) {
    if (in.operands.size() != 4) context.fail(in.spelling + " needs a predicate as third source");
    op.third = context.predicate(in.operands[3]);
    op.negated = in.operands[3].negated;
  }
  context.emit(fn, op, Pipe::kAlu, TaintRule::kAny);
  context.last_info().dst_bytes = 4;
  for (const std::uint32_t reg : {op.a, op.b, op.third}) context.reads(reg);
  context.writes(op.holds);
  context.writes(op.opposite);
}

/// The bits that `set` writes for a comparison that holds: 1.0 or all ones. nullopt for types that
/// `set` cannot write.
std::optional<std::uint32_t> bits_of_true(Type result) {
  switch (result) {
    case Type::kU16:
    case Type::kS16:
    case Type::kU32:
    case Type::kS32:
      return 0xffffffffU;
    case Type::kF32:
      return 0x3f800000U;
    case Type::kF16:
    case Type::kF16x2:
      return 0x3c003c00U;
    case Type::kBf16:
    case Type::kBf16x2:
      return 0x3f803f80U;
    default:
      return std::nullopt;
  }
}

/// Emits the second instruction of `set`: writes `bits` where the comparison `op` holds, and 0
/// elsewhere. A comparison of pairs decides on each half of the bits.
void emit_value(DecodeContext& context, const CompareOperands& op, std::uint32_t bits, Type type) {
  const bool is_word = type == Type::kB32;
  AluOperands select;
  select.dst = context.destination(context.current().operands[0], type);
  select.src[0] = context.constant(is_word ? bits : bits & 0xffffU, type);
  if (op.opposite == kNoRegister) {
    select.src[1] = context.constant(0, type);
    select.src[2] = op.holds;
    context.emit(alu_table().entries.at(is_word ? "selp.b32" : "selp.b16").fn, select, Pipe::kAlu,
                 TaintRule::kSelect);
  } else {
    select.src[1] = op.holds;
    select.src[2] = op.opposite;
    context.emit(alu_table().helpers.select_halves, select, Pipe::kAlu, TaintRule::kAny);
  }
  context.last_info().dst_bytes = is_word ? 4 : 2;
  for (const std::uint32_t reg : select.src) context.reads(reg);
  context.writes(select.dst);
}

}  // namespace

void decode_compare(DecodeContext& context) {
  const Instruction& in = context.current();
  const bool to_predicate = in.opcode == Opcode::kSetp;
  if (in.operands.size() < 3) context.unsupported();
  Modifiers modifiers(in);
  const auto found =
      std::ranges::find_if(kComparisons, [&](const Spelling& s) { return modifiers.take(s.name); });
  if (found == kComparisons.end()) modifiers.unsupported();
  CompareOperands op;
  op.op = found->op;
  op.combine = static_cast<Combine>(modifiers.take_one_of({"and", "or", "xor"}) + 1);
  op.ftz = modifiers.take("ftz");
  const Type result = to_predicate ? Type::kPred : modifiers.take_type();
  const Type type = modifiers.take_type();
  modifiers.finish();
  if (to_predicate) {
    const Operand& to = in.operands[0];
    const bool pair = to.kind == Operand::Kind::kPair;
    const auto target = [&](const Operand& operand) {
      return operand.kind == Operand::Kind::kSink ? kNoRegister
                                                  : context.destination(operand, Type::kPred);
    };
    op.holds = target(pair ? to.elements[0] : to);
    if (pair) op.opposite = target(to.elements[1]);
    emit_compare(context, op, type);
    return;
  }
  const auto bits = bits_of_true(result);
  const bool is_pair = type == Type::kF16x2 || type == Type::kBf16x2;
  const bool gives_pair = result == Type::kF16x2 || result == Type::kBf16x2;
  if (!bits || (is_pair ? bit_width(result) != 32 || result == Type::kF32 : gives_pair))
    modifiers.unsupported();
  op.holds = context.new_register(Type::kPred);
  if (is_pair) op.opposite = context.new_register(Type::kPred);
  emit_compare(context, op, type);
  emit_value(context, op, *bits, is_pair || bit_width(result) == 32 ? Type::kB32 : Type::kB16);
}

}  // namespace evo::ptx
