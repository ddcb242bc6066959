#pragma once

#include <string_view>

#include "engine/ptx/ast.hpp"

namespace evo::ptx {

/// Reads a PTX module (ISA 7.0 … 9.x, address size 64). Registers, variables and labels are
/// resolved with their scopes, so that braces of inline assembly cause no name clashes. Does not
/// check opcodes. Throws PtxError.
[[nodiscard]] Module parse_ptx(std::string_view text);

}  // namespace evo::ptx
