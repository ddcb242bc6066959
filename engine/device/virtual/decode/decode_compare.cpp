#include <algorithm>
#include <array>
#include <bit>

#include "engine/device/virtual/arithmetic/alu_table.hpp"
#include "engine/device/virtual/decode/decode_context.hpp"

// setp and set.

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

/// Emits the comparison of operands 1 and 2 into predicates p and q.
void emit_compare(DecodeContext& context, Compare op, bool ftz, int combine, Type type,
                  std::uint32_t p, std::uint32_t q) {
  const Instruction& in = context.current();
  const Handler fn = handler_for(type);
  if (fn == nullptr) context.unsupported();
  const std::uint32_t a = context.source(in.operands[1], type);
  const std::uint32_t b = context.source(in.operands[2], type);
  std::uint32_t third = kNoRegister;
  if (combine > 0) {
    if (in.operands.size() != 4) context.fail(in.opcode + " needs a third predicate");
    third = context.predicate(in.operands[3]);
  }
  Instr& out = context.emit(fn, Pipe::kAlu, TaintRule::kAny);
  out.dst = p;
  out.dst2 = q;
  out.src[0] = a;
  out.src[1] = b;
  out.src[2] = third;
  out.negated = combine > 0 && in.operands[3].negated;
  out.aux = static_cast<std::uint16_t>(static_cast<unsigned>(op) |
                                       (ftz && type == Type::kF32 ? 0x10U : 0U) |
                                       static_cast<unsigned>(combine) << kCombineShift);
  context.last_info().dst_bytes = 4;
  for (const std::uint32_t reg : {a, b, third}) context.reads(reg);
  context.writes(p);
  context.writes(q);
}

}  // namespace

bool decode_compare(DecodeContext& context) {
  const Instruction& in = context.current();
  const bool to_predicate = in.parts[0] == "setp";
  if (!to_predicate && in.parts[0] != "set") return false;
  if (in.operands.size() < 3) context.unsupported();
  Modifiers modifiers(in);
  const auto found =
      std::ranges::find_if(kComparisons, [&](const Spelling& s) { return modifiers.take(s.name); });
  if (found == kComparisons.end()) modifiers.unsupported();
  const int combine = modifiers.take_one_of({"and", "or", "xor"}) + 1;
  const bool ftz = modifiers.take("ftz");
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
    const std::uint32_t p = target(pair ? to.elements[0] : to);
    emit_compare(context, found->op, ftz, combine, type, p,
                 pair ? target(to.elements[1]) : kNoRegister);
    return true;
  }
  // set: the predicate as a number: all ones, or 1.0.
  if (result != Type::kU32 && result != Type::kS32 && result != Type::kF32) modifiers.unsupported();
  const std::uint32_t p = context.new_register(Type::kPred);
  emit_compare(context, found->op, ftz, combine, type, p, kNoRegister);
  const std::uint32_t yes =
      context.constant(result == Type::kF32 ? 0x3f800000U : 0xffffffffU, Type::kB32);
  const std::uint32_t no = context.constant(0, Type::kB32);
  const std::uint32_t dst = context.destination(in.operands[0], Type::kB32);
  Instr& out = context.emit(alu_table().entries.at("selp.b32").fn, Pipe::kAlu, TaintRule::kSelect);
  out.dst = dst;
  out.src[0] = yes;
  out.src[1] = no;
  out.src[2] = p;
  for (const std::uint32_t reg : {yes, no, p}) context.reads(reg);
  context.writes(dst);
  return true;
}

}  // namespace evo::ptx
