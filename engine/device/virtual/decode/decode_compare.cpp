#include <algorithm>
#include <array>
#include <bit>

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
  // The PTX instruction `set` writes all ones or 1.0 if the comparison holds, otherwise 0.
  if (result != Type::kU32 && result != Type::kS32 && result != Type::kF32) modifiers.unsupported();
  op.holds = context.new_register(Type::kPred);
  emit_compare(context, op, type);
  const std::uint32_t yes =
      context.constant(result == Type::kF32 ? 0x3f800000U : 0xffffffffU, Type::kB32);
  const std::uint32_t no = context.constant(0, Type::kB32);
  const std::uint32_t dst = context.destination(in.operands[0], Type::kB32);
  context.emit(alu_table().entries.at("selp.b32").fn,
               AluOperands{.dst = dst, .src = {yes, no, op.holds}}, Pipe::kAlu, TaintRule::kSelect);
  for (const std::uint32_t reg : {yes, no, op.holds}) context.reads(reg);
  context.writes(dst);
}

}  // namespace evo::ptx
