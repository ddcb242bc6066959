#pragma once

#include <cstdint>

#include "engine/device/virtual/decode/registers.hpp"

namespace evo::ptx {

struct MBarrier;

/// The operand of cp.async that limits the bytes copied from the source; the rest of the
/// destination becomes zero.
enum class CopySize : std::uint8_t {
  kWhole,   ///< no operand: copies all bytes
  kBytes,   ///< a register
  kIgnore,  ///< a predicate: copies no bytes if it is true
};

/// The operands of cp.async.
struct CopyOperands {
  Address to;
  Address from;
  std::uint32_t size_or_ignore = kNoRegister;
  CopySize size = CopySize::kWhole;
  bool negated = false;  ///< for kIgnore
  std::uint8_t bytes = 0;
  auto register_fields() { return std::tie(to.base, from.base, size_or_ignore); }
};
void exec_cp_async(Warp& warp, const Instr& in);
void exec_commit_group(Warp& warp, const Instr& in);

/// The operand of cp.async.wait_group: the number of groups that may stay pending; −1 (wait_all):
/// waits for uncommitted copies, too.
struct WaitGroupOperands {
  std::int64_t keep = -1;
  auto register_fields() { return std::tie(); }
};
void exec_wait_group(Warp& warp, const Instr& in);

/// Completes the committed cp.async copies of the lanes in `mask`, except those in the `keep`
/// newest committed groups. If `keep` is −1, completes all copies, also uncommitted ones.
void finish_copies(Warp& warp, std::uint32_t mask, std::int64_t keep);

/// Completes all cp.async copies of the lanes in `mask`. Only threads that acquire the current
/// phase of `barrier`, and threads ordered after these, are ordered after the copies.
void finish_copies_for(Warp& warp, std::uint32_t mask, MBarrier& barrier);

}  // namespace evo::ptx
