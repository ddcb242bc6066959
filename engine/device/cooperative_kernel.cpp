#include "engine/device/cooperative_kernel.hpp"

#include <algorithm>
#include <cctype>

namespace evo {
namespace {

bool reads_workspace(std::string_view text) {
  constexpr std::string_view kRegister = "%envreg";
  for (std::size_t at = text.find(kRegister); at != std::string_view::npos;
       at = text.find(kRegister, at + 1)) {
    const std::string_view rest = text.substr(at + kRegister.size());
    if (rest.empty() || (rest[0] != '1' && rest[0] != '2')) continue;
    if (rest.size() == 1 || std::isdigit(static_cast<unsigned char>(rest[1])) == 0) return true;
  }
  return false;
}

}  // namespace

bool is_cooperative(std::string_view ptx, std::string_view entry) {
  // A part begins at each function; those of other entries do not count.
  constexpr std::string_view kEntry = ".entry";
  constexpr std::string_view kFunction = ".func";
  std::string_view part = ptx;
  bool counts = true;
  while (!part.empty()) {
    const std::size_t end = std::min(part.find(kEntry), part.find(kFunction));
    if (counts && reads_workspace(part.substr(0, end))) return true;
    if (end == std::string_view::npos) return false;
    const bool is_entry = part.substr(end).starts_with(kEntry);
    part.remove_prefix(end + (is_entry ? kEntry.size() : kFunction.size()));
    const std::size_t start = std::min(part.find_first_not_of(" \t\r\n"), part.size());
    const std::string_view name =
        part.substr(start, part.find_first_of(" \t\r\n({", start) - start);
    counts = !is_entry || name == entry;
  }
  return false;
}

}  // namespace evo
