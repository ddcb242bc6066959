#pragma once

#include <string_view>

#include "engine/ptx/ast.hpp"

namespace evo::ptx {

/// Parses a PTX module (ISA 7.0 … 9.x, address size 64). The names of registers, variables and
/// labels are resolved within their scopes, because inline assembly may declare the same name in
/// several { } blocks. Does not check opcodes. Throws PtxError.
[[nodiscard]] Module parse_ptx(std::string_view text);

}  // namespace evo::ptx
