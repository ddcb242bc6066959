#include "engine/gate/correctness/reference_audit.hpp"

#include <algorithm>
#include <cmath>

#include "engine/core/error.hpp"
#include "engine/core/hash.hpp"
#include "engine/gate/correctness/expectation.hpp"

namespace evo {
namespace {

/// An output with fewer elements than this is judged only together with the argument's outputs for
/// other cases, because its elements may be equal by coincidence.
constexpr std::size_t kEnoughElements = 32;

bool all_the_same(std::span<const std::byte> bytes, std::span<const std::byte> element) {
  for (std::size_t at = 0; at < bytes.size(); at += element.size()) {
    if (!std::ranges::equal(bytes.subspan(at, element.size()), element)) return false;
  }
  return true;
}

bool any_finite(Dtype dtype, std::span<const std::byte> bytes) {
  const std::size_t size = size_of(dtype);
  for (std::size_t at = 0; at < bytes.size(); at += size) {
    if (std::isfinite(decode(dtype, bytes.data() + at))) return true;
  }
  return false;
}

}  // namespace

ReferenceAudit::ReferenceAudit(const Problem& problem)
    : problem_(problem), outputs_(problem.arguments.size()) {
  has_random_input_ = std::ranges::any_of(problem.arguments, &Argument::is_drawn);
}

void ReferenceAudit::fail(std::size_t position, const std::string& what) const {
  throw ProblemError((problem_.folder / "problem.json").string() + ": arguments[" +
                     std::to_string(position) + "] ('" + problem_.arguments[position].name +
                     "'): " + what +
                     ", so a wrong kernel would pass, too; if this is intended, set "
                     "\"degenerate\": true");
}

void ReferenceAudit::take(const Shape& shape, std::uint64_t seed, std::size_t position,
                          std::span<const std::byte> expected, std::span<const std::byte> input) {
  const Argument& argument = problem_.arguments[position];
  if (argument.degenerate || expected.empty()) return;
  const std::size_t size = size_of(argument.dtype);
  const std::size_t count = expected.size() / size;
  const std::string on_shape = " on shape '" + shape.name + "'";
  Output& output = outputs_[position];
  if (output.first.empty())
    output.first.assign(expected.begin(), expected.begin() + static_cast<std::ptrdiff_t>(size));
  output.elements += count;
  output.varies = output.varies || !all_the_same(expected, output.first);
  const std::string content =
      content_key({reinterpret_cast<const char*>(expected.data()), expected.size()});
  const auto [known, is_first] = output.by_shape.try_emplace(shape.name, seed, content);
  if (!is_first && known->second.first != seed) {
    output.has_second_seed = true;
    output.depends_on_seed = output.depends_on_seed || known->second.second != content;
  }
  if (count < kEnoughElements) return;
  if (all_the_same(expected, expected.first(size))) {
    fail(position, "the reference gives " + element_text(argument.dtype, expected.data()) +
                       " for all " + std::to_string(count) + " elements" + on_shape);
  }
  if (!any_finite(argument.dtype, expected)) {
    fail(position, "the reference output has no finite number" + on_shape);
  }
  if (std::ranges::equal(expected, input)) {
    fail(position, "the reference leaves the argument unchanged" + on_shape);
  }
}

void ReferenceAudit::require_meaningful() const {
  for (std::size_t i = 0; i < outputs_.size(); ++i) {
    const Output& output = outputs_[i];
    if (output.elements > 1 && !output.varies) {
      fail(i, "the reference gives " +
                  element_text(problem_.arguments[i].dtype, output.first.data()) +
                  " for every element of every checked shape");
    }
    if (has_random_input_ && output.has_second_seed && !output.depends_on_seed) {
      fail(i, "the reference output is the same for all inputs");
    }
  }
}

}  // namespace evo
