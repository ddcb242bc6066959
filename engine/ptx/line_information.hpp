#pragma once

#include <cstddef>
#include <span>

#include "engine/ptx/lexer.hpp"

namespace evo::ptx {

/// Number of tokens of the `.loc`, `.file` or debug section at the start of `tokens`; 0 if there is
/// another statement or its syntax differs from the PTX ISA.
[[nodiscard]] std::size_t length_of_line_information(std::span<const Token> tokens);

}  // namespace evo::ptx
