#pragma once

#include <cstdint>

#include "engine/device/virtual/decode/registers.hpp"

namespace evo::ptx {

// Operands of branches, exit, traps, clock reads, and other instructions that do not process data.

struct BranchOperands {
  std::uint32_t target = 0;
  auto register_fields() { return std::tie(); }
};
void exec_branch(Warp& warp, const Instr& in);

/// A range of Program::branch_targets.
struct TargetList {
  std::uint32_t first = 0;
  std::uint32_t count = 0;
};
/// The operands of brx.idx.
struct IndexedBranchOperands {
  std::uint32_t index = kNoRegister;
  TargetList targets;
  auto register_fields() { return std::tie(index); }
};
void exec_indexed_branch(Warp& warp, const Instr& in);

enum class Clock : std::uint8_t {
  kClock,
  kClock64,
  kGlobalTimer,
  kClockHigh,
  kGlobalTimerLow,
};
struct ClockOperands {
  std::uint32_t dst = kNoRegister;
  Clock clock = Clock::kClock;
  auto register_fields() { return std::tie(dst); }
};
void exec_clock(Warp& warp, const Instr& in);

struct SleepOperands {
  std::uint32_t ns = kNoRegister;
  auto register_fields() { return std::tie(ns); }
};

struct ActiveMaskOperands {
  std::uint32_t dst = kNoRegister;
  auto register_fields() { return std::tie(dst); }
};
void exec_activemask(Warp& warp, const Instr& in);

void exec_exit(Warp& warp, const Instr& in);
void exec_nop(Warp& warp, const Instr& in);
/// Handler of griddepcontrol.wait.
void exec_grid_wait(Warp& warp, const Instr& in);
void exec_trap(Warp& warp, const Instr& in);
void exec_nanosleep(Warp& warp, const Instr& in);
/// Handler of instructions that are not supported. Device::load() rejects programs that can reach
/// such instructions.
void exec_unsupported(Warp& warp, const Instr& in);

}  // namespace evo::ptx
