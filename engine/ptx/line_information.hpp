#pragma once

#include <cstddef>
#include <span>

#include "engine/ptx/lexer.hpp"

namespace evo::ptx {

/// How many tokens the `.loc`, `.file` or debug section at the start of `tokens` has; 0 when
/// something else stands there, or when it is not written as the PTX ISA says.
[[nodiscard]] std::size_t length_of_line_information(std::span<const Token> tokens);

}  // namespace evo::ptx
