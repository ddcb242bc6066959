#include "engine/gate/correctness/grid_cover.hpp"

#include <algorithm>
#include <optional>
#include <span>
#include <utility>

namespace evo {
namespace {

/// Converts the list of the CTAs that write each granule of memory to a list of the CTAs that write
/// each element. Nullopt if several CTAs write one element.
std::optional<std::vector<std::uint32_t>> by_element(const std::vector<std::uint32_t>& granules,
                                                     std::size_t granule, std::size_t elements,
                                                     std::size_t size) {
  std::vector<std::uint32_t> owners(elements);
  for (std::size_t element = 0; element < elements; ++element) {
    const std::size_t first = element * size / granule;
    const std::size_t last = ((element + 1) * size - 1) / granule;
    owners[element] = granules[first];
    const auto pieces = std::span(granules).subspan(first, last - first + 1);
    if (std::ranges::any_of(pieces, [&](std::uint32_t one) { return one != pieces.front(); }))
      return std::nullopt;
  }
  return owners;
}

}  // namespace

std::variant<GridCover, std::string> GridCover::prove(
    Device& device, const Problem& problem, const LoadedKernel& kernel, const CheckCase& data,
    const std::vector<KernelArgument>& arguments) {
  std::vector<BufferId> outputs;
  for (std::size_t i = 0; i < problem.arguments.size(); ++i) {
    if (problem.arguments[i].is_output()) outputs.push_back(std::get<BufferId>(arguments[i]));
  }
  auto found =
      device.interpreting()->write_map(kernel.id, kernel.launch_for(data), arguments, outputs);
  if (auto* why = std::get_if<std::string>(&found)) return std::move(*why);
  const auto& map = std::get<WriteMap>(found);
  GridCover cover;
  std::size_t output = 0;
  for (const Argument& argument : problem.arguments) {
    cover.owners_.emplace_back();
    if (!argument.is_output()) continue;
    const std::size_t size = size_of(argument.dtype);
    auto owners =
        by_element(map.owners[output++], map.granule, argument.bytes(data.values) / size, size);
    if (!owners) return "several CTAs write one element of '" + argument.name + "'";
    cover.owners_.back() = *std::move(owners);
  }
  return cover;
}

bool GridCover::is_whole() const {
  return std::ranges::all_of(owners_, [](const std::vector<std::uint32_t>& owners) {
    return std::ranges::find(owners, 0U) == owners.end();
  });
}

std::vector<bool> GridCover::written_by(const std::vector<std::uint64_t>& ctas,
                                        std::size_t position) const {
  const std::vector<std::uint32_t>& owners = owners_.at(position);
  std::vector<bool> is_sampled(ctas.back() + 2, false);  // index: linear CTA index plus 1
  for (const std::uint64_t cta : ctas) is_sampled[cta + 1] = true;
  std::vector<bool> written(owners.size());
  for (std::size_t i = 0; i < owners.size(); ++i)
    written[i] = owners[i] < is_sampled.size() && is_sampled[owners[i]];
  return written;
}

}  // namespace evo
