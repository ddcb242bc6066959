#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "engine/ptx/opcode.hpp"
#include "engine/ptx/types.hpp"

namespace evo::ptx {

/// One operand of an instruction, in which names have been resolved.
struct Operand {
  enum class Kind : std::uint8_t {
    kRegister,  ///< `reg`
    kInteger,   ///< `bits`, two's complement
    kFloat32,   ///< `bits`: the pattern of an f32
    kFloat64,   ///< `bits`: the pattern of an f64
    kSymbol,    ///< `name` (a variable, function, label or special register), plus `offset`
    kAddress,   ///< [elements[0] + offset], or [elements[0], elements[1], …] of a texture
    kVector,    ///< {a, b, …}
    kPair,      ///< p|q
    kList,      ///< (a, b, …) of a call
    kSink,      ///< `_`, which discards a result
  };
  Kind kind = Kind::kSink;
  bool negated = false;  ///< `!p`
  int reg = -1;          ///< index into Function::registers
  int variable = -1;     ///< kSymbol: index into Function::variables, or -1
  int label = -1;        ///< kSymbol: index into Function::labels, or -1
  std::uint64_t bits = 0;
  std::int64_t offset = 0;
  std::string name = {};
  std::vector<Operand> elements = {};
};

/// The operands of an instruction. Each access by index is checked, because the PTX text may lack
/// operands that the opcode needs. If an operand is missing, std::out_of_range is thrown, and the
/// decoder catches it and reports the line.
class OperandList {
 public:
  void push_back(Operand operand) { operands_.push_back(std::move(operand)); }
  [[nodiscard]] std::size_t size() const { return operands_.size(); }
  [[nodiscard]] bool empty() const { return operands_.empty(); }
  [[nodiscard]] const Operand& operator[](std::size_t i) const { return operands_.at(i); }
  [[nodiscard]] const Operand& back() const { return operands_.at(operands_.size() - 1); }
  [[nodiscard]] auto begin() { return operands_.begin(); }
  [[nodiscard]] auto end() { return operands_.end(); }
  [[nodiscard]] auto begin() const { return operands_.begin(); }
  [[nodiscard]] auto end() const { return operands_.end(); }

 private:
  std::vector<Operand> operands_;
};

struct Instruction {
  int line = 0;  ///< line in the PTX text, from 1
  SourceLocation location = {};
  int guard = -1;  ///< predicate register, or -1
  bool guard_negated = false;
  Opcode opcode = Opcode::kOther;
  std::string spelling;  ///< as written: "ld.global.nc.f32"
  /// the words of the spelling after the opcode: "global", "nc", "f32"
  std::vector<std::string> modifiers;
  OperandList operands = {};
};

/// A variable of a PTX module or function, in any state space.
struct Variable {
  std::string name;
  int line = 0;  ///< line in the PTX text, from 1
  Space space = Space::kGlobal;
  Type type = Type::kNone;  ///< type of an element
  std::uint32_t align = 1;
  std::uint64_t bytes = 0;  ///< 0 only for dynamic shared memory
  bool is_extern = false;
  std::vector<std::uint8_t> initial = {};  ///< empty: zero or uninitialised
  /// Addresses in the initial value: byte position in `initial` → name of the addressed variable.
  std::map<std::uint64_t, std::string> references = {};
};

struct Function {
  std::string name;
  bool is_entry = false;
  bool has_body = false;
  int line = 0;
  int max_threads = 0;    ///< from .maxntid / .reqntid; 0 if not specified
  int max_registers = 0;  ///< from .maxnreg
  int min_ctas = 0;       ///< from .minnctapersm
  /// from .reqnctapercluster: CTAs of a cluster in each dimension; 0 if not specified
  std::array<std::uint32_t, 3> cluster = {0, 0, 0};
  bool explicit_cluster = false;  ///< .explicitcluster
  std::vector<Type> registers;
  std::vector<Variable> variables;  ///< return values, then parameters, then locals
  std::vector<int> parameters;      ///< indices into variables
  std::vector<int> results;         ///< indices into variables
  std::vector<Instruction> body;
  std::vector<int> labels;  ///< label → index into body
  /// The lists of `.branchtargets` directives: index of the label of the list → indices of the
  /// target labels.
  std::map<int, std::vector<int>> branch_targets;
};

struct Module {
  std::string target;               ///< "sm_89"
  int version_line = 1;             ///< the line of `.version`
  std::vector<Variable> variables;  ///< variables at module scope
  std::map<std::string, Function> functions;
  std::map<int, std::string> files;        ///< file names from .file
  std::vector<SourceLocation> call_sites;  ///< call sites of inlined functions
};

}  // namespace evo::ptx
