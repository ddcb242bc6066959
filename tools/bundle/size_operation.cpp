#include "tools/bundle/size_operation.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <string>
#include <string_view>

namespace evo {
namespace {

using ptx::Instruction;
using ptx::Opcode;
using ptx::Type;
using Sources = std::vector<std::optional<SizeValue>>;
using Whole = std::int64_t;
__extension__ using Wide = unsigned __int128;

constexpr int kMostPlaces = 52;  ///< largest shift whose result double precision represents

std::optional<Type> type_at(const Instruction& instruction, std::size_t from_last) {
  const std::vector<std::string>& modifiers = instruction.modifiers;
  if (modifiers.size() <= from_last) return std::nullopt;
  return ptx::type_from_name(modifiers[modifiers.size() - 1 - from_last]);
}

Type type_of(const Instruction& instruction) {
  return type_at(instruction, 0).value_or(Type::kNone);
}

bool is_unsigned(Type type) { return type >= Type::kU8 && type <= Type::kU64; }

bool has_modifier(const Instruction& instruction, std::string_view name) {
  return std::ranges::find(instruction.modifiers, name) != instruction.modifiers.end();
}

/// The result of an operation that expressions cannot describe. The result depends on the shape
/// variables of all source operands; nullopt if a source does not depend on sizes alone.
std::optional<SizeValue> unwritten_of(const Sources& sources) {
  SizeValue result;
  for (const auto& source : sources) {
    if (!source) return std::nullopt;
    result = unwritten(result, *source);
  }
  return result;
}

bool all_known(const Sources& sources) {
  return !sources.empty() &&
         std::ranges::all_of(sources, [](const auto& source) { return source.has_value(); });
}

std::uint64_t lowest_bits(int count) {
  return count >= 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << count) - 1;
}

SizeOutcome tested(const SizeValue& value) { return {value, {value}}; }

/// The result of a multiplication of `a` by `factor` with which the compiler replaced a division;
/// nullopt if the multiplication replaces no division, or if no expression describes the result.
std::optional<SizeValue> divided(const Instruction& instruction, const SizeValue& a,
                                 const SizeValue& factor) {
  const Type type = type_of(instruction);
  const int bits = ptx::bit_width(type);
  const bool is_wide = has_modifier(instruction, "wide");
  if (!factor.constant || a.constant || (!is_wide && !has_modifier(instruction, "hi"))) {
    return std::nullopt;
  }
  const auto unsigned_factor = static_cast<std::uint64_t>(*factor.constant) & lowest_bits(bits);
  const auto found = reciprocal_of(unsigned_factor, bits);
  if (!found) return std::nullopt;
  const bool is_less = found->lacks_highest_bit || *factor.constant < 0;
  if (!is_wide) {
    const SizeValue whole = scaled_quotient(a, found->places, found->divisor);
    if (!is_less) return whole;
    SizeValue rest = subtract(whole, a);
    rest.may_be_negative = !found->lacks_highest_bit;
    return rest;
  }
  const int places = bits + found->places;
  if (is_less || places > kMostPlaces || a.text.empty()) return std::nullopt;
  SizeValue product = a;
  product.text = "(" + a.text + " * " + std::to_string(Whole{1} << places) + " / " +
                 std::to_string(found->divisor) + ")";
  return product;
}

/// If the instruction keeps at most 32 bits of the product, adds the product to `must_fit`.
SizeValue narrow(SizeValue product, const Instruction& instruction) {
  constexpr int kShort = 32;
  const bool is_narrow =
      !has_modifier(instruction, "wide") && ptx::bit_width(type_of(instruction)) <= kShort;
  if (is_narrow && product.depends() && !product.text.empty()) {
    product.must_fit.insert(product.text);
  }
  return product;
}

SizeOutcome product(const Instruction& instruction, const Sources& sources) {
  const SizeValue& a = *sources[0];
  const SizeValue& b = *sources[1];
  auto quotient = divided(instruction, a, b);
  if (!quotient) quotient = divided(instruction, b, a);
  if (quotient) return {quotient, {}};
  if (has_modifier(instruction, "hi")) return {unwritten(a, b), {}};
  return {narrow(multiply(a, b), instruction), {}};
}

SizeOutcome shifted(const Instruction& instruction, const Sources& sources) {
  const SizeValue& a = *sources[0];
  const SizeValue& places = *sources[1];
  const Type type = type_of(instruction);
  if (!places.constant || *places.constant < 0) return {unwritten(a, places), {}};
  const auto count = static_cast<int>(std::min<Whole>(*places.constant, 64));
  const bool is_right = instruction.opcode == Opcode::kShr;
  if (is_right && !a.may_be_negative && count >= ptx::bit_width(type) - 1) {
    return {size_constant(0), {}};
  }
  if (count > kMostPlaces) return {unwritten(a, a), {}};
  const SizeValue step = size_constant(Whole{1} << count);
  if (!is_right) return {narrow(multiply(a, step), instruction), {}};
  return {quotient(is_signed(type) ? a : without_sign(a, ptx::bit_width(type)), step), {}};
}

SizeOutcome converted(const Instruction& instruction, const SizeValue& a) {
  const Type to = type_at(instruction, 1).value_or(Type::kNone);
  const Type from = type_of(instruction);
  if (ptx::is_float(to) || ptx::is_float(from)) return {unwritten(a, a), {}};
  constexpr int kShort = 32;
  const int width = ptx::bit_width(to);
  if (width < kShort && width < ptx::bit_width(from)) {
    const SizeValue rest = masked(a, lowest_bits(width), 64);
    return width < 16 ? tested(rest) : SizeOutcome{rest, {}};
  }
  return {is_unsigned(from) ? without_sign(a, ptx::bit_width(from)) : a, {}};
}

SizeOutcome combined_bits(const Instruction& instruction, const Sources& sources) {
  const SizeValue& a = *sources[0];
  const SizeValue& b = *sources[1];
  const bool is_predicate = type_of(instruction) == Type::kPred;
  if (is_predicate) {
    const std::map<Opcode, std::string> names = {
        {Opcode::kAnd, "&&"}, {Opcode::kOr, "||"}, {Opcode::kXor, "!="}};
    return {compared(a, names.at(instruction.opcode), b), {}};
  }
  const bool is_or = instruction.opcode == Opcode::kOr;
  if (!a.constant && !b.constant) {
    return is_or ? SizeOutcome{unwritten(a, b), {}} : tested(unwritten(a, b));
  }
  const SizeValue& value = a.constant ? b : a;
  const SizeValue& bits = a.constant ? a : b;
  const SizeValue result = masked(value, static_cast<std::uint64_t>(*bits.constant),
                                  ptx::bit_width(type_of(instruction)));
  if (instruction.opcode != Opcode::kAnd) {
    const SizeValue common = is_or ? result : multiply(result, size_constant(2));
    const SizeValue combined = subtract(add(value, bits), common);
    return is_or ? SizeOutcome{combined, {}} : tested(combined);
  }
  // The result of a mask that only rounds down grows with the size, so only comparisons with the
  // result can distinguish sizes, and comparison() handles these.
  return result.grows ? SizeOutcome{result, {}} : tested(result);
}

SizeOutcome field_of_bits(const Sources& sources) {
  const SizeValue& a = *sources[0];
  if (!sources[1]->constant || !sources[2]->constant) return tested(*unwritten_of(sources));
  const Whole lowest = *sources[1]->constant;
  const Whole count = *sources[2]->constant;
  if (lowest < 0 || count <= 0 || lowest + count > kMostPlaces) return tested(unwritten(a, a));
  const SizeValue rest = quotient(a, size_constant(Whole{1} << lowest));
  return tested(masked(rest, lowest_bits(static_cast<int>(count)), 64));
}

SizeOutcome divided_by(const Instruction& instruction, const Sources& sources) {
  const SizeValue& a = *sources[0];
  const SizeValue& b = *sources[1];
  if (ptx::is_float(type_of(instruction))) return {unwritten(a, b), {}};
  const bool is_remainder = instruction.opcode == Opcode::kRem;
  if (a.may_be_negative || b.may_be_negative) return tested(unwritten(a, b));
  return is_remainder ? tested(remainder(a, b)) : SizeOutcome{quotient(a, b), {}};
}

SizeOutcome comparison(const Instruction& instruction, const Sources& sources) {
  static const std::map<std::string, std::string, std::less<>> kNames = {
      {"eq", "=="}, {"ne", "!="}, {"lt", "<"},  {"le", "<="}, {"gt", ">"},
      {"ge", ">="}, {"lo", "<"},  {"ls", "<="}, {"hi", ">"},  {"hs", ">="}};
  const Type type = type_of(instruction);
  const auto name =
      instruction.modifiers.empty() ? kNames.end() : kNames.find(instruction.modifiers.front());
  if (name == kNames.end() || sources.size() != 2 || ptx::is_float(type)) {
    return tested(*unwritten_of(sources));
  }
  constexpr int kShort = 16;  // values of at most this many bits are kept as unsigned numbers
  const int width = ptx::bit_width(type);
  const auto read = [&](const SizeValue& value) {
    if (is_unsigned(type)) return without_sign(value, width);
    return width <= kShort ? with_sign(value, width) : value;
  };
  const SizeValue a = read(*sources[0]);
  const SizeValue b = read(*sources[1]);
  const SizeValue result = compared(a, name->second, b);
  // If a value that grows with the size is compared with a constant, the outcome changes at most
  // once as the size grows, so the outcomes at both ends of the checked range show whether it
  // changes.
  const bool is_threshold = name->second != "==" && name->second != "!=" &&
                            ((a.grows && b.constant) || (b.grows && a.constant));
  if (is_threshold && result.variables.size() == 1 && result.must_fit.empty()) {
    return {result, {}};
  }
  return tested(result);
}

/// The outcome of an instruction with an operand that does not depend on sizes alone, such as a
/// thread's index. An `and` or `xor` of a size and a thread's index may act differently for every
/// size, so the outcome's `tests` contain the size.
SizeOutcome mixed(const Instruction& instruction, const Sources& sources) {
  const bool combines = instruction.opcode == Opcode::kAnd || instruction.opcode == Opcode::kXor;
  SizeOutcome outcome;
  if (!combines || type_of(instruction) == Type::kPred) return outcome;
  for (const auto& source : sources) {
    if (source) outcome.tests.push_back(unwritten(*source, *source));
  }
  return outcome;
}

SizeOutcome of_float_or_pair(const Instruction& instruction, const Sources& sources) {
  const SizeValue all = *unwritten_of(sources);
  constexpr std::array kBits = {Opcode::kPopc, Opcode::kBrev, Opcode::kPrmt, Opcode::kLop3,
                                Opcode::kBfi,  Opcode::kShf,  Opcode::kSet,  Opcode::kSlct};
  const bool is_test = std::ranges::find(kBits, instruction.opcode) != kBits.end();
  return is_test ? tested(all) : SizeOutcome{all, {}};
}

/// Keeps only the low 16 bits of a 16-bit result, because sums and products of 16 bits can
/// overflow.
SizeOutcome cut(SizeOutcome outcome, Type type) {
  constexpr int kShort = 16;
  if (outcome.result && ptx::bit_width(type) == kShort && !outcome.result->constant) {
    outcome.result = masked(*outcome.result, lowest_bits(kShort), 64);
  }
  return outcome;
}

SizeOutcome arithmetic(const Instruction& instruction, const Sources& sources) {
  const SizeValue& a = *sources[0];
  switch (instruction.opcode) {
    case Opcode::kAdd:
      return {add(a, *sources.at(1)), {}};
    case Opcode::kSub: {
      const SizeValue result = subtract(a, *sources.at(1));
      return result.most != 0 ? tested(result) : SizeOutcome{result, {}};
    }
    case Opcode::kNeg:
      return {subtract(size_constant(0), a), {}};
    case Opcode::kMul:
      return product(instruction, sources);
    case Opcode::kMad: {
      const SizeOutcome first = product(instruction, {sources.at(0), sources.at(1)});
      return {add(*first.result, *sources.at(2)), {}};
    }
    case Opcode::kMin:
      return {smaller(a, *sources.at(1)), {}};
    case Opcode::kMax:
      return {larger(a, *sources.at(1)), {}};
    case Opcode::kShl:
    case Opcode::kShr:
      return shifted(instruction, sources);
    case Opcode::kAnd:
    case Opcode::kOr:
    case Opcode::kXor:
      return combined_bits(instruction, sources);
    case Opcode::kNot: {
      const bool is_predicate = type_of(instruction) == Type::kPred;
      return {is_predicate ? compared(a, "==", size_constant(0)) : subtract(size_constant(-1), a),
              {}};
    }
    case Opcode::kBfe:
      return field_of_bits(sources);
    default:
      return of_float_or_pair(instruction, sources);
  }
}

}  // namespace

std::optional<Reciprocal> reciprocal_of(std::uint64_t factor, int bits) {
  constexpr int kLeastShift = -2;
  constexpr int kMostShift = 13;
  constexpr std::uint64_t kLargestDivisor = 4095;
  const int least_bits = bits == 64 ? 32 : bits == 32 ? 20 : 11;  // smaller: probably strides
  if (factor >> least_bits == 0) return std::nullopt;
  for (const Wide whole : {Wide{factor}, Wide{factor} + (Wide{1} << bits)}) {
    for (int shift = kLeastShift; shift <= kMostShift; ++shift) {
      const Wide power = Wide{1} << (bits + shift);
      const Wide divisor = power / (whole - 1);
      if (divisor < 3 || divisor > kLargestDivisor || divisor % 2 == 0) continue;
      if (power / divisor + 1 == whole) {
        return Reciprocal{static_cast<std::uint64_t>(divisor), shift, whole != factor};
      }
    }
  }
  return std::nullopt;
}

SizeValue size_literal(std::uint64_t bits, Type type) {
  const int width = ptx::bit_width(type);
  if (width <= 1 || width >= 64) return size_constant(static_cast<Whole>(bits));
  const std::uint64_t rest = bits & lowest_bits(width);
  const bool is_negative = !is_unsigned(type) && (rest >> (width - 1)) != 0;
  const auto value = static_cast<Whole>(rest);
  return size_constant(is_negative ? value - (Whole{1} << width) : value);
}

SizeOutcome size_outcome(const Instruction& instruction, const Sources& sources) {
  if (!all_known(sources)) return mixed(instruction, sources);
  const SizeValue& a = *sources[0];
  switch (instruction.opcode) {
    case Opcode::kMov:
    case Opcode::kShfl:
      if (instruction.operands[1].kind != ptx::Operand::Kind::kVector) return {a, {}};
      return of_float_or_pair(instruction, sources);
    case Opcode::kCvt:
      return converted(instruction, a);
    case Opcode::kSetp:
      return comparison(instruction, sources);
    case Opcode::kSelp:
      return {chosen(*sources.at(2), a, *sources.at(1)), {}};
    case Opcode::kDiv:
    case Opcode::kRem:
      return divided_by(instruction, sources);
    case Opcode::kAbs:
      if (!a.may_be_negative) return {a, {}};
      return of_float_or_pair(instruction, sources);
    default:
      if (ptx::is_float(type_of(instruction))) return of_float_or_pair(instruction, sources);
      return cut(arithmetic(instruction, sources), type_of(instruction));
  }
}

}  // namespace evo
