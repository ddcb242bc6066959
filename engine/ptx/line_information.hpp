#pragma once

#include <cstddef>
#include <span>

#include "engine/ptx/lexer.hpp"

namespace evo::ptx {

/// The number of tokens of the `.loc`, `.file` or debug section with which `tokens` begin. 0 if
/// `tokens` begin with another statement, or if the syntax is not that of the PTX ISA.
[[nodiscard]] std::size_t length_of_line_information(std::span<const Token> tokens);

}  // namespace evo::ptx
