#pragma once

#include <string_view>
#include <vector>

namespace evo {

/// Letters, digits and _ $ . %
[[nodiscard]] bool is_part_of_ptx_word(char c);

/// Words of PTX with the dots in them, and signs; comments and strings are left out.
[[nodiscard]] std::vector<std::string_view> words_of(std::string_view ptx);

}  // namespace evo
