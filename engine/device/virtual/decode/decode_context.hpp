#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "engine/device/virtual/arithmetic/alu_table.hpp"
#include "engine/device/virtual/decode/decoder.hpp"
#include "engine/device/virtual/decode/families.hpp"
#include "engine/device/virtual/decode/modifiers.hpp"
#include "engine/device/virtual/decode/program.hpp"
#include "engine/ptx/ast.hpp"

namespace evo::ptx {

/// Builds a Program. During decoding, the register fields of instructions hold numbers of virtual
/// registers; assign_registers() replaces the numbers by offsets into the register file.
class DecodeContext {
 public:
  DecodeContext(const Module& module, const GlobalAddresses& globals, Program& program);

  struct Frame {
    const Function* function;
    std::vector<std::uint32_t> registers;  ///< function's register → virtual register
    /// offset of each variable in its state space; −1: not yet assigned
    std::vector<std::int64_t> variable_address;
    /// instruction of each label, known after the whole function is decoded
    std::vector<std::uint32_t> label_pc;
    /// branches whose target is set after the whole function is decoded: instruction, label
    std::vector<std::pair<std::size_t, int>> branch_fixups;
    /// the same for brx.idx: index in Program::branch_targets, label
    std::vector<std::pair<std::size_t, int>> target_fixups;
    std::vector<std::size_t> return_fixups;  ///< branches to the end of an inlined function
    bool is_entry = true;
  };

  /// Decodes the parameters and the body of an entry, and assigns registers.
  void decode_entry_body(const Function& function);

  // The decoders of the instruction families (families.hpp) call the following functions.
  [[nodiscard]] Program& program() { return program_; }
  [[nodiscard]] const Program& program() const { return program_; }
  [[nodiscard]] Frame& frame() { return *frame_; }
  [[nodiscard]] const Instruction& current() const { return *current_; }
  [[nodiscard]] const std::vector<Instruction>& function_body() const {
    return frame_->function->body;
  }
  [[noreturn]] void fail(const std::string& what) const { throw PtxError(what, current_->line); }
  [[noreturn]] void unsupported(const std::string& why = {}) const;

  /// Appends a decoded instruction that has the guard of the current PTX instruction.
  void emit(Handler fn, Operands operands, Pipe pipe, TaintRule taint);
  [[nodiscard]] InstrInfo& last_info() { return program_.info.back(); }
  /// reads() and writes() declare the registers that the last instruction reads and writes, so that
  /// registers can be reused and uninitialised data can be tracked.
  void reads(std::uint32_t reg);
  void reads(const std::vector<std::uint32_t>& registers);
  void writes(std::uint32_t reg);
  void writes(const std::vector<std::uint32_t>& registers);

  /// Returns a register that holds the operand's value as `type`. Inserts an instruction that
  /// changes the width of the value if the operand's register has a different width.
  std::uint32_t source(const Operand& operand, Type type);
  /// Returns a register for a result of `type`. If the operand's register is wider than `type`,
  /// finish_destinations() inserts an instruction that extends the result.
  std::uint32_t destination(const Operand& operand, Type type, bool is_signed = false);
  /// Returns the register of a predicate operand. The register holds the predicate before any
  /// negation, so the caller must evaluate Operand::negated.
  std::uint32_t predicate(const Operand& operand);

  std::uint32_t new_register(Type type);
  std::uint32_t constant(std::uint64_t bits, Type type);
  [[nodiscard]] Type type_of(std::uint32_t reg) const { return types_[reg]; }

  /// An address operand, and its state space if it names a variable.
  struct AddressOperand {
    Address at;
    bool is_parameter = false;      ///< `at` is an offset in the parameter block
    Space space = Space::kGeneric;  ///< the space of the named variable; kGeneric for registers
  };
  AddressOperand address(const Operand& operand);
  void narrow_shared_granule(int bytes);
  void narrow_global_granule(int bytes);

  /// Appends a list of registers to Program::registers.
  RegisterList add_list(const std::vector<std::uint32_t>& registers);
  /// Appends the target instructions of labels to Program::branch_targets.
  TargetList add_targets(const std::vector<int>& labels);

 private:
  struct VariableAddress {
    Space space;
    std::int64_t offset;
    bool is_kernel_parameter;
  };
  void decode_function(Frame& frame, int depth);
  void decode_instruction(Frame& frame, const Instruction& in, int depth);
  void finish_destinations();
  std::uint32_t special(Special special);
  void assign_registers();
  /// Throws PtxError if the entry can reach an instruction that is not supported.
  void check_reachable();
  VariableAddress variable_address(const Operand& operand);
  std::uint64_t symbol_value(const Operand& operand);
  void place_shared(const Function& function);
  void place_kernel_parameters();
  void decode_call(const Instruction& in, int depth);
  bool decode_system_call(const Instruction& in);
  /// The offset in local memory of a .param variable that a call passes. Throws PtxError unless the
  /// variable has `bytes` bytes.
  std::uint32_t call_variable(const Operand& operand, std::uint64_t bytes);
  std::uint32_t resized(std::uint32_t reg, Type from, Type to);
  std::int64_t allocate_shared(const Variable& variable);
  void write_offsets(const std::vector<std::uint32_t>& slot, std::uint32_t slots);
  void list_unset_registers();
  [[nodiscard]] std::vector<bool> permanent_registers() const;
  std::int64_t allocate_local(const Variable& variable);
  std::uint32_t allocate(const Variable& variable, std::uint32_t& used, std::uint64_t limit,
                         const char* space) const;
  void replace_by_unsupported(std::size_t before, const std::string& why);

  const Module& module_;
  const GlobalAddresses& globals_;
  Program& program_;
  Frame* frame_ = nullptr;
  const Instruction* current_ = nullptr;
  std::vector<Type> types_;
  std::map<std::pair<std::uint64_t, Type>, std::uint32_t> constants_;
  std::map<Special, std::uint32_t> specials_;
  /// addresses of variables at module scope
  std::map<std::string, std::int64_t> shared_addresses_;
  /// addresses of variables at function scope
  std::map<const Variable*, std::int64_t> static_shared_;
  std::map<std::string, std::int64_t> parameter_offsets_;
  struct PendingDestination {
    std::uint32_t narrow;
    std::uint32_t wide;
    Type type;
    bool is_signed;
  };
  std::vector<PendingDestination> pending_;
  std::set<const Function*> placed_;
  std::size_t calls_ = 0;  ///< number of calls decoded so far
  bool in_helper_ = false;
};

/// The registers of the elements of a vector operand, which must have `count` elements.
[[nodiscard]] std::vector<std::uint32_t> vector_registers(DecodeContext& context,
                                                          const Operand& operand, std::size_t count,
                                                          bool write, Type type = Type::kB32);

/// How many registers operands 0 to 3 (D, A, B and C) of a matrix product D = A B + C have.
struct ProductSizes {
  int a = 0;
  int b = 0;
  int cd = 0;
  Type type = Type::kB32;  ///< type of a register
};
/// Decodes mma.sync of f64, and wmma m8n8k4.
void decode_double_mma(DecodeContext& context, int m, int k);
struct Product {
  RegisterList list;  ///< registers of D, A, B, C in this order
  std::vector<std::uint32_t> d;
  std::vector<std::uint32_t> sources;
};
[[nodiscard]] Product product_registers(DecodeContext& context, const ProductSizes& sizes);
void emit_product(DecodeContext& context, Handler fn, const Operands& operands,
                  const Product& product, int multiply_adds);
[[nodiscard]] bool is_fp8(Type type);

/// The bytes per lane of a register for values of a type: 2, 4, 8 or 16; 4 for predicates.
[[nodiscard]] int register_bytes(Type type);

}  // namespace evo::ptx
