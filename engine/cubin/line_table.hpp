#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace evo {

/// The PTX line from which the machine code that begins at `offset` was made.
struct LineOfCode {
  std::uint64_t offset = 0;  ///< bytes from the start of the kernel's code
  std::uint32_t line = 0;    ///< from 1: the line after `.version`
  bool ends = false;         ///< whether a DWARF sequence ends here, so that code from here on has
                             ///< no line
};

/// The PTX lines of the machine code of `entry`, in ascending order of offset; each line holds for
/// the code up to the next offset. The lines come from section .nv_debug_line_sass of a cubin
/// compiled with -lineinfo, a line number program of DWARF 2 ("DWARF Debugging Information Format",
/// version 2.0.0, chapter 6.2). Empty if the cubin lacks this section, the kernel, or the PTX text
/// (section .nv_debug_ptx_txt).
[[nodiscard]] std::vector<LineOfCode> ptx_lines(std::string_view cubin, std::string_view entry);

}  // namespace evo
