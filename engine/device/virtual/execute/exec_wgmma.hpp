#pragma once

#include <cstdint>

#include "engine/device/virtual/decode/registers.hpp"
#include "engine/device/virtual/execute/exec_mma.hpp"

namespace evo::ptx {

/// The operands of wgmma.mma_async.
struct WgmmaOperands {
  RegisterList registers;  ///< registers of D, followed by those of A if A is in registers
  const MmaShape* shape = nullptr;
  std::uint32_t a = kNoRegister;      ///< matrix descriptor; kNoRegister: A is in registers
  std::uint32_t b = kNoRegister;      ///< matrix descriptor
  std::uint32_t scale = kNoRegister;  ///< scale-d
  std::uint8_t tiles = 0;             ///< number of tiles of eight columns
  bool negated_scale = false;
  bool negates_a = false;
  bool negates_b = false;
  bool transposes_a = false;
  bool transposes_b = false;
  auto register_fields() { return std::tie(a, b, scale); }
};
void exec_wgmma(Warp& warp, const Instr& in);
void exec_wgmma_fence(Warp& warp, const Instr& in);
void exec_wgmma_commit(Warp& warp, const Instr& in);

/// The operand of wgmma.wait_group: the number of groups that may stay pending.
struct WgmmaWaitOperands {
  std::int64_t keep = 0;
  auto register_fields() { return std::tie(); }
};
void exec_wgmma_wait(Warp& warp, const Instr& in);

/// Handler of an instruction that may use registers of a wgmma in flight, or of a wgmma whose
/// registers may have been written since the last wgmma.fence. Reports hazards as
/// Program::product_checks say, and then runs the instruction's original handler.
void exec_checked(Warp& warp, const Instr& in);

struct SetmaxnregOperands {
  std::uint32_t registers = 0;  ///< registers per thread
  bool increases = false;
  auto register_fields() { return std::tie(); }
};
void exec_setmaxnreg(Warp& warp, const Instr& in);

}  // namespace evo::ptx
