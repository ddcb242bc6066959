#include <algorithm>
#include <map>
#include <queue>

#include "engine/device/virtual/decode/control_flow.hpp"
#include "engine/device/virtual/decode/decode_context.hpp"
#include "engine/ptx/source_lines.hpp"

// Runs after decoding: finds reachable instructions and the lifetimes of registers, and assigns
// each register a slot in the register file.
//
// 1. Find the successors of every instruction and the reachable instructions.
// 2. Compute the live registers at the start of each block by backward data flow.
// 3. Give each register one interval, from its first to its last live instruction. The intervals
//    of sources and destinations of one instruction overlap, because a handler may write its result
//    before it has read all sources.
// 4. Assign slots by linear scan. Only registers of the same Layout share a slot.

namespace evo::ptx {
namespace {

constexpr std::uint32_t kMostSlots = 1U << 16;  // 8 MiB for each warp
// limit of the live-register sets (256 MiB): one bit for each pair of a block and a register
constexpr std::size_t kMostLivenessWords = 1U << 25;
constexpr std::uint64_t kMostLivenessSteps = 1ULL << 31;  // limit of the analysis's steps

std::vector<bool> reachable(const Program& program) {
  std::vector<bool> seen(program.code.size(), false);
  visit_until_stable(program, [&](std::uint32_t pc) {
    const bool is_first = !seen[pc];
    seen[pc] = true;
    return is_first;
  });
  return seen;
}

struct Block {
  std::uint32_t first;
  std::uint32_t last;  ///< inclusive
  std::vector<std::uint32_t> next;
  std::vector<std::uint64_t> live_in;
};

class Liveness {
 public:
  /// `guarded_writes_kill`: treats a guarded write as if its guard were always true.
  Liveness(const Program& program, std::size_t registers, bool guarded_writes_kill)
      : program_(program), words_((registers + 63) / 64), kill_all_(guarded_writes_kill) {
    split();
    solve();
  }

  [[nodiscard]] const std::vector<Block>& blocks() const { return blocks_; }
  [[nodiscard]] std::vector<std::uint64_t> live_out(const Block& block) const {
    std::vector<std::uint64_t> live(words_, 0);
    for (const std::uint32_t next : block.next) {
      for (std::size_t w = 0; w < words_; ++w) live[w] |= blocks_[next].live_in[w];
    }
    return live;
  }

 private:
  void split() {
    const std::size_t count = program_.code.size();
    std::vector<bool> starts(count + 1, false);
    starts[0] = true;
    for (std::size_t pc = 0; pc < count; ++pc) {
      const InstrInfo& info = program_.info[pc];
      if (!info.is_branch && !info.ends_path) continue;
      starts[pc + 1] = true;
      for (const std::uint32_t next : successors(program_, pc)) starts[next] = true;
    }
    std::vector<std::uint32_t> block_of(count, 0);
    const auto number = static_cast<std::size_t>(std::ranges::count(starts, true));
    if (words_ * number > kMostLivenessWords) {
      throw PtxError("program too large: " + std::to_string(number) + " blocks with " +
                         std::to_string(words_ * 64) + " registers",
                     program_.info.back().line);
    }
    for (std::size_t pc = 0; pc < count; ++pc) {
      if (starts[pc]) {
        blocks_.push_back(
            {static_cast<std::uint32_t>(pc), 0, {}, std::vector<std::uint64_t>(words_, 0)});
      }
      blocks_.back().last = static_cast<std::uint32_t>(pc);
      block_of[pc] = static_cast<std::uint32_t>(blocks_.size() - 1);
    }
    for (Block& block : blocks_) {
      for (const std::uint32_t next : successors(program_, block.last))
        block.next.push_back(block_of[next]);
    }
  }

  /// Computes the registers that are live before a block from those that are live after it. Returns
  /// true if the set of registers live before the block grew.
  bool transfer(Block& block) {
    std::vector<std::uint64_t> live = live_out(block);
    for (std::size_t pc = block.last + 1; pc-- > block.first;) {
      const InstrInfo& info = program_.info[pc];
      if (program_.code[pc].guard == kNoRegister || kill_all_) {
        for (const std::uint32_t reg : info.destinations) live[reg / 64] &= ~(1ULL << (reg % 64));
      }
      for (const std::uint32_t reg : info.sources) live[reg / 64] |= 1ULL << (reg % 64);
      if (program_.code[pc].guard != kNoRegister) {
        const std::uint32_t guard = program_.code[pc].guard;
        live[guard / 64] |= 1ULL << (guard % 64);
      }
    }
    if (live == block.live_in) return false;
    block.live_in = std::move(live);
    return true;
  }

  void solve() {
    bool changed = true;
    std::uint64_t steps = 0;
    while (changed) {
      changed = false;
      steps += (words_ + 8) * blocks_.size();
      if (steps > kMostLivenessSteps) {
        throw PtxError("program too large: the lifetimes of its registers take too long to find",
                       program_.info.back().line);
      }
      for (std::size_t b = blocks_.size(); b-- > 0;) changed |= transfer(blocks_[b]);
    }
  }

  const Program& program_;
  std::size_t words_;
  bool kill_all_;
  std::vector<Block> blocks_;
};

struct Interval {
  std::uint32_t start = 0xffffffffU;
  std::uint32_t end = 0;
  void extend(std::uint32_t pc) {
    start = std::min(start, pc);
    end = std::max(end, pc);
  }
};

std::vector<Interval> intervals(const Program& program, const Liveness& liveness,
                                std::size_t registers) {
  std::vector<Interval> result(registers);
  const auto extend_live = [&](const std::vector<std::uint64_t>& live, std::uint32_t pc) {
    for (std::size_t w = 0; w < live.size(); ++w) {
      for (std::uint64_t bits = live[w]; bits != 0; bits &= bits - 1) {
        result[w * 64 + static_cast<std::size_t>(__builtin_ctzll(bits))].extend(pc);
      }
    }
  };
  for (const Block& block : liveness.blocks()) {
    extend_live(block.live_in, block.first);
    extend_live(liveness.live_out(block), block.last);
  }
  for (std::uint32_t pc = 0; pc < program.code.size(); ++pc) {
    for (const std::uint32_t reg : program.info[pc].sources) result[reg].extend(pc);
    for (const std::uint32_t reg : program.info[pc].destinations) result[reg].extend(pc);
    if (program.code[pc].guard != kNoRegister) result[program.code[pc].guard].extend(pc);
  }
  return result;
}

/// The layout of a register's lanes in its slots. Only registers with the same layout share a slot.
/// Lanes of a warp may be at different instructions, so with another layout a write for one lane
/// would overwrite data that another lane still needs.
struct Layout {
  bool predicate;                                   ///< one bit per lane
  int bytes;                                        ///< bytes per lane
  auto operator<=>(const Layout&) const = default;  // NOLINT(modernize-use-nullptr)
};

Layout layout_of(Type type) { return {type == Type::kPred, register_bytes(type)}; }

/// Allocates slots; freed slots are reused by registers of the same layout.
class SlotPool {
 public:
  std::uint32_t take(Type type) {
    auto& free = free_[layout_of(type)];
    if (!free.empty()) {
      const std::uint32_t slot = free.back();
      free.pop_back();
      return slot;
    }
    const std::uint32_t slot = next_;
    next_ += slots_of(type);
    return slot;
  }
  void give(std::uint32_t slot, Type type) { free_[layout_of(type)].push_back(slot); }
  [[nodiscard]] std::uint32_t size() const { return next_; }

 private:
  static std::uint32_t slots_of(Type type) {
    const Layout layout = layout_of(type);
    return layout.predicate ? 1U : static_cast<std::uint32_t>(std::max(layout.bytes / 4, 1));
  }

  std::map<Layout, std::vector<std::uint32_t>> free_;
  std::uint32_t next_ = 0;
};

}  // namespace

void DecodeContext::check_reachable() {
  const std::vector<bool> seen = reachable(program_);
  for (std::size_t pc = 0; pc < program_.code.size(); ++pc) {
    const InstrInfo& info = program_.info[pc];
    if (!seen[pc] || info.unsupported.empty()) continue;
    const std::string suffix = " at line " + std::to_string(info.line);
    std::string text = info.unsupported;
    if (text.ends_with(suffix)) text.resize(text.size() - suffix.size());
    throw PtxError(text, info.line,
                   info.source.line == 0
                       ? ""
                       : ", " + describe_source(info.source, program_.files, program_.call_sites));
  }
}

/// True for the registers of literals and special registers, which are filled before the first
/// instruction and whose slots no other register reuses.
std::vector<bool> DecodeContext::permanent_registers() const {
  std::vector<bool> permanent(types_.size(), false);
  for (const auto& [key, reg] : constants_) permanent[reg] = true;
  for (const auto& [key, reg] : specials_) permanent[reg] = true;
  return permanent;
}

void DecodeContext::assign_registers() {
  const std::size_t count = types_.size();
  const Liveness liveness(program_, count, false);
  const std::vector<Interval> live = intervals(program_, liveness, count);
  const std::vector<bool> permanent = permanent_registers();

  SlotPool pool;
  std::vector<std::uint32_t> slot(count, 0);
  std::vector<std::uint32_t> order;
  std::uint32_t fixed_slots = 0;
  for (std::uint32_t reg = 0; reg < count; ++reg) {
    if (permanent[reg]) {
      slot[reg] = pool.take(types_[reg]);
      fixed_slots = pool.size();
    } else if (live[reg].start <= live[reg].end) {
      order.push_back(reg);
    }
  }
  std::ranges::sort(order, {}, [&](std::uint32_t reg) { return live[reg].start; });
  const auto later = [&](std::uint32_t a, std::uint32_t b) { return live[a].end > live[b].end; };
  std::priority_queue<std::uint32_t, std::vector<std::uint32_t>, decltype(later)> busy(later);
  for (const std::uint32_t reg : order) {
    while (!busy.empty() && live[busy.top()].end < live[reg].start) {
      pool.give(slot[busy.top()], types_[busy.top()]);
      busy.pop();
    }
    slot[reg] = pool.take(types_[reg]);
    busy.push(reg);
  }
  program_.live_registers = static_cast<int>(pool.size() - fixed_slots);
  list_unset_registers();
  write_offsets(slot, pool.size());
}

/// Lists the registers that some path reads before it writes them. A guarded write counts as a
/// write, because compilers emit pairs of guarded writes that together write all lanes.
void DecodeContext::list_unset_registers() {
  const Liveness certain(program_, types_.size(), true);
  const auto& live = certain.blocks().front().live_in;
  const std::vector<bool> fixed = permanent_registers();
  for (std::uint32_t reg = 0; reg < types_.size(); ++reg) {
    if (fixed[reg] || ((live[reg / 64] >> (reg % 64)) & 1U) == 0) continue;
    program_.unset_registers.push_back(reg);
    program_.unset_bytes.push_back(static_cast<std::uint32_t>(register_bytes(types_[reg])));
  }
}

/// Replaces register numbers by offsets into the register file.
void DecodeContext::write_offsets(const std::vector<std::uint32_t>& slot, std::uint32_t slots) {
  if (slots > kMostSlots) {
    throw PtxError("more than " + std::to_string(kMostSlots) + " registers live at once",
                   program_.info.front().line);
  }
  const auto map = [&](std::uint32_t& reg) {
    if (reg != kNoRegister) reg = slot[reg] * kSlotBytes;
  };
  const auto map_field = [&](auto& field) {
    if constexpr (std::is_same_v<decltype(field), std::uint32_t&>) {
      map(field);
    } else {
      for (std::uint32_t& reg : field) map(reg);
    }
  };
  for (Instr& in : program_.code) {
    map(in.guard);
    std::visit(
        [&](auto& operands) {
          std::apply([&](auto&... fields) { (map_field(fields), ...); },
                     operands.register_fields());
        },
        in.operands);
  }
  for (InstrInfo& info : program_.info) {
    for (std::uint32_t& reg : info.sources) map(reg);
    for (std::uint32_t& reg : info.destinations) map(reg);
  }
  for (std::uint32_t& reg : program_.registers) map(reg);
  for (std::uint32_t& reg : program_.unset_registers) map(reg);
  for (const auto& [key, reg] : constants_) {
    const bool predicate = key.second == Type::kPred;
    program_.constants.push_back({slot[reg] * kSlotBytes,
                                  static_cast<std::uint32_t>(register_bytes(key.second)), key.first,
                                  predicate});
  }
  for (const auto& [special, reg] : specials_)
    program_.specials.emplace_back(special, slot[reg] * kSlotBytes);
  program_.register_bytes = std::max(slots, 1U) * kSlotBytes;
}

}  // namespace evo::ptx
