#include "engine/ptx/parser.hpp"

#include <algorithm>
#include <bit>
#include <optional>

#include "engine/ptx/function_parser.hpp"
#include "engine/ptx/token_stream.hpp"

namespace evo::ptx {
namespace {

// limit in bytes of one variable, and of all variables of a module together
constexpr std::uint64_t kMaxVariableBytes = 1ULL << 28;
constexpr std::size_t kMaxVariables = 8192;
constexpr int kMaxInitialDepth = 16;  // limit of nested braces

Type variable_type(TokenStream& tokens) {
  const Token token = tokens.take();
  const auto type = token.text.empty() ? std::nullopt : type_from_name(token.text.substr(1));
  if (token.kind != Token::Kind::kDirective || !type) {
    throw PtxError("not supported: variable type " + std::string(token.text), token.line);
  }
  return *type;
}

/// Appends an element of `bytes` bytes. An element wider than `bits` has zeros above them, also if
/// its value is negative, as ptxas fills a .b128.
void append_bytes(Variable& variable, std::uint64_t bits, std::uint64_t bytes) {
  for (std::uint64_t i = 0; i < bytes; ++i) {
    variable.initial.push_back(i < sizeof bits ? static_cast<std::uint8_t>(bits >> (8 * i)) : 0);
  }
}

/// The bits of a literal behind a minus.
std::uint64_t negated(const Literal& literal) {
  if (literal.kind == Literal::Kind::kFloat32) return literal.bits ^ (1ULL << 31);
  if (literal.kind == Literal::Kind::kFloat64) return literal.bits ^ (1ULL << 63);
  return 0 - literal.bits;
}

void parse_initial_value(TokenStream& tokens, Variable& variable, std::uint64_t scalar_bytes,
                         int depth) {
  if (depth > kMaxInitialDepth) {
    tokens.fail("more than " + std::to_string(kMaxInitialDepth) +
                " nested braces in an initialiser");
  }
  if (tokens.accept("{")) {
    while (!tokens.accept("}")) {
      parse_initial_value(tokens, variable, scalar_bytes, depth + 1);
      if (!tokens.accept(",") && !tokens.is("}")) tokens.fail("expected ',' or '}'");
    }
    return;
  }
  if (tokens.peek().kind == Token::Kind::kWord) {
    variable.references[variable.initial.size()] = tokens.word();
    if (tokens.is("(") || tokens.is("+"))
      tokens.fail("not supported: expression in an initialiser");
    append_bytes(variable, 0, scalar_bytes);
    return;
  }
  const bool negative = tokens.accept("-");
  const Token token = tokens.take();
  if (token.kind != Token::Kind::kNumber) {
    throw PtxError("expected a value, found '" + std::string(token.text) + "'", token.line);
  }
  Literal literal = parse_literal(token.text, token.line);
  if (negative) literal.bits = negated(literal);
  if (literal.kind == Literal::Kind::kFloat64 && scalar_bytes == 4) {
    const auto narrow = static_cast<float>(std::bit_cast<double>(literal.bits));
    literal.bits = std::bit_cast<std::uint32_t>(narrow);
  }
  append_bytes(variable, literal.bits, scalar_bytes);
}

/// Parses the name of a variable with its dimensions and initial value. An element is a vector of
/// `lanes` scalars.
Variable parse_declarator(TokenStream& tokens, Variable variable, std::uint64_t scalar_bytes,
                          std::uint64_t lanes) {
  const std::uint64_t element_bytes = scalar_bytes * lanes;
  variable.line = tokens.line();
  variable.name = tokens.word();
  std::uint64_t count = 1;
  while (tokens.accept("[")) {
    const std::uint64_t dimension = tokens.is("]") ? 0 : tokens.integer(kMaxVariableBytes);
    count *= dimension;  // cannot overflow: both factors are at most kMaxVariableBytes
    if (count > kMaxVariableBytes / element_bytes) {
      tokens.fail("variable '" + variable.name + "' is larger than " +
                  std::to_string(kMaxVariableBytes) + " bytes");
    }
    tokens.expect("]");
  }
  variable.bytes = count * element_bytes;
  if (tokens.accept("=")) {
    parse_initial_value(tokens, variable, scalar_bytes, 0);
    if (variable.bytes == 0) variable.bytes = variable.initial.size();
    if (variable.initial.size() > variable.bytes) tokens.fail("more initial values than elements");
    variable.initial.resize(variable.bytes);
  }
  return variable;
}

}  // namespace

std::vector<Variable> parse_variables(TokenStream& tokens, Space space, bool is_extern) {
  Variable model;
  model.space = space;
  model.is_extern = is_extern;
  std::uint64_t lanes = 1;
  std::uint64_t align = 0;
  std::optional<Type> type;
  while (tokens.peek().kind == Token::Kind::kDirective) {
    if (tokens.accept(".align")) {
      align = tokens.integer(1 << 16);
      if (!std::has_single_bit(align)) tokens.fail("alignment is not a power of two");
    } else if (tokens.accept(".v2")) {
      lanes = 2;
    } else if (tokens.accept(".v4")) {
      lanes = 4;
    } else if (tokens.accept(".ptr")) {
      for (const char* name : {".global", ".shared", ".const", ".local"}) tokens.accept(name);
    } else {
      type = variable_type(tokens);
    }
  }
  if (!type || *type == Type::kPred) tokens.fail("a variable needs a type");
  const auto scalar_bytes = static_cast<std::uint64_t>(bit_width(*type)) / 8;
  model.type = *type;
  model.align = static_cast<std::uint32_t>(align != 0 ? align : scalar_bytes * lanes);
  std::vector<Variable> variables;
  do {
    Variable variable = parse_declarator(tokens, model, scalar_bytes, lanes);
    if (variable.bytes == 0 && !(is_extern && space == Space::kShared)) {
      tokens.fail("variable '" + variable.name + "' has no size");
    }
    variables.push_back(std::move(variable));
  } while (space != Space::kParam && tokens.accept(","));
  if (space != Space::kParam || tokens.is(";")) tokens.expect(";");
  return variables;
}

std::vector<Variable> parse_parameters(TokenStream& tokens) {
  std::vector<Variable> parameters;
  tokens.expect("(");
  if (tokens.accept(")")) return parameters;
  do {
    tokens.expect(".param");
    parameters.push_back(std::move(parse_variables(tokens, Space::kParam, false).front()));
  } while (tokens.accept(","));
  tokens.expect(")");
  return parameters;
}

namespace {

class ModuleParser {
 public:
  explicit ModuleParser(std::string_view text) : tokens_(text) {}

  Module run() {
    while (!tokens_.at_end()) parse_item();
    if (module_.functions.empty()) throw PtxError("the PTX has no function", tokens_.line());
    module_.call_sites = call_sites_.take();
    return std::move(module_);
  }

 private:
  void parse_item() {
    const int line = tokens_.line();
    if (tokens_.accept(".version")) {
      module_.version_line = line;
      tokens_.take();
    } else if (tokens_.accept(".target")) {
      module_.target = tokens_.word();
      while (tokens_.accept(",")) tokens_.word();
    } else if (tokens_.accept(".address_size")) {
      if (tokens_.integer(64) != 64) tokens_.fail("not supported: address size other than 64");
    } else if (tokens_.accept(".file")) {
      parse_file();
    } else if (tokens_.accept(".section")) {
      parse_section();
    } else if (tokens_.accept(".pragma")) {
      while (!tokens_.at_end() && !tokens_.accept(";")) tokens_.take();
    } else {
      parse_declaration();
    }
  }

  void parse_file() {
    const int number = static_cast<int>(tokens_.integer(1 << 20));
    const Token name = tokens_.take();
    if (name.kind != Token::Kind::kString) throw PtxError("expected a file name", name.line);
    module_.files[number] = std::string(name.text.substr(1, name.text.size() - 2));
    while (tokens_.accept(",")) tokens_.take();
  }

  void parse_section() {
    while (!tokens_.at_end() && !tokens_.is("{")) tokens_.take();
    tokens_.expect("{");
    while (!tokens_.at_end() && !tokens_.accept("}")) tokens_.take();
  }

  void parse_declaration() {
    bool is_extern = false;
    for (;;) {
      if (tokens_.accept(".extern")) {
        is_extern = true;
      } else if (!tokens_.accept(".visible") && !tokens_.accept(".weak") &&
                 !tokens_.accept(".common")) {
        break;
      }
    }
    if (tokens_.accept(".entry")) return parse_function(true);
    if (tokens_.accept(".func")) return parse_function(false);
    for (const auto& [name, space] :
         {std::pair{".global", Space::kGlobal}, std::pair{".const", Space::kConst},
          std::pair{".shared", Space::kShared}}) {
      if (!tokens_.accept(name)) continue;
      for (Variable& variable : parse_variables(tokens_, space, is_extern))
        add_variable(std::move(variable));
      return;
    }
    tokens_.fail("not supported: '" + std::string(tokens_.peek().text) + "' at module scope");
  }

  /// Adds a variable to the module. A definition replaces an .extern declaration with the same
  /// name.
  void add_variable(Variable variable) {
    if (module_.variables.size() >= kMaxVariables)
      tokens_.fail("more than " + std::to_string(kMaxVariables) + " variables in the module");
    bytes_ += variable.bytes;
    if (bytes_ > kMaxVariableBytes) {
      tokens_.fail("the variables of the module are larger than " +
                   std::to_string(kMaxVariableBytes) + " bytes together");
    }
    const auto known = std::ranges::find(module_.variables, variable.name, &Variable::name);
    if (known == module_.variables.end()) {
      module_.variables.push_back(std::move(variable));
    } else if (known->is_extern && known->space == variable.space) {
      *known = std::move(variable);
    } else if (!variable.is_extern || known->space != variable.space) {
      throw PtxError("variable '" + variable.name + "' is defined twice", variable.line);
    }
  }

  void take_parameters(Function& function, std::vector<int>& indices) {
    for (Variable& variable : parse_parameters(tokens_)) {
      indices.push_back(static_cast<int>(function.variables.size()));
      function.variables.push_back(std::move(variable));
    }
  }

  void parse_function(bool is_entry) {
    Function function;
    function.is_entry = is_entry;
    function.line = tokens_.line();
    if (!is_entry && tokens_.is("(")) take_parameters(function, function.results);
    function.name = tokens_.word();
    if (tokens_.is("(")) take_parameters(function, function.parameters);
    parse_performance_directives(function);
    if (!tokens_.accept(";")) {
      function.has_body = true;
      FunctionParser(tokens_, function, call_sites_).parse_body();
    }
    const auto known = module_.functions.find(function.name);
    if (known != module_.functions.end() && known->second.has_body) {
      if (function.has_body) tokens_.fail("function '" + function.name + "' is defined twice");
      return;
    }
    module_.functions[function.name] = std::move(function);
  }

  void parse_performance_directives(Function& function) {
    while (tokens_.peek().kind == Token::Kind::kDirective) {
      const std::string_view name = tokens_.take().text;
      if (name == ".noreturn") continue;
      if (name == ".blocksareclusters")
        tokens_.fail("not supported: a grid that counts clusters (.blocksareclusters)");
      if (name == ".explicitcluster") {
        function.explicit_cluster = true;
        continue;
      }
      if (name == ".pragma") {
        while (!tokens_.at_end() && !tokens_.accept(";")) tokens_.take();
        continue;
      }
      std::array<std::uint64_t, 3> values = {tokens_.integer(1 << 20), 1, 1};
      for (std::size_t more = 1; more < 3 && tokens_.accept(","); ++more)
        values[more] = tokens_.integer(1 << 20);
      const std::uint64_t product = values[0] * values[1] * values[2];
      if (name == ".reqnctapercluster") {
        std::ranges::transform(values, function.cluster.begin(),
                               [](std::uint64_t n) { return static_cast<std::uint32_t>(n); });
      } else if (name == ".maxntid" || name == ".reqntid") {
        function.max_threads = static_cast<int>(std::min<std::uint64_t>(product, 1 << 20));
      } else if (name == ".maxnreg") {
        function.max_registers = static_cast<int>(std::min<std::uint64_t>(product, 255));
      } else if (name == ".minnctapersm") {
        function.min_ctas = static_cast<int>(std::min<std::uint64_t>(product, 64));
      }
    }
  }

  TokenStream tokens_;
  Module module_;
  CallSites call_sites_;
  std::uint64_t bytes_ = 0;  ///< size of the variables so far
};

}  // namespace

Module parse_ptx(std::string_view text) { return ModuleParser(text).run(); }

}  // namespace evo::ptx
