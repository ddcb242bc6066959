#pragma once

#include <cstddef>
#include <span>

#include "engine/ptx/lexer.hpp"

namespace evo::ptx {

/// Number of tokens in the `.loc`, `.file` or debug section with which `tokens` begin; 0 if
/// `tokens` begin with another statement, or if the syntax differs from the PTX ISA.
[[nodiscard]] std::size_t length_of_line_information(std::span<const Token> tokens);

}  // namespace evo::ptx
