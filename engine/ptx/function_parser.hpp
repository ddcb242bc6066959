#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "engine/ptx/ast.hpp"
#include "engine/ptx/source_lines.hpp"
#include "engine/ptx/token_stream.hpp"

namespace evo::ptx {

/// Parses the rest of a variable declaration after the state space: `[.align N] [.vN] .type
/// name[dims] [= initial] {, name …} ;`. Variables may be declared at module or function scope.
[[nodiscard]] std::vector<Variable> parse_variables(TokenStream& tokens, Space space,
                                                    bool is_extern);

/// Parses the declarations of a function's parameters or results, from `(` to `)`.
[[nodiscard]] std::vector<Variable> parse_parameters(TokenStream& tokens);

/// Parses the body of one function, from `{` to `}`.
class FunctionParser {
 public:
  FunctionParser(TokenStream& tokens, Function& function, CallSites& call_sites);
  void parse_body();

 private:
  struct RegisterRange {
    std::string prefix;
    std::uint32_t count;
    int first;
  };
  struct Scope {
    int parent = -1;
    std::map<std::string, int> registers;
    std::vector<RegisterRange> ranges;
    std::map<std::string, int> variables;
    std::map<std::string, int> labels;
  };

  void parse_statement();
  bool parse_directive();
  void parse_registers();
  void parse_location();
  SourcePosition parse_position(int line);
  void parse_branch_targets(int label);
  void parse_instruction();
  void parse_guard(Instruction& instruction);
  void parse_call_operands(Instruction& instruction);
  Operand parse_operand();
  Operand parse_name();
  Operand parse_number(bool negative);
  Operand parse_address();
  Operand parse_group(std::string_view close, Operand::Kind kind);
  void add_offset(Operand& operand);
  void resolve_labels();
  void resolve_label(Operand& operand, int scope);
  [[nodiscard]] std::optional<int> find_register(const std::string& name) const;
  [[nodiscard]] std::optional<int> find_variable(const std::string& name) const;
  int define_label(const std::string& name);

  TokenStream& tokens_;
  Function& function_;
  CallSites& call_sites_;
  std::vector<Scope> scopes_;
  int scope_ = 0;
  SourceLocation location_;
  std::vector<int> instruction_scopes_;
  std::vector<std::pair<int, std::vector<Operand>>> target_lists_;  ///< label, names
  std::vector<int> target_scopes_;
};

}  // namespace evo::ptx
