#pragma once

#include <cstdint>

#include "engine/device/virtual/decode/registers.hpp"

namespace evo::ptx {

// Branches, exit, traps, clocks, and other instructions that touch no data.

struct BranchOperands {
  std::uint32_t target = 0;
  template <typename F>
  void each_register(F&& /*visit*/) {}
};
void exec_branch(Warp& warp, const Instr& in);

/// Consecutive targets in Program::branch_targets.
struct TargetList {
  std::uint32_t first = 0;
  std::uint32_t count = 0;
};
/// brx.idx.
struct IndexedBranchOperands {
  std::uint32_t index = kNoRegister;
  TargetList targets;
  template <typename F>
  void each_register(F&& visit) {
    visit(index);
  }
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
  template <typename F>
  void each_register(F&& visit) {
    visit(dst);
  }
};
void exec_clock(Warp& warp, const Instr& in);

struct SleepOperands {
  std::uint32_t ns = kNoRegister;
  template <typename F>
  void each_register(F&& visit) {
    visit(ns);
  }
};

struct ActiveMaskOperands {
  std::uint32_t dst = kNoRegister;
  template <typename F>
  void each_register(F&& visit) {
    visit(dst);
  }
};
void exec_activemask(Warp& warp, const Instr& in);

void exec_exit(Warp& warp, const Instr& in);
void exec_nop(Warp& warp, const Instr& in);
/// griddepcontrol.wait
void exec_grid_wait(Warp& warp, const Instr& in);
void exec_trap(Warp& warp, const Instr& in);
void exec_nanosleep(Warp& warp, const Instr& in);
/// An instruction that cannot be executed; load() rejects programs that can reach it.
void exec_unsupported(Warp& warp, const Instr& in);

}  // namespace evo::ptx
