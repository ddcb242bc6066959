#pragma once

#include <cstdint>

#include "engine/ptx/types.hpp"

// The elements of decoded operands. Each instruction family declares a struct of operands beside
// its handlers. `each_register` of such a struct calls a function with every register field.

namespace evo::ptx {

struct Warp;
struct Instr;

/// Executes one decoded instruction for the lanes of `Warp::exec`.
using Handler = void (*)(Warp&, const Instr&);

inline constexpr int kWarpSize = 32;
inline constexpr std::uint32_t kAllLanes = 0xffffffffU;
/// A register occupies one slot of 32 × 4 bytes (64-bit: two, 128-bit: four); 16-bit registers use
/// the first half of their slot, and predicates the first word (one bit per lane).
inline constexpr std::uint32_t kSlotBytes = 128;
inline constexpr std::uint32_t kNoRegister = 0xffffffffU;

/// Consecutive registers in Program::registers; kNoRegister for a sink.
struct RegisterList {
  std::uint32_t first = 0;
  std::uint32_t count = 0;
};

/// The address of an access: a register and an offset, or the offset alone.
struct Address {
  std::uint32_t base = kNoRegister;
  bool is_wide = false;  ///< true: the register has 64 bits; false: 32
  std::int64_t offset = 0;
};

/// How an access is ordered with others. .relaxed and .volatile are strong; so are .acquire and
/// .release.
struct AccessOrder {
  bool strong = false;
  bool acquire = false;
  bool release = false;
  bool of_cta = false;     ///< strong only among the threads of the CTA
  bool read_only = false;  ///< .nc: through the read-only data path
};

struct NoOperands {
  template <typename F>
  void each_register(F&& /*visit*/) {}
};

}  // namespace evo::ptx
