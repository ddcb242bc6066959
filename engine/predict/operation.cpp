#include "engine/predict/operation.hpp"

#include <array>

namespace evo {
namespace {

constexpr std::size_t kOperations = 512;

struct Range {
  unsigned first;
  unsigned last;
  Unit unit;
};

// The unit that executes each machine instruction, by ranges of the opcode, which is the low nine
// bits of the instruction. A later range overrides an earlier one. The opcodes were read from the
// output of nvdisasm 13.1 for sm_80, sm_89 and sm_90.
constexpr std::array kRanges = {
    Range{0x002, 0x01c, Unit::kAlu},       // MOV … PLOP3
    Range{0x020, 0x023, Unit::kFma},       // FMUL, FADD, FSWZADD, FFMA
    Range{0x024, 0x027, Unit::kFmaHeavy},  // IMAD, IMAD.WIDE, IDP, IMAD.HI
    Range{0x028, 0x02b, Unit::kFp64},      // DMUL, DADD, DSETP, DFMA
    Range{0x030, 0x035, Unit::kHalf},      // HADD2, HFMA2, HMUL2, HSET2, HSETP2
    Range{0x036, 0x036, Unit::kAlu},       // VIADD
    Range{0x037, 0x037, Unit::kTensor},    // IMMA
    Range{0x03b, 0x03b, Unit::kShared},    // LDSM
    Range{0x03c, 0x03d, Unit::kTensor},    // HMMA, BMMA
    Range{0x03e, 0x03e, Unit::kPack},      // F2FP
    Range{0x03f, 0x03f, Unit::kTensor},    // DMMA
    Range{0x040, 0x05f, Unit::kAlu},       // HMNMX2, VIADDMNMX, VIMNMX
    Range{0x044, 0x044, Unit::kShared},    // STSM
    Range{0x07a, 0x07a, Unit::kTensor},    // QMMA
    Range{0x080, 0x0c9, Unit::kUniform},   // UMOV … ULDC
    Range{0x0ca, 0x0ca, Unit::kAlu},       // R2UR
    Range{0x0cb, 0x0ff, Unit::kUniform},
    Range{0x100, 0x117, Unit::kTransform},  // FLO, BREV, F2F, F2I, I2F, FRND, MUFU, POPC
    Range{0x118, 0x118, Unit::kNone},       // NOP
    Range{0x119, 0x119, Unit::kSpecial},    // S2R
    Range{0x11a, 0x11a, Unit::kAsyncWait},  // DEPBAR
    Range{0x11d, 0x11d, Unit::kBarrier},    // BAR
    Range{0x141, 0x142, Unit::kBranch},     // BSYNC, BREAK
    Range{0x143, 0x144, Unit::kCall},
    Range{0x145, 0x146, Unit::kNone},    // BSSY, YIELD
    Range{0x147, 0x147, Unit::kBranch},  // BRA
    Range{0x148, 0x148, Unit::kBranch},  // WARPSYNC
    Range{0x149, 0x14c, Unit::kBranch},  // BRX, JMP, JMX
    Range{0x14d, 0x14d, Unit::kExit},
    Range{0x150, 0x150, Unit::kReturn},
    Range{0x15d, 0x15d, Unit::kSleep},        // NANOSLEEP
    Range{0x160, 0x17f, Unit::kGlobalLoad},   // textures and surfaces
    Range{0x180, 0x181, Unit::kGlobalLoad},   // LD, LDG
    Range{0x182, 0x182, Unit::kConstant},     // LDC
    Range{0x183, 0x183, Unit::kLocal},        // LDL
    Range{0x184, 0x184, Unit::kShared},       // LDS
    Range{0x185, 0x186, Unit::kGlobalStore},  // ST, STG
    Range{0x187, 0x187, Unit::kLocal},        // STL
    Range{0x188, 0x188, Unit::kShared},       // STS
    Range{0x189, 0x189, Unit::kShuffle},      // SHFL
    Range{0x18a, 0x18b, Unit::kAtomic},       // ATOM
    Range{0x18c, 0x18d, Unit::kShared},       // ATOMS
    Range{0x18e, 0x18e, Unit::kAtomic},       // RED
    Range{0x192, 0x192, Unit::kFence},        // MEMBAR
    Range{0x1a1, 0x1a1, Unit::kShuffle},      // MATCH
    Range{0x1a7, 0x1a7, Unit::kMbarrier},     // SYNCS
    Range{0x1a8, 0x1a9, Unit::kAtomic},       // ATOMG
    Range{0x1ae, 0x1ae, Unit::kAsyncCopy},    // LDGSTS
    Range{0x1af, 0x1af, Unit::kAsyncCommit},  // LDGDEPBAR
    Range{0x1b0, 0x1b0, Unit::kMbarrier},     // ARRIVES
    Range{0x1b2, 0x1b2, Unit::kMbarrier},     // SYNCS.EXCH
    Range{0x1b4, 0x1b5, Unit::kBulkCopy},     // UTMALDG, UTMASTG
    Range{0x1b7, 0x1b7, Unit::kAsyncCommit},  // UTMACMDFLUSH
    Range{0x1ba, 0x1ba, Unit::kBulkCopy},     // UBLKCP
    Range{0x1c3, 0x1c3, Unit::kSpecial},      // S2UR
    Range{0x1c4, 0x1c4, Unit::kShuffle},      // REDUX
    Range{0x1c6, 0x1c6, Unit::kSpecial},      // FENCE.VIEW of shared memory alone
    Range{0x1f0, 0x1f3, Unit::kGmma},         // HGMMA, IGMMA, BGMMA, QGMMA
};

constexpr std::array<Unit, kOperations> make_table() {
  std::array<Unit, kOperations> table{};
  for (const Range& range : kRanges) {
    for (unsigned i = range.first; i <= range.last; ++i) table[i] = range.unit;
  }
  return table;
}

constexpr std::array<Unit, kOperations> kUnits = make_table();

constexpr unsigned kImma = 0x037;
constexpr unsigned kQmma = 0x07a;
constexpr unsigned kQgmma = 0x1f3;
constexpr double kGmmaRows = 16;    ///< rows that one warp computes
constexpr double kGmmaHalves = 16;  ///< f16 numbers along k; for bytes, half of their number

/// N of a wgmma m64nNk: the instruction holds N / 8 − 1 in five bits.
double gmma_columns(const MachineInstruction& instruction) {
  return 8 * (static_cast<double>(instruction.low >> 53 & 0x1fU) + 1);
}

}  // namespace

Unit unit_of(const MachineInstruction& instruction) {
  constexpr unsigned kWarpgroup = 0x1c5;
  constexpr unsigned kMembar = 0x192;
  constexpr std::uint64_t kScopeBeyondCta = 0x3000;  // in the upper half: scope .GPU or .SYS
  constexpr std::uint64_t kDepbar = 0x10000;  // in the upper half: .DEPBAR instead of .ARRIVE
  if (instruction.operation() == kWarpgroup && (instruction.high & kDepbar) != 0)
    return Unit::kGmmaWait;
  if (instruction.operation() == kMembar && (instruction.high & kScopeBeyondCta) == 0)
    return Unit::kCtaFence;
  return kUnits[instruction.operation()];
}

bool commits_gmma(const MachineInstruction& instruction) {
  return (instruction.high >> 20 & 7U) == 0;
}

bool packs_bytes(const MachineInstruction& instruction) {
  return unit_of(instruction) == Unit::kPack && (instruction.high >> 23 & 1U) != 0;
}

bool unpacks_bytes(const MachineInstruction& instruction) {
  return unit_of(instruction) == Unit::kPack && (instruction.high >> 17 & 1U) != 0;
}

bool widens_half(const MachineInstruction& instruction) {
  constexpr unsigned kHadd2 = 0x030;
  return instruction.operation() == kHadd2 && (instruction.high >> 14 & 1U) != 0;
}

bool merges_with(const MachineInstruction& store, const MachineInstruction& before) {
  const auto base = [](const MachineInstruction& in) { return in.low >> 24 & 0xffU; };
  const auto chunk = [](const MachineInstruction& in) {
    return in.low >> 44;
  };  // the 16-byte chunk of the offset
  return unit_of(before) == Unit::kGlobalStore && base(store) == base(before) &&
         chunk(store) == chunk(before);
}

double tensor_flops(const MachineInstruction& instruction) {
  constexpr unsigned kDmma = 0x03f;
  // In the upper half: shape .16816 instead of .1688; for byte types, .16832 instead of .16816.
  constexpr std::uint64_t kIsLarge = 0x800;
  const Unit unit = unit_of(instruction);
  if (unit == Unit::kGmma) return 2 * kGmmaRows * gmma_columns(instruction) * kGmmaHalves;
  if (unit != Unit::kTensor) return 0;
  if (instruction.operation() == kDmma) return 512;
  return (instruction.high & kIsLarge) != 0 ? 4096 : 2048;
}

double matrix_flops(const MachineInstruction& instruction) {
  const unsigned operation = instruction.operation();
  const bool is_bytes = operation == kImma || operation == kQmma || operation == kQgmma;
  return tensor_flops(instruction) * (is_bytes ? 2 : 1);
}

double gmma_bytes(const MachineInstruction& instruction) {
  constexpr double kWarps = 4;
  constexpr double kRowBytes = 2 * kGmmaHalves;
  constexpr std::uint64_t kRegisters = 0x400;  // bit: A comes from registers
  const double a = (instruction.low & kRegisters) != 0 ? 0 : kGmmaRows * kRowBytes;
  return a + gmma_columns(instruction) * kRowBytes / kWarps;
}

}  // namespace evo
