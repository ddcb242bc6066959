#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <limits>

namespace evo {

/// Validators of numbers on the command line. A message names the value and the allowed values;
/// CLI11 adds the option's name. Signs, exponents and other bases are errors.
[[nodiscard]] CLI::Validator whole_number(std::uint64_t low, std::uint64_t high);

/// Any seed.
[[nodiscard]] inline CLI::Validator seed_number() {
  return whole_number(0, std::numeric_limits<std::uint64_t>::max());
}

/// A row number of the database.
[[nodiscard]] inline CLI::Validator row_number() {
  return whole_number(1, std::numeric_limits<std::int64_t>::max());
}

/// A finite number from `low` to `high`. "nan" is an error.
[[nodiscard]] CLI::Validator real_number(double low, double high);

/// A time limit in seconds: more than 0, at most a year. "nan" and "inf" are errors.
[[nodiscard]] CLI::Validator seconds_number();

}  // namespace evo
