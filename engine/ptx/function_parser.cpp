#include "engine/ptx/function_parser.hpp"

#include <algorithm>
#include <charconv>

namespace evo::ptx {
namespace {

constexpr std::uint32_t kMaxRegisters = 1U << 20;
constexpr int kMaxScopes = 1 << 16;
constexpr int kMaxScopeDepth = 256;
// limit of `offset` in the addresses [name + offset] and [register + offset]
constexpr std::int64_t kMaxOffset = 1LL << 32;

/// Returns the modifiers in an instruction's spelling: "global" and "f32" for "ld.global.f32".
std::vector<std::string> split_modifiers(std::string_view spelling) {
  std::vector<std::string> modifiers;
  for (std::size_t dot = spelling.find('.'); dot != std::string_view::npos;) {
    const std::size_t next = spelling.find('.', dot + 1);
    modifiers.emplace_back(spelling.substr(dot + 1, next - dot - 1));
    dot = next;
  }
  return modifiers;
}

}  // namespace

FunctionParser::FunctionParser(TokenStream& tokens, Function& function, CallSites& call_sites)
    : tokens_(tokens), function_(function), call_sites_(call_sites) {
  scopes_.emplace_back();
  for (std::size_t i = 0; i < function.variables.size(); ++i) {
    scopes_[0].variables[function.variables[i].name] = static_cast<int>(i);
  }
}

void FunctionParser::parse_body() {
  tokens_.expect("{");
  int depth = 1;
  while (depth > 0) {
    if (tokens_.at_end()) tokens_.fail("the body of '" + function_.name + "' does not end");
    if (tokens_.accept("{")) {
      if (scopes_.size() >= kMaxScopes) tokens_.fail("too many scopes");
      scopes_.emplace_back().parent = scope_;
      scope_ = static_cast<int>(scopes_.size()) - 1;
      if (++depth > kMaxScopeDepth) {
        tokens_.fail("more than " + std::to_string(kMaxScopeDepth) + " nested braces");
      }
    } else if (tokens_.accept("}")) {
      scope_ = std::max(scopes_[static_cast<std::size_t>(scope_)].parent, 0);
      --depth;
    } else {
      parse_statement();
    }
  }
  resolve_labels();
}

void FunctionParser::parse_statement() {
  if (tokens_.accept(";")) return;
  if (tokens_.peek().kind == Token::Kind::kDirective) {
    if (!parse_directive()) tokens_.fail("not supported: " + std::string(tokens_.peek().text));
    return;
  }
  if (tokens_.peek().kind == Token::Kind::kWord && tokens_.peek(1).text == ":") {
    const int label = define_label(tokens_.word());
    tokens_.expect(":");
    if (tokens_.accept(".branchtargets")) parse_branch_targets(label);
    // The prototype of an indirect call is skipped. If a kernel can reach an indirect call, the
    // decoder rejects the kernel.
    if (tokens_.accept(".callprototype") || tokens_.accept(".calltargets")) {
      while (!tokens_.at_end() && !tokens_.accept(";")) tokens_.take();
    }
    return;
  }
  parse_instruction();
}

bool FunctionParser::parse_directive() {
  const std::string_view name = tokens_.peek().text;
  if (name == ".reg") {
    parse_registers();
  } else if (name == ".loc") {
    parse_location();
  } else if (name == ".pragma") {
    tokens_.take();
    while (!tokens_.at_end() && !tokens_.accept(";")) tokens_.take();
  } else if (name == ".local" || name == ".shared" || name == ".param") {
    tokens_.take();
    const Space space = name == ".local"    ? Space::kLocal
                        : name == ".shared" ? Space::kShared
                                            : Space::kParam;
    for (Variable& variable : parse_variables(tokens_, space, false)) {
      scopes_[static_cast<std::size_t>(scope_)].variables[variable.name] =
          static_cast<int>(function_.variables.size());
      function_.variables.push_back(std::move(variable));
    }
  } else {
    return false;
  }
  return true;
}

void FunctionParser::parse_registers() {
  tokens_.take();
  const Token type_token = tokens_.take();
  const auto type =
      type_token.text.empty() ? std::nullopt : type_from_name(type_token.text.substr(1));
  if (type_token.kind != Token::Kind::kDirective || !type) {
    throw PtxError("not supported: register type " + std::string(type_token.text), type_token.line);
  }
  Scope& scope = scopes_[static_cast<std::size_t>(scope_)];
  do {
    const std::string name = tokens_.word();
    const int first = static_cast<int>(function_.registers.size());
    std::uint64_t count = 1;
    if (tokens_.accept("<")) {
      count = tokens_.integer(kMaxRegisters);
      tokens_.expect(">");
      scope.ranges.push_back({name, static_cast<std::uint32_t>(count), first});
    } else {
      scope.registers[name] = first;
    }
    if (function_.registers.size() + count > kMaxRegisters) tokens_.fail("too many registers");
    function_.registers.insert(function_.registers.end(), count, *type);
  } while (tokens_.accept(","));
  tokens_.expect(";");
}

void FunctionParser::parse_location() {
  tokens_.take();
  const int line = tokens_.line();
  const SourcePosition position = parse_position(line);
  location_ = {position.file, position.line};
  // The rest of the line of a `.loc` directive may contain a function name and an inlined_at
  // position.
  while (!tokens_.at_end() && tokens_.line() == line) {
    if (tokens_.accept("inlined_at")) {
      location_.inlined_at = call_sites_.index_of(parse_position(line));
    } else {
      tokens_.take();
    }
  }
  call_sites_.note(position, location_);
}

SourcePosition FunctionParser::parse_position(int line) {
  SourcePosition position;
  position.file = static_cast<int>(tokens_.integer(1 << 20));
  position.line = static_cast<int>(tokens_.integer(1 << 30));
  if (tokens_.line() == line && tokens_.peek().kind == Token::Kind::kNumber)
    position.column = static_cast<int>(tokens_.integer(1 << 30));
  return position;
}

void FunctionParser::parse_branch_targets(int label) {
  std::vector<Operand> names;
  do {
    names.push_back({.kind = Operand::Kind::kSymbol, .name = tokens_.word()});
  } while (tokens_.accept(","));
  tokens_.expect(";");
  target_lists_.emplace_back(label, std::move(names));
  target_scopes_.push_back(scope_);
}

void FunctionParser::parse_guard(Instruction& instruction) {
  if (!tokens_.accept("@")) return;
  instruction.guard_negated = tokens_.accept("!");
  const Token token = tokens_.peek();
  const auto reg = find_register(tokens_.word());
  if (!reg || function_.registers[static_cast<std::size_t>(*reg)] != Type::kPred) {
    throw PtxError("'" + std::string(token.text) + "' is not a predicate", token.line);
  }
  instruction.guard = *reg;
}

void FunctionParser::parse_instruction() {
  Instruction instruction;
  instruction.location = location_;
  parse_guard(instruction);
  instruction.line = tokens_.line();
  instruction.spelling = tokens_.word();
  instruction.opcode = opcode_from_name(
      std::string_view(instruction.spelling).substr(0, instruction.spelling.find('.')));
  instruction.modifiers = split_modifiers(instruction.spelling);
  if (instruction.opcode == Opcode::kCall) {
    parse_call_operands(instruction);
  } else if (!tokens_.is(";")) {
    do {
      instruction.operands.push_back(parse_operand());
    } while (tokens_.accept(","));
  }
  tokens_.expect(";");
  instruction_scopes_.push_back(scope_);
  function_.body.push_back(std::move(instruction));
}

void FunctionParser::parse_call_operands(Instruction& instruction) {
  // A direct call has three operands: results, callee and arguments. If a call has a fourth
  // operand, the call is indirect.
  Operand results{.kind = Operand::Kind::kList};
  if (tokens_.accept("(")) {
    results = parse_group(")", Operand::Kind::kList);
    tokens_.expect(",");
  }
  instruction.operands.push_back(std::move(results));
  instruction.operands.push_back(parse_operand());
  Operand arguments{.kind = Operand::Kind::kList};
  if (tokens_.accept(",")) {
    tokens_.expect("(");
    arguments = parse_group(")", Operand::Kind::kList);
  }
  instruction.operands.push_back(std::move(arguments));
  if (tokens_.accept(",")) instruction.operands.push_back(parse_name());
}

Operand FunctionParser::parse_operand() {
  if (tokens_.accept("{")) return parse_group("}", Operand::Kind::kVector);
  if (tokens_.accept("[")) return parse_address();
  if (tokens_.accept("!")) {
    Operand operand = parse_name();
    operand.negated = true;
    return operand;
  }
  if (tokens_.accept("-")) return parse_number(true);
  if (tokens_.peek().kind == Token::Kind::kNumber) return parse_number(false);
  Operand operand = parse_name();
  if (tokens_.accept("|")) {
    Operand second = parse_name();
    return {.kind = Operand::Kind::kPair, .elements = {std::move(operand), std::move(second)}};
  }
  return operand;
}

Operand FunctionParser::parse_name() {
  const std::string name = tokens_.word();
  if (name == "_") return {.kind = Operand::Kind::kSink};
  if (const auto reg = find_register(name)) {
    return {.kind = Operand::Kind::kRegister, .reg = *reg};
  }
  Operand operand{.kind = Operand::Kind::kSymbol, .name = name};
  if (const auto variable = find_variable(name)) operand.variable = *variable;
  add_offset(operand);
  return operand;
}

void FunctionParser::add_offset(Operand& operand) {
  while (tokens_.is("+") || tokens_.is("-")) {
    bool negative = tokens_.take().text == "-";
    if (tokens_.accept("-")) negative = !negative;
    const auto value = static_cast<std::int64_t>(tokens_.integer(kMaxOffset));
    operand.offset += negative ? -value : value;
    if (operand.offset > kMaxOffset || operand.offset < -kMaxOffset)
      tokens_.fail("offset beyond 2^32");
  }
}

Operand FunctionParser::parse_number(bool negative) {
  const Token token = tokens_.take();
  if (token.kind != Token::Kind::kNumber) {
    throw PtxError("expected an operand, found '" + std::string(token.text) + "'", token.line);
  }
  const Literal literal = parse_literal(token.text, token.line);
  Operand operand{.kind = Operand::Kind::kInteger, .bits = literal.bits};
  if (literal.kind == Literal::Kind::kFloat32) {
    operand.kind = Operand::Kind::kFloat32;
    if (negative) operand.bits ^= 1ULL << 31;
  } else if (literal.kind == Literal::Kind::kFloat64) {
    operand.kind = Operand::Kind::kFloat64;
    if (negative) operand.bits ^= 1ULL << 63;
  } else if (negative) {
    operand.bits = 0 - operand.bits;
  }
  return operand;
}

Operand FunctionParser::parse_address() {
  Operand address{.kind = Operand::Kind::kAddress};
  if (tokens_.is("[")) tokens_.fail("an address within an address");
  address.elements.push_back(parse_operand());
  Operand& base = address.elements[0];
  if (base.kind == Operand::Kind::kRegister) add_offset(address);
  if (base.kind == Operand::Kind::kSymbol) std::swap(address.offset, base.offset);
  if (base.kind == Operand::Kind::kInteger) address.offset = static_cast<std::int64_t>(base.bits);
  while (tokens_.accept(",")) {
    if (tokens_.is("[")) tokens_.fail("an address within an address");
    address.elements.push_back(parse_operand());
  }
  tokens_.expect("]");
  return address;
}

Operand FunctionParser::parse_group(std::string_view close, Operand::Kind kind) {
  Operand group{.kind = kind};
  while (!tokens_.is(close)) {
    if (tokens_.is("{") || tokens_.is("[") || tokens_.at_end()) tokens_.fail("unexpected operand");
    group.elements.push_back(parse_operand());
    if (!tokens_.accept(",")) break;
  }
  tokens_.expect(close);
  return group;
}

std::optional<int> FunctionParser::find_register(const std::string& name) const {
  const std::size_t digits = name.find_last_not_of("0123456789") + 1;
  const std::string_view prefix = std::string_view(name).substr(0, digits);
  std::uint32_t number = 0;
  const bool numbered =
      digits < name.size() &&
      std::from_chars(name.data() + digits, name.data() + name.size(), number).ec == std::errc();
  for (int s = scope_; s >= 0; s = scopes_[static_cast<std::size_t>(s)].parent) {
    const Scope& scope = scopes_[static_cast<std::size_t>(s)];
    if (const auto found = scope.registers.find(name); found != scope.registers.end()) {
      return found->second;
    }
    if (!numbered) continue;
    for (const RegisterRange& range : scope.ranges) {
      if (range.prefix == prefix && number < range.count) {
        return range.first + static_cast<int>(number);
      }
    }
  }
  return std::nullopt;
}

std::optional<int> FunctionParser::find_variable(const std::string& name) const {
  for (int s = scope_; s >= 0; s = scopes_[static_cast<std::size_t>(s)].parent) {
    const Scope& scope = scopes_[static_cast<std::size_t>(s)];
    if (const auto found = scope.variables.find(name); found != scope.variables.end()) {
      return found->second;
    }
  }
  return std::nullopt;
}

int FunctionParser::define_label(const std::string& name) {
  auto& labels = scopes_[static_cast<std::size_t>(scope_)].labels;
  if (labels.contains(name)) tokens_.fail("label '" + name + "' is defined twice");
  const int label = static_cast<int>(function_.labels.size());
  labels[name] = label;
  function_.labels.push_back(static_cast<int>(function_.body.size()));
  return label;
}

void FunctionParser::resolve_label(Operand& operand, int scope) {
  if (operand.kind != Operand::Kind::kSymbol || operand.variable >= 0) return;
  for (int s = scope; s >= 0; s = scopes_[static_cast<std::size_t>(s)].parent) {
    const auto& labels = scopes_[static_cast<std::size_t>(s)].labels;
    if (const auto found = labels.find(operand.name); found != labels.end()) {
      operand.label = found->second;
      return;
    }
  }
}

void FunctionParser::resolve_labels() {
  for (std::size_t i = 0; i < function_.body.size(); ++i) {
    for (Operand& operand : function_.body[i].operands) {
      resolve_label(operand, instruction_scopes_[i]);
    }
  }
  for (std::size_t i = 0; i < target_lists_.size(); ++i) {
    for (Operand& name : target_lists_[i].second) {
      resolve_label(name, target_scopes_[i]);
      if (name.label < 0) throw PtxError("no label '" + name.name + "'", function_.line);
      function_.branch_targets[target_lists_[i].first].push_back(name.label);
    }
  }
}

}  // namespace evo::ptx
