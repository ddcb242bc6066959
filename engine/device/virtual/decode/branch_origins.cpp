#include "engine/device/virtual/decode/branch_origins.hpp"

#include <algorithm>

#include "engine/device/virtual/decode/control_flow.hpp"
#include "engine/device/virtual/decode/post_dominators.hpp"

namespace evo::ptx {
namespace {

/// limit of the bytes in which the analysis stores the origins of all registers at all instructions
constexpr std::size_t kMostOriginBytes = std::size_t{1} << 26;
/// A branch that decides on more instructions than this decides on a large part of the code.
constexpr std::size_t kMuchCode = 32;

/// Flags that say why a value may differ between CTAs; 0: the value is the same in all CTAs.
using Origin = std::uint8_t;
/// the CTA's index, or data loaded from an address that depends on this index
constexpr Origin kPlace = 1;
constexpr Origin kData = 2;  ///< values that no slice can compute
constexpr Origin kWait = 4;  ///< the completion of an mbarrier

Origin origin_of(Special special) {
  switch (special) {
    case Special::kCtaidX:
    case Special::kCtaidY:
    case Special::kCtaidZ:
    case Special::kClusterIdX:
    case Special::kClusterIdY:
    case Special::kClusterIdZ:
    case Special::kClusterCtaIdX:
    case Special::kClusterCtaIdY:
    case Special::kClusterCtaIdZ:
    case Special::kClusterCtaRank:
      return kPlace;
    case Special::kSmId:
    case Special::kWarpId:
    case Special::kGridId:
      return kData;
    default:
      return 0;
  }
}

class Analysis {
 public:
  Analysis(const Program& program, bool loads_are_known)
      : program_(program),
        paths_(find_post_dominators(program)),
        loads_are_known_(loads_are_known),
        slots_(program.register_bytes / kSlotBytes + 1),  // the last entry is the condition code
        forced_(program.code.size(), 0) {}

  std::optional<BranchOrigins> run() {
    const std::size_t size = program_.code.size();
    if (size * slots_ > kMostOriginBytes) return std::nullopt;
    before_.assign(size * slots_, 0);
    for (const auto& [special, reg] : program_.specials)
      at(0, reg / kSlotBytes) |= origin_of(special);
    for (const std::uint32_t reg : program_.unset_registers) at(0, reg / kSlotBytes) |= kData;
    do {
      flow();
    } while (force_regions());
    BranchOrigins result{.by_place = std::vector<bool>(size), .by_data = false};
    for (std::uint32_t pc = 0; pc < size; ++pc) {
      const Origin origin = branch_origin(pc);
      result.by_place[pc] = origin == kPlace;
      result.by_data = result.by_data || ((origin & kData) != 0 && decides_much(pc));
    }
    return result;
  }

 private:
  Origin& at(std::size_t pc, std::size_t slot) { return before_[pc * slots_ + slot]; }

  /// The reasons (Origin) why the values that an instruction reads, or the branches that decide
  /// whether it executes, may differ between CTAs.
  [[nodiscard]] Origin inputs(std::uint32_t pc) {
    Origin origin = forced_[pc];
    for (const std::uint32_t reg : program_.info[pc].sources) {
      if (reg != kNoRegister) origin |= at(pc, reg / kSlotBytes);
    }
    const std::uint32_t guard = program_.code[pc].guard;
    if (guard != kNoRegister) origin |= at(pc, guard / kSlotBytes);
    const std::string& spelling = program_.info[pc].spelling;
    if (spelling.starts_with("addc") || spelling.starts_with("subc") ||
        spelling.starts_with("madc"))
      origin |= at(pc, slots_ - 1);
    return origin;
  }

  /// The reasons (Origin) why the values that an instruction writes may differ between CTAs.
  [[nodiscard]] Origin result(std::uint32_t pc) {
    const Instr& in = program_.code[pc];
    Origin origin = inputs(pc);
    if (is_any<MbarrierWaitOperands>(in)) return kWait;
    if (const auto* access = std::get_if<AccessOperands>(&in.operands)) {
      const bool is_known = access->space == Space::kConst || access->space == Space::kParam ||
                            (loads_are_known_ && access->space == Space::kGlobal);
      return is_known ? origin : static_cast<Origin>(origin | kData);
    }
    const bool is_computed =
        is_any<AluOperands, ConvertOperands, RoundedOperands, CompareOperands, PackOperands,
               UnpackOperands, ParameterOperands, ShuffleOperands, VoteOperands, MatchOperands,
               ReduxOperands, ElectOperands, ActiveMaskOperands>(in);
    return is_computed ? origin : static_cast<Origin>(origin | kData);
  }

  void flow() {
    std::vector<bool> waits(paths_.end(), true);
    std::vector<Origin> after(slots_);
    for (bool changed = true; changed;) {
      changed = false;
      for (std::uint32_t pc = 0; pc < paths_.end(); ++pc) {
        if (!waits[pc]) continue;
        waits[pc] = false;
        for (std::size_t slot = 0; slot < slots_; ++slot) after[slot] = at(pc, slot);
        const InstrInfo& info = program_.info[pc];
        const Origin origin = info.destinations.empty() ? Origin{0} : result(pc);
        const bool replaces = program_.code[pc].guard == kNoRegister;
        for (const std::uint32_t reg : info.destinations) {
          if (reg == kNoRegister) continue;
          Origin& to = after[reg / kSlotBytes];
          to = replaces ? origin : static_cast<Origin>(to | origin);
        }
        if (info.spelling.find(".cc") != std::string::npos) after[slots_ - 1] |= origin;
        for (const std::uint32_t next : paths_.next[pc]) {
          if (next == paths_.end()) continue;
          for (std::size_t slot = 0; slot < slots_; ++slot) {
            const auto joined = static_cast<Origin>(at(next, slot) | after[slot]);
            if (joined == at(next, slot)) continue;
            at(next, slot) = joined;
            waits[next] = true;
            changed = true;
          }
        }
      }
    }
  }

  /// The reasons (Origin) why CTAs may take different directions at a branch. 0 for instructions
  /// that are not branches, for branches that all CTAs take in the same direction, and for branches
  /// that depend on the completion of an mbarrier.
  [[nodiscard]] Origin branch_origin(std::uint32_t pc) {
    if (paths_.next[pc].size() < 2) return 0;
    const Origin origin = inputs(pc);
    return (origin & kWait) != 0 ? Origin{0} : origin;
  }

  /// Adds the Origin of each branch to the instructions between the branch and the point where the
  /// branch's paths join.
  bool force_regions() {
    bool changed = false;
    for (std::uint32_t branch = 0; branch < paths_.end(); ++branch) {
      const Origin origin = branch_origin(branch);
      if (origin == 0) continue;
      for (const std::uint32_t pc : region(branch)) {
        if ((forced_[pc] | origin) == forced_[pc]) continue;
        forced_[pc] |= origin;
        changed = true;
      }
    }
    return changed;
  }

  /// The instructions on the paths from a branch to the point where these paths join.
  [[nodiscard]] std::vector<std::uint32_t> region(std::uint32_t branch) const {
    std::vector<bool> seen(paths_.end() + 1, false);
    std::vector<std::uint32_t> found;
    std::vector<std::uint32_t> left = paths_.next[branch];
    while (!left.empty()) {
      const std::uint32_t pc = left.back();
      left.pop_back();
      if (pc == paths_.meeting[branch] || pc == paths_.end() || seen[pc]) continue;
      seen[pc] = true;
      found.push_back(pc);
      left.insert(left.end(), paths_.next[pc].begin(), paths_.next[pc].end());
    }
    return found;
  }

  [[nodiscard]] bool decides_much(std::uint32_t branch) const {
    const std::vector<std::uint32_t> decided = region(branch);
    if (decided.size() > kMuchCode) return true;
    return std::ranges::any_of(decided, [&](std::uint32_t pc) {
      return std::ranges::any_of(paths_.next[pc], [&](std::uint32_t next) { return next <= pc; });
    });
  }

  const Program& program_;
  PostDominators paths_;
  bool loads_are_known_;
  std::size_t slots_;
  /// origins of the branches that decide whether each instruction is executed
  std::vector<Origin> forced_;
  std::vector<Origin> before_;  ///< origins of each register before each instruction
};

}  // namespace

std::optional<BranchOrigins> find_branch_origins(const Program& program, bool loads_are_known) {
  return Analysis(program, loads_are_known).run();
}

}  // namespace evo::ptx
