#include "engine/device/virtual/decode/product_registers.hpp"

#include <algorithm>
#include <span>

#include "engine/device/virtual/decode/control_flow.hpp"
#include "engine/device/virtual/execute/exec_wgmma.hpp"

// Two forward data-flow analyses over the instructions; a state is the union over all paths to its
// instruction.
//
// 1. The state contains each wgmma that may be in flight: from its mma_async until a wait_group for
//    its group. An instruction that reads an accumulator of a wgmma in flight, or writes one of its
//    registers, needs a check: exec_checked() tests at run time whether the wgmma is in flight.
// 2. The state contains the registers that some wgmma uses and that may have been written since the
//    last wgmma.fence: a wgmma with its accumulator or A fragment in one of them lacks a
//    wgmma.fence. The accumulators of a wgmma that does not read their previous content (its
//    scale-d is known to be 0) are exempt, because compilers may leave moves of dead values before
//    the wgmma.

namespace evo::ptx {
namespace {

constexpr int kMostCommits = 64;  ///< limit of InFlight::commits
/// limit of the size of the states of both analyses, as run() estimates it
constexpr std::size_t kMostStates = 1U << 27;

struct InFlight {
  std::uint32_t product;  ///< index in products
  int commits;            ///< number of groups committed since, including its own
  bool operator==(const InFlight&) const = default;
};

struct Product {
  std::uint32_t pc;
  std::span<const std::uint32_t> accumulators;
  std::span<const std::uint32_t> fragments;  ///< registers of A, if A is in registers
  /// true: the previous content of the accumulators is not read
  bool replaces = false;
};

bool contains(std::span<const std::uint32_t> registers, std::uint32_t reg) {
  return std::ranges::find(registers, reg) != registers.end();
}

class ProductRegisters {
 public:
  explicit ProductRegisters(Program& program) : program_(program) {
    for (std::uint32_t pc = 0; pc < program.code.size(); ++pc) {
      const auto* op = std::get_if<WgmmaOperands>(&program.code[pc].operands);
      if (op == nullptr) continue;
      const std::span<const std::uint32_t> all(program.registers_of(op->registers),
                                               op->registers.count);
      const int registers = op->tiles * op->shape->c_regs;
      const auto count = static_cast<std::size_t>(registers);
      const bool replaces = !contains(program.info[pc].sources, all.front());
      products_.push_back({pc, all.first(count), all.subspan(count), replaces});
    }
    for (std::uint32_t p = 0; p < products_.size(); ++p) {
      for (const std::uint32_t reg : products_[p].accumulators) users_[reg].push_back(p);
      for (const std::uint32_t reg : products_[p].fragments) users_[reg].push_back(p);
    }
  }

  void run() {
    if (products_.empty()) return;
    if (program_.code.size() * (products_.size() + users_.size() / 8) > kMostStates) {
      throw PtxError("program too large: " + std::to_string(products_.size()) + " wgmma in " +
                         std::to_string(program_.code.size()) + " instructions",
                     program_.info[products_.front().pc].line);
    }
    find_in_flight();
    find_unfenced();
    for (auto& [pc, check] : checks_) {
      check.original = program_.code[pc].fn;
      program_.code[pc].fn = exec_checked;
    }
    program_.product_checks = std::move(checks_);
  }

 private:
  /// Merges `from` into a state of analysis 1, and keeps the smaller InFlight::commits of each
  /// wgmma. True if the state `into` changed.
  static bool merge(std::vector<InFlight>& into, const std::vector<InFlight>& from) {
    bool changed = false;
    for (const InFlight& item : from) {
      const auto found = std::ranges::find(into, item.product, &InFlight::product);
      if (found == into.end()) {
        into.push_back(item);
        changed = true;
      } else if (item.commits < found->commits) {
        found->commits = item.commits;
        changed = true;
      }
    }
    return changed;
  }

  [[nodiscard]] std::uint32_t number_of(std::uint32_t pc) const {
    const auto found = std::ranges::lower_bound(products_, pc, {}, &Product::pc);
    return static_cast<std::uint32_t>(found - products_.begin());
  }

  void step(std::uint32_t pc, std::vector<InFlight>& state) const {
    const Instr& in = program_.code[pc];
    if (in.fn == exec_wgmma) {
      std::erase_if(state, [&](const InFlight& i) { return i.product == number_of(pc); });
      state.push_back({number_of(pc), 0});
    }
    if (in.guard != kNoRegister) return;  // the guard may be false
    if (in.fn == exec_wgmma_commit) {
      for (InFlight& item : state) item.commits = std::min(item.commits + 1, kMostCommits);
    } else if (in.fn == exec_wgmma_wait) {
      std::erase_if(state,
                    [&](const InFlight& i) { return i.commits > in.as<WgmmaWaitOperands>().keep; });
    }
  }

  void find_in_flight() {
    std::vector<std::vector<InFlight>> before(program_.code.size());
    std::vector<bool> seen(program_.code.size(), false);
    visit_until_stable(program_, [&](std::uint32_t pc) {
      std::vector<InFlight> after = before[pc];
      step(pc, after);
      bool changed = false;
      for (const std::uint32_t next : successors(program_, pc)) {
        changed |= merge(before[next], after) || !seen[next];
        seen[next] = true;
      }
      return changed;
    });
    for (std::uint32_t pc = 0; pc < program_.code.size(); ++pc) {
      for (const InFlight& item : before[pc]) check_touch(pc, item.product);
    }
  }

  void check_touch(std::uint32_t pc, std::uint32_t p) {
    const Product& product = products_[p];
    const bool is_product = program_.code[pc].fn == exec_wgmma;
    const auto touches = [&](const std::vector<std::uint32_t>& registers, bool write) {
      return std::ranges::any_of(registers, [&](std::uint32_t reg) {
        const auto users = users_.find(reg);
        if (users == users_.end() || !contains(users->second, p)) return false;
        // A later wgmma needs no check, as it may add to the accumulators of a wgmma in flight.
        if (is_product && contains(products_[number_of(pc)].accumulators, reg) &&
            contains(product.accumulators, reg))
          return false;
        return write || contains(product.accumulators, reg);
      });
    };
    const InstrInfo& info = program_.info[pc];
    if (touches(info.sources, false)) checks_[pc].reads.push_back(product.pc);
    if (touches(info.destinations, true)) checks_[pc].writes.push_back(product.pc);
  }

  /// In a state of analysis 2, bit 0 is set if some path to the instruction has no wgmma.fence. The
  /// bit of a register that some wgmma uses is set if some path writes the register after its last
  /// wgmma.fence.
  using Written = std::vector<bool>;

  void step(std::uint32_t pc, Written& state) const {
    const Instr& in = program_.code[pc];
    if (in.fn == exec_wgmma_fence && in.guard == kNoRegister) state.assign(state.size(), false);
    for (const std::uint32_t reg : program_.info[pc].destinations) {
      // No wgmma.fence is needed between two wgmma with the same accumulators, so a write by a
      // wgmma clears the register's bit.
      if (const auto found = bit_.find(reg); found != bit_.end())
        state[found->second] = in.fn != exec_wgmma;
    }
  }

  /// Merges `from` into a state of analysis 2; true if the state changed. The state `into` is empty
  /// if no path to its instruction has been found before.
  static bool merge(Written& into, const Written& from) {
    if (into.empty()) {
      into = from;
      return true;
    }
    bool changed = false;
    for (std::size_t i = 0; i < into.size(); ++i) {
      if (!from[i] || into[i]) continue;
      into[i] = true;
      changed = true;
    }
    return changed;
  }

  void find_unfenced() {
    for (const auto& [reg, users] : users_) bit_.emplace(reg, bit_.size() + 1);
    std::vector<Written> before(program_.code.size());
    before[0].assign(bit_.size() + 1, false);
    before[0][0] = true;
    visit_until_stable(program_, [&](std::uint32_t pc) {
      Written after = before[pc];
      step(pc, after);
      bool changed = false;
      for (const std::uint32_t next : successors(program_, pc))
        changed |= merge(before[next], after);
      return changed;
    });
    for (const Product& product : products_) {
      const Written& state = before[product.pc];
      if (state.empty()) continue;  // the instruction is never reached
      const auto written = [&](std::uint32_t reg) { return state[bit_.at(reg)]; };
      if (state[0] || (!product.replaces && std::ranges::any_of(product.accumulators, written)) ||
          std::ranges::any_of(product.fragments, written))
        checks_[product.pc].unfenced = true;
    }
  }

  Program& program_;
  std::vector<Product> products_;
  std::map<std::uint32_t, std::vector<std::uint32_t>> users_;  ///< register → products
  std::map<std::uint32_t, std::size_t> bit_;                   ///< register → index in Written
  std::map<std::uint32_t, ProductCheck> checks_;
};

}  // namespace

void find_product_checks(Program& program) { ProductRegisters(program).run(); }

}  // namespace evo::ptx
