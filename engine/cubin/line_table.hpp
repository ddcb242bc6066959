#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace evo {

/// The line from which the code at `offset` and behind it was made.
struct LineOfCode {
  std::uint64_t offset = 0;  ///< bytes from the beginning of the kernel's code
  std::uint32_t line = 0;    ///< from 1: the one behind `.version`
  bool ends = false;         ///< the sequence ends here: what follows has no line
};

/// Which line of the PTX each machine instruction of `entry` comes from, by ascending offset:
/// section .nv_debug_line_sass of a cubin compiled with -lineinfo, a line number program of DWARF 2
/// ("DWARF Debugging Information Format", version 2.0.0, chapter 6.2). Empty without it.
[[nodiscard]] std::vector<LineOfCode> ptx_lines(std::string_view cubin, std::string_view entry);

}  // namespace evo
