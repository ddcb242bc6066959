#include "engine/device/virtual/decode/store_slice.hpp"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "engine/device/virtual/decode/control_flow.hpp"
#include "engine/device/virtual/decode/post_dominators.hpp"

namespace evo::ptx {
namespace {

/// limit of the 8-byte words for the sets of live registers at all instructions: 128 MiB
constexpr std::size_t kMostWords = std::size_t{1} << 24;

using Registers = std::vector<std::uint32_t>;  ///< numbers of slots

bool is_exit(const Instr& in) { return in.fn == exec_exit; }

bool may_store_to_global(const Program& program, std::size_t pc) {
  const Instr& in = program.code[pc];
  const auto may_be_global = [](Space space) {
    return space == Space::kGlobal || space == Space::kGeneric;
  };
  if (const auto* access = std::get_if<AccessOperands>(&in.operands))
    return program.info[pc].opcode == Opcode::kSt && may_be_global(access->space);
  if (const auto* atomic = std::get_if<AtomicOperands>(&in.operands))
    return may_be_global(atomic->space);
  const auto* move = std::get_if<WmmaMoveOperands>(&in.operands);
  return move != nullptr && in.fn == exec_wmma_store && may_be_global(move->space);
}

class Slicer {
 public:
  /// `roots`: the instructions that the slice must contain. `of_stores`: whether the roots are
  /// stores of which the slice needs only the addresses and guards.
  Slicer(const Program& program, std::vector<bool> roots, bool of_stores)
      : program_(program),
        roots_(std::move(roots)),
        of_stores_(of_stores),
        paths_(find_post_dominators(program)),
        carry_(program.register_bytes / kSlotBytes),
        words_((carry_ + 64) / 64),
        kept_(roots_) {}

  std::variant<Program, std::string> run() {
    if (words_ * program_.code.size() > kMostWords) return std::string("the program is too large");
    do {
      if (auto why = keep_definitions()) return *std::move(why);
    } while (keep_stores_to_local() || keep_branches());
    return build();
  }

 private:
  [[nodiscard]] bool is_store(std::uint32_t pc) const {
    return program_.info[pc].opcode == Opcode::kSt;
  }

  [[nodiscard]] bool splits(std::uint32_t pc) const { return paths_.next[pc].size() > 1; }

  /// The registers that an instruction of the slice reads.
  [[nodiscard]] Registers uses(std::uint32_t pc) const {
    const Instr& in = program_.code[pc];
    Registers found;
    const auto add = [&](std::uint32_t reg) {
      if (reg != kNoRegister) found.push_back(reg / kSlotBytes);
    };
    add(in.guard);
    if (of_stores_ && roots_[pc] && !needs_local_) {
      if (const auto* access = std::get_if<AccessOperands>(&in.operands)) add(access->address.base);
      if (const auto* atomic = std::get_if<AtomicOperands>(&in.operands)) add(atomic->address.base);
      if (const auto* move = std::get_if<WmmaMoveOperands>(&in.operands)) {
        add(move->address.base);
        add(move->stride);
      }
      return found;
    }
    for (const std::uint32_t reg : program_.info[pc].sources) add(reg);
    if (reads_carry(pc)) found.push_back(carry_);
    return found;
  }

  [[nodiscard]] Registers definitions(std::uint32_t pc) const {
    Registers found;
    for (const std::uint32_t reg : program_.info[pc].destinations) {
      if (reg != kNoRegister) found.push_back(reg / kSlotBytes);
    }
    if (writes_carry(pc)) found.push_back(carry_);
    return found;
  }

  [[nodiscard]] bool writes_carry(std::uint32_t pc) const {
    return program_.info[pc].spelling.find(".cc") != std::string::npos;
  }
  [[nodiscard]] bool reads_carry(std::uint32_t pc) const {
    const std::string& spelling = program_.info[pc].spelling;
    return spelling.starts_with("addc") || spelling.starts_with("subc") ||
           spelling.starts_with("madc");
  }

  /// The reason why a slice cannot contain an instruction whose result it needs; nullopt if it can.
  [[nodiscard]] std::optional<std::string> obstacle(std::uint32_t pc) const {
    const Instr& in = program_.code[pc];
    const auto refuse = [&](const std::string& why) {
      return "an address or a branch depends on " + program_.info[pc].spelling + " at line " +
             std::to_string(program_.info[pc].line) + ": " + why;
    };
    if (const auto* load = std::get_if<AccessOperands>(&in.operands)) {
      if (load->space == Space::kShared || load->space == Space::kSharedCluster)
        return refuse("it reads shared memory");
      if (load->space == Space::kLocal && !program_.system_calls.empty())
        return refuse("it reads local memory, which a system call such as vprintf may write");
      return std::nullopt;
    }
    if (is_any<AluOperands, ConvertOperands, RoundedOperands, CompareOperands, PackOperands,
               UnpackOperands, ParameterOperands, ShuffleOperands, VoteOperands, MatchOperands,
               ReduxOperands, ElectOperands, ActiveMaskOperands>(in))
      return std::nullopt;
    return refuse("a slice of the kernel cannot compute its result");
  }

  /// Computes the live registers before each instruction, and adds the instructions that define
  /// these registers to the slice. Returns a reason if the slice would need an instruction that it
  /// cannot contain.
  std::optional<std::string> keep_definitions() {
    live_.assign(words_ * program_.code.size(), 0);
    std::vector<std::uint64_t> live(words_);
    for (bool changed = true; changed;) {
      changed = false;
      for (std::uint32_t pc = paths_.end(); pc-- > 0;) {
        live.assign(words_, 0);
        for (const std::uint32_t next : paths_.next[pc]) {
          if (next == paths_.end()) continue;
          for (std::size_t w = 0; w < words_; ++w) live[w] |= live_[next * words_ + w];
        }
        if (auto why = step(pc, live)) return why;
        const auto stored = live_.begin() + static_cast<std::ptrdiff_t>(pc * words_);
        if (std::equal(live.begin(), live.end(), stored)) continue;
        std::copy(live.begin(), live.end(), stored);
        changed = true;
      }
    }
    return std::nullopt;
  }

  /// Updates `live` from the registers that are live after an instruction to those that are live
  /// before it. Adds the instruction to the slice if it defines a live register.
  std::optional<std::string> step(std::uint32_t pc, std::vector<std::uint64_t>& live) {
    const auto bit = [](std::uint32_t reg) { return std::uint64_t{1} << (reg % 64); };
    const Registers defined = definitions(pc);
    if (std::ranges::any_of(defined,
                            [&](std::uint32_t reg) { return (live[reg / 64] & bit(reg)) != 0; })) {
      kept_[pc] = true;
      if (auto why = obstacle(pc)) return why;
    }
    if (!kept_[pc]) return std::nullopt;
    if (program_.code[pc].guard == kNoRegister) {
      for (const std::uint32_t reg : defined) live[reg / 64] &= ~bit(reg);
    }
    for (const std::uint32_t reg : uses(pc)) live[reg / 64] |= bit(reg);
    return std::nullopt;
  }

  /// Adds all stores to local memory to the slice if a load in the slice may read local memory.
  /// Returns true if stores were added to the slice.
  bool keep_stores_to_local() {
    if (needs_local_) return false;
    for (std::uint32_t pc = 0; pc < paths_.end() && !needs_local_; ++pc) {
      const auto* access = std::get_if<AccessOperands>(&program_.code[pc].operands);
      needs_local_ = kept_[pc] && access != nullptr && !is_store(pc) &&
                     (access->space == Space::kLocal || access->space == Space::kGeneric);
    }
    if (!needs_local_) return false;
    for (std::uint32_t pc = 0; pc < paths_.end(); ++pc) {
      const auto* access = std::get_if<AccessOperands>(&program_.code[pc].operands);
      if (access != nullptr && is_store(pc) && access->space == Space::kLocal) kept_[pc] = true;
    }
    return true;
  }

  /// Adds the branches that decide whether an instruction of the slice is executed. Returns true if
  /// branches were added to the slice.
  bool keep_branches() {
    bool changed = false;
    for (std::uint32_t pc = 0; pc < paths_.end(); ++pc) {
      if (kept_[pc] || !splits(pc) || !decides(pc)) continue;
      kept_[pc] = true;
      changed = true;
    }
    return changed;
  }

  [[nodiscard]] bool decides(std::uint32_t branch) const {
    const std::uint32_t meeting = paths_.meeting[branch];
    if (meeting == PostDominators::kNone) return true;
    std::vector<bool> seen(paths_.end() + 1, false);
    Registers left = paths_.next[branch];
    while (!left.empty()) {
      const std::uint32_t pc = left.back();
      left.pop_back();
      if (pc == meeting || pc == paths_.end() || seen[pc]) continue;
      seen[pc] = true;
      if (kept_[pc]) return true;
      left.insert(left.end(), paths_.next[pc].begin(), paths_.next[pc].end());
    }
    return false;
  }

  [[nodiscard]] Program build() const {
    Program slice = program_;
    slice.code.clear();
    slice.info.clear();
    slice.product_checks.clear();
    Registers place(paths_.end() + 1, 0);
    for (std::uint32_t pc = 0; pc < paths_.end(); ++pc) {
      place[pc] = static_cast<std::uint32_t>(slice.code.size());
      append(pc, slice);
    }
    place[paths_.end()] = static_cast<std::uint32_t>(slice.code.size());
    append_jump(paths_.end(), slice.info.empty() ? InstrInfo() : slice.info.back(), slice);
    for (Instr& in : slice.code) {
      if (auto* branch = std::get_if<BranchOperands>(&in.operands))
        branch->target = place[branch->target];
    }
    for (std::uint32_t& target : slice.branch_targets) target = place[target];
    return slice;
  }

  void append(std::uint32_t pc, Program& slice) const {
    const Instr& in = program_.code[pc];
    const bool goes_on = in.guard == kNoRegister && (is_any<BranchOperands>(in) || is_exit(in));
    if (kept_[pc] || goes_on) {
      slice.code.push_back(in);
      slice.info.push_back(program_.info[pc]);
      if (const auto check = program_.product_checks.find(pc);
          check != program_.product_checks.end())
        slice.code.back().fn = check->second.original;
      // The slice executes the instruction that append_mark() adds only if the branch is not taken,
      // so the number of its executions shows the branch's direction.
      if (!of_stores_ && roots_[pc] && splits(pc)) append_mark(program_.info[pc], slice);
    } else if (splits(pc)) {
      append_jump(paths_.meeting[pc], program_.info[pc], slice);
    }
  }

  static void append_mark(InstrInfo info, Program& slice) {
    info.sources.clear();
    info.destinations.clear();
    info.ends_path = false;
    info.is_branch = false;
    slice.code.push_back({.fn = exec_nop, .operands = NoOperands()});
    slice.info.push_back(std::move(info));
  }

  /// Appends an unconditional branch to an instruction, or to the end, of the original program.
  void append_jump(std::uint32_t to, InstrInfo info, Program& slice) const {
    const bool leaves = to == paths_.end();
    info.sources.clear();
    info.destinations.clear();
    info.ends_path = true;
    info.is_branch = !leaves;
    Instr jump{.fn = leaves ? exec_exit : exec_branch, .operands = NoOperands()};
    if (!leaves) jump.operands = BranchOperands{to};
    slice.code.push_back(jump);
    slice.info.push_back(std::move(info));
  }

  const Program& program_;
  std::vector<bool> roots_;
  bool of_stores_;
  PostDominators paths_;
  std::uint32_t carry_;  ///< slot number used for the condition code
  std::size_t words_;
  std::vector<bool> kept_;
  bool needs_local_ = false;
  std::vector<std::uint64_t> live_;  ///< live slots before each instruction, one bit per slot
};

}  // namespace

std::variant<Program, std::string> slice_of_stores(const Program& program) {
  if (program.cooperative) return std::string("CTAs wait for each other");
  if (program.cluster_ctas() > 1) return std::string("CTAs form clusters");
  const auto is_store = [](const BulkCopy& copy) { return !copy.is_load; };
  if (std::ranges::any_of(program.bulk_copies, is_store))
    return std::string("the kernel stores by cp.async.bulk");
  std::vector<bool> roots;
  for (std::size_t pc = 0; pc < program.code.size(); ++pc)
    roots.push_back(may_store_to_global(program, pc));
  return Slicer(program, std::move(roots), true).run();
}

std::variant<Program, std::string> slice_of(const Program& program, std::vector<bool> kept) {
  return Slicer(program, std::move(kept), false).run();
}

}  // namespace evo::ptx
