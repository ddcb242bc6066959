#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace evo {

/// A machine instruction (SASS) of compute capability 7.0 to 9.x: 16 bytes, whose upper bits encode
/// the compiler's scheduling. Layout: Jia et al., "Dissecting the NVIDIA Volta GPU Architecture via
/// Microbenchmarking", 2018, section 2.1; it agrees with the output of nvdisasm.
struct MachineInstruction {
  std::uint64_t low = 0;
  std::uint64_t high = 0;
  std::uint32_t ptx_line = 0;  ///< line after `.version`, from 1; 0: unknown

  /// The opcode without the bits that select the form of its operands.
  [[nodiscard]] unsigned operation() const { return static_cast<unsigned>(low & 0x1ffU); }
  /// Clocks until the warp may issue its next instruction.
  [[nodiscard]] int stall() const { return static_cast<int>(high >> 41 & 0xfU); }
  /// The scoreboard that is busy until the result is written; 7: none.
  [[nodiscard]] unsigned write_barrier() const { return static_cast<unsigned>(high >> 46 & 7U); }
  /// The scoreboard that is busy until the operands are read; 7: none.
  [[nodiscard]] unsigned read_barrier() const { return static_cast<unsigned>(high >> 49 & 7U); }
  /// Scoreboards that must be free before the instruction issues, one bit each.
  [[nodiscard]] unsigned waits() const { return static_cast<unsigned>(high >> 52 & 0x3fU); }
  /// Registers of the result and the operands a, b and c; 255 is RZ. If takes_register_b() is
  /// false, operand_b() is not a register number.
  [[nodiscard]] unsigned result() const { return static_cast<unsigned>(low >> 16 & 0xffU); }
  [[nodiscard]] unsigned operand_a() const { return static_cast<unsigned>(low >> 24 & 0xffU); }
  [[nodiscard]] unsigned operand_b() const { return static_cast<unsigned>(low >> 32 & 0xffU); }
  [[nodiscard]] unsigned operand_c() const { return static_cast<unsigned>(high & 0xffU); }
  /// Whether operand b is a register, not an immediate, a constant or a uniform register.
  [[nodiscard]] bool takes_register_b() const { return (low >> 9 & 7U) == 1; }
  /// Whether a predicate guards the instruction.
  [[nodiscard]] bool is_guarded() const { return (low >> 12 & 0xfU) != 7; }
  /// Whether the instruction's guard is the constant false.
  [[nodiscard]] bool is_never() const { return (low >> 12 & 0xfU) == 0xf; }
};

/// The instructions of `entry` in order, with their PTX lines if the cubin has them. Empty if the
/// cubin lacks the kernel or is no valid ELF file.
[[nodiscard]] std::vector<MachineInstruction> read_machine_code(std::string_view cubin,
                                                                std::string_view entry);

}  // namespace evo
