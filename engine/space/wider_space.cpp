#include "engine/space/wider_space.hpp"

#include <algorithm>
#include <limits>
#include <set>
#include <vector>

#include "engine/core/error.hpp"

namespace evo {
namespace {

std::vector<int> limits_of(const ResourcePolicy& policy) {
  constexpr int kNone = std::numeric_limits<int>::max();
  return {policy.registers_per_thread.value_or(kNone), policy.shared_bytes_per_cta.value_or(kNone),
          policy.spill_bytes.value_or(kNone)};
}

bool is_wider(const ResourcePolicy& policy, const ResourcePolicy& than) {
  const std::vector<int> wide = limits_of(policy);
  const std::vector<int> narrow = limits_of(than);
  return wide != narrow &&
         std::equal(wide.begin(), wide.end(), narrow.begin(), [](int a, int b) { return a >= b; });
}

std::optional<SpaceDefinition> read_if_space(const std::filesystem::path& file) {
  try {
    return read_space_file(file);
  } catch (const InputError&) {
    return std::nullopt;
  }
}

}  // namespace

std::optional<std::filesystem::path> find_wider_space(const SpaceDefinition& space) {
  std::filesystem::path folder = std::filesystem::path(space.file).parent_path();
  if (folder.empty()) folder = ".";
  std::error_code error;
  std::set<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(folder, error)) {
    if (entry.path().extension() == ".json") files.insert(entry.path());
  }
  std::optional<std::filesystem::path> best;
  ResourcePolicy policy = space.resources;
  for (const std::filesystem::path& file : files) {
    const auto other = read_if_space(file);
    if (!other || other->problem != space.problem || other->arch != space.arch ||
        other->template_name != space.template_name || !is_wider(other->resources, policy)) {
      continue;
    }
    best = file;
    policy = other->resources;
  }
  return best;
}

}  // namespace evo
