#pragma once

#include <cstdint>

#include "engine/device/virtual/decode/registers.hpp"

namespace evo::ptx {

/// The operations at a barrier: bar.sync, bar.arrive and the three forms of bar.red.
enum class BarrierOp : std::uint8_t { kSync, kArrive, kPopc, kAnd, kOr };

struct BarrierOperands {
  std::uint32_t dst = kNoRegister;  ///< result of bar.red
  std::uint32_t id = kNoRegister;
  std::uint32_t count = kNoRegister;      ///< number of threads; kNoRegister: the whole CTA
  std::uint32_t predicate = kNoRegister;  ///< source operand of bar.red
  bool negated = false;                   ///< the predicate is negated
  /// False for an instruction `barrier` without .aligned: the lanes of a warp may wait at different
  /// barrier.sync instructions on the same barrier.
  bool is_aligned = true;
  BarrierOp op = BarrierOp::kSync;
  auto register_fields() { return std::tie(dst, id, count, predicate); }
};
void exec_barrier(Warp& warp, const Instr& in);

/// The operands of bar.warp.sync.
struct WarpBarrierOperands {
  std::uint32_t members = kNoRegister;
  auto register_fields() { return std::tie(members); }
};
void exec_warp_barrier(Warp& warp, const Instr& in);

}  // namespace evo::ptx
