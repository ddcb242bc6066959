#include "tools/cli/number_options.hpp"

#include <sstream>
#include <string>

#include "tools/cli/argument_text.hpp"

namespace evo {
namespace {

constexpr double kYear = 365.0 * 24 * 3600;

/// Accepts numbers for which `accepts` is true. `allowed`: these numbers, for messages; `range`:
/// for help.
template <typename Accepts>
CLI::Validator number_if(Accepts accepts, const std::string& allowed, const std::string& range) {
  return {[=](std::string& text) -> std::string {
            const auto value = number_in<double>(text);
            return value && accepts(*value) ? "" : "'" + text + "': allowed: " + allowed;
          },
          range};
}

}  // namespace

CLI::Validator whole_number(std::uint64_t low, std::uint64_t high) {
  const std::string range = std::to_string(low) + " to " + std::to_string(high);
  // Messages do not name the limit of signed 64-bit integers, because it means nothing to users.
  const std::string allowed =
      high == std::numeric_limits<std::int64_t>::max() ? std::to_string(low) + " on" : range;
  return {[=](std::string& text) -> std::string {
            const auto value = number_in<std::uint64_t>(text);
            if (!value || *value < low || *value > high) {
              return "'" + text + "': allowed: a whole number from " + allowed;
            }
            text = std::to_string(*value);  // CLI11 would read 010 as the octal number eight.
            return {};
          },
          // Help does not show limits that come from the machine's number types.
          high >= std::numeric_limits<std::int64_t>::max() ? "" : range};
}

CLI::Validator real_number(double low, double high) {
  std::ostringstream range;
  range << low << " to " << high;
  return number_if([=](double value) { return value >= low && value <= high; },
                   "a number from " + range.str(), range.str());
}

CLI::Validator seconds_number() {
  return number_if([](double value) { return value > 0 && value <= kYear; },
                   "a number of seconds above 0, at most 31536000", "");
}

}  // namespace evo
