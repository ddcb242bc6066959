#include "engine/device/virtual/decode/modifiers.hpp"

#include <algorithm>

namespace evo::ptx {

bool Modifiers::take(std::string_view name) {
  for (std::size_t i = 0; i < in_.modifiers.size(); ++i) {
    if (!used_[i] && in_.modifiers[i] == name) {
      used_[i] = true;
      return true;
    }
  }
  return false;
}

int Modifiers::take_one_of(std::initializer_list<std::string_view> names) {
  int index = 0;
  for (const std::string_view name : names) {
    if (take(name)) return index;
    ++index;
  }
  return -1;
}

Type Modifiers::take_type() {
  for (std::size_t i = 0; i < in_.modifiers.size(); ++i) {
    if (used_[i]) continue;
    if (const auto type = type_from_name(in_.modifiers[i])) {
      used_[i] = true;
      return *type;
    }
  }
  return Type::kNone;
}

std::size_t Modifiers::skip_cache_hints() {
  take_one_of({"ca", "cg", "cs", "lu", "cv", "wb", "wt"});
  take_one_of({"L1::evict_normal", "L1::evict_unchanged", "L1::evict_first", "L1::evict_last",
               "L1::no_allocate"});
  take_one_of({"L2::evict_normal", "L2::evict_first", "L2::evict_last"});
  take_one_of({"L2::64B", "L2::128B", "L2::256B"});
  return in_.operands.size() - (take("L2::cache_hint") ? 1 : 0);
}

void Modifiers::finish() const {
  if (std::ranges::find(used_, false) != used_.end()) unsupported();
}

void Modifiers::unsupported(const std::string& why) const {
  throw PtxError("not supported: " + in_.spelling + (why.empty() ? "" : " (" + why + ")"),
                 in_.line);
}

}  // namespace evo::ptx
