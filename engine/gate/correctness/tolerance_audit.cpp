#include "engine/gate/correctness/tolerance_audit.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "engine/core/error.hpp"
#include "engine/gate/correctness/compare.hpp"

namespace evo {
namespace {

/// Outputs with fewer elements than this are not compared with their mean, because a few elements
/// may all be close to their mean.
constexpr std::size_t kElementsWithAMean = 32;
/// At most this number of elements, or one row if rows are longer, is inspected from the start of
/// an output.
constexpr std::size_t kMostLookedAt = std::size_t{1} << 22;

std::vector<std::byte> bytes_of_doubles(const std::vector<double>& values) {
  std::vector<std::byte> bytes(values.size() * sizeof(double));
  std::memcpy(bytes.data(), values.data(), bytes.size());
  return bytes;
}

/// Whether output and reference are numerically equal; 0 equals −0.
bool is_the_same(const Comparison& comparison) {
  return comparison.max_abs_error == 0 && comparison.non_finite == 0;
}

/// Whether one of the first elements violates the absolute bound, so that a comparison of all
/// elements, which takes long, would only find that the tolerance rejects `output`.
bool is_plainly_wrong(std::span<const std::byte> output, const Expectation& expected,
                      const Tolerance& tolerance) {
  constexpr std::size_t kFirst = 4096;
  const Dtype dtype = expected.dtype();
  if (!is_floating(dtype)) return false;
  const std::size_t count = std::min({kFirst, expected.size(), output.size() / size_of(dtype)});
  const std::vector<double> values = decode_all(dtype, output.first(count * size_of(dtype)));
  for (std::size_t i = 0; i < count; ++i) {
    if (std::fabs(values[i] - expected.values()[i]) > tolerance.max_abs_error) return true;
  }
  return false;
}

/// Whether the tolerance accepts an output in which all finite elements are the mean of the
/// expected elements.
bool takes_the_mean(const Expectation& expected, const Tolerance& tolerance,
                    std::size_t row_length) {
  if (expected.size() < kElementsWithAMean) return false;
  double sum = 0;
  std::size_t count = 0;
  for (const double value : expected.values()) {
    if (!std::isfinite(value)) continue;
    sum += value;
    ++count;
  }
  double mean = sum / static_cast<double>(std::max<std::size_t>(count, 1));
  if (!is_floating(expected.dtype())) mean = std::round(mean);
  const auto is_far = [&](double value) {
    return std::isfinite(value) && std::fabs(value - mean) > tolerance.max_abs_error;
  };
  if (std::ranges::any_of(expected.values(), is_far)) return false;
  std::vector<double> output = expected.values();
  for (double& value : output) value = std::isfinite(value) ? mean : value;
  const Expectation wide(Dtype::kF64, bytes_of_doubles(expected.values()));
  return !violation(compare(bytes_of_doubles(output), wide, tolerance.bad_abs_error, row_length),
                    tolerance, "");
}

/// The indices of all elements in the rows `rows`.
std::vector<std::size_t> elements_of(std::span<const std::size_t> rows, std::size_t row_length) {
  std::vector<std::size_t> elements;
  for (const std::size_t row : rows) {
    for (std::size_t at = row * row_length; at < (row + 1) * row_length; ++at)
      elements.push_back(at);
  }
  return elements;
}

}  // namespace

std::optional<std::string> ToleranceAudit::blind_spot(const LoadedKernel& kernel,
                                                      const Shape& shape, std::size_t seeds) {
  return look_once(kernel, {shape, seeds, {}});
}

std::optional<std::string> ToleranceAudit::blind_spot_in(std::span<const std::size_t> rows,
                                                         const LoadedKernel& kernel,
                                                         const Shape& shape) {
  return look_once(kernel, {shape, 1, rows});
}

std::optional<std::string> ToleranceAudit::look_once(const LoadedKernel& kernel,
                                                     const Subject& subject) {
  const Values values = cases_.values_of(subject.shape);
  const Tolerance tolerance = kernel.spec->tolerance.evaluate(merged({&kernel.macros, &values}));
  const Bounds bounds = {tolerance.max_abs_error, tolerance.bad_abs_error, tolerance.bad_share,
                         tolerance.relative_l2, tolerance.max_row_error};
  const auto [place, is_new] = known_.try_emplace({subject.shape.name, bounds});
  if (is_new) place->second = look(subject, tolerance);
  if (place->second && kernel.spec->tolerance.depend_only_on(values)) {
    throw ProblemError((problem_.folder / "problem.json").string() + ": " + *place->second);
  }
  return place->second;
}

std::optional<std::string> ToleranceAudit::look(const Subject& subject,
                                                const Tolerance& tolerance) {
  for (std::size_t i = 0; i < problem_.arguments.size(); ++i) {
    if (auto found = look_at(i, subject, tolerance)) return found;
  }
  return std::nullopt;
}

std::optional<std::string> ToleranceAudit::look_at(std::size_t position, const Subject& subject,
                                                   const Tolerance& tolerance) {
  const Argument& argument = problem_.arguments[position];
  const CheckCase& first = data_of(subject, 0);
  const Expectation right(argument.dtype, expected_of(first, position, subject));
  if (argument.degenerate || right.size() == 0) return std::nullopt;
  const std::string name = "'" + argument.name + "'";
  const auto blind = [&](const std::string& what, const std::string& who) {
    return "tolerance: on shape '" + subject.shape.name + "' it accepts " + what +
           " as right, so a kernel that " + who +
           " would pass; tighten the tolerance or, if this is intended, set \"degenerate\": true "
           "for the argument";
  };
  const std::size_t row_length = argument.row_length(first.values);
  if (takes_the_mean(right, tolerance, row_length)) {
    return blind("the mean in place of every element of " + name, "ignores its inputs");
  }
  if (const auto miss = near_miss(position, right, subject, tolerance)) {
    return blind(std::string(what_it_is(*miss)) + " of " + name, std::string(who_gives_it(*miss)));
  }
  for (std::size_t input = 0; input < problem_.arguments.size(); ++input) {
    if (!takes_input(position, input, right, subject, tolerance)) continue;
    if (input == position) {
      return blind("the content of " + name + " before the launch", "does nothing");
    }
    return blind("the content of '" + problem_.arguments[input].name + "' in place of " + name,
                 "copies it");
  }
  // The tolerance is too loose only if it accepts the results of every other seed in place of the
  // first seed's, because the results of two seeds may be similar by coincidence.
  bool found = false;
  for (std::size_t index = 1; index < subject.seeds; ++index) {
    const auto other = expected_of(data_of(subject, index), position, subject);
    if (is_plainly_wrong(other, right, tolerance)) return std::nullopt;
    const Comparison comparison = compare(other, right, tolerance.bad_abs_error, row_length);
    if (is_the_same(comparison)) continue;
    found = true;
    if (violation(comparison, tolerance, argument.name)) return std::nullopt;
  }
  if (!found) return std::nullopt;
  return blind("the result of " + name + " for other inputs", "ignores its inputs");
}

/// A near miss (a wrong output that a typical indexing error causes) that the tolerance accepts for
/// every seed; nullopt if there is none. `first`: the expected output of the first seed.
std::optional<NearMiss> ToleranceAudit::near_miss(std::size_t position, const Expectation& first,
                                                  const Subject& subject,
                                                  const Tolerance& tolerance) {
  const Argument& argument = problem_.arguments[position];
  const std::size_t row_length = argument.row_length(cases_.values_of(subject.shape));
  std::vector<NearMiss> misses = accepted_near_misses(first, tolerance, row_length);
  for (std::size_t index = 1; index < subject.seeds && !misses.empty(); ++index) {
    const Expectation other(argument.dtype,
                            expected_of(data_of(subject, index), position, subject));
    const auto also = accepted_near_misses(other, tolerance, row_length);
    std::erase_if(misses,
                  [&](NearMiss miss) { return std::ranges::find(also, miss) == also.end(); });
  }
  return misses.empty() ? std::nullopt : std::optional(misses.front());
}

/// Whether the tolerance accepts the content of argument `input` before the launch as the output
/// for every seed. Contents that equal the expected output do not count, because the kernel's task
/// may be to copy them. `first`: the expected output of the first seed.
bool ToleranceAudit::takes_input(std::size_t position, std::size_t input, const Expectation& first,
                                 const Subject& subject, const Tolerance& tolerance) {
  const Argument& argument = problem_.arguments[position];
  if (problem_.arguments[input].dtype != argument.dtype) return false;
  bool found = false;
  for (std::size_t index = 0; index < subject.seeds; ++index) {
    const CheckCase& data = data_of(subject, index);
    if (!data.inputs[input]) return false;
    std::optional<Expectation> of_seed;
    if (index > 0) of_seed.emplace(argument.dtype, expected_of(data, position, subject));
    const Expectation& right = of_seed ? *of_seed : first;
    const auto held = part_of(data.inputs[input].value(), data, position, subject);
    if (held.size() != right.bytes().size()) return false;
    // With one seed only, the elements of a short output may equal the input by coincidence.
    if (subject.seeds == 1 && right.size() < kElementsWithAMean) return false;
    if (is_plainly_wrong(held, right, tolerance)) return false;
    const std::size_t row_length = argument.row_length(data.values);
    const Comparison comparison = compare(held, right, tolerance.bad_abs_error, row_length);
    if (is_the_same(comparison)) continue;
    found = true;
    if (violation(comparison, tolerance, argument.name)) return false;
  }
  return found;
}

const CheckCase& ToleranceAudit::data_of(const Subject& subject, std::size_t index) {
  return subject.rows.empty() ? cases_.get(subject.shape, index)
                              : cases_.inputs(subject.shape, index);
}

/// The inspected part of an output's expected content; empty if there is none.
std::vector<std::byte> ToleranceAudit::expected_of(const CheckCase& data, std::size_t position,
                                                   const Subject& subject) const {
  const Argument& argument = problem_.arguments[position];
  if (subject.rows.empty()) {
    if (!data.expected[position]) return {};
    return part_of(*data.expected[position], data, position, subject);
  }
  if (!argument.is_output()) return {};
  const auto elements = elements_of(subject.rows, argument.row_length(data.values));
  const Expectation expected = data.expectation_of(position, argument.dtype, elements);
  return {expected.bytes().begin(), expected.bytes().end()};
}

/// The inspected part of the stored content `kept`: the rows of `subject`, or, if `subject` has no
/// rows, whole rows from the start. The part is empty if the content lacks one of the rows.
std::vector<std::byte> ToleranceAudit::part_of(KeptId kept, const CheckCase& data,
                                               std::size_t position, const Subject& subject) const {
  const std::size_t row_length = problem_.arguments[position].row_length(data.values);
  const std::size_t size = size_of(problem_.arguments[position].dtype);
  if (subject.rows.empty()) {
    std::size_t most = kMostLookedAt;
    if (row_length > 0) most = std::max(kMostLookedAt / row_length, std::size_t{1}) * row_length;
    return work_.kept().first_bytes(kept, most * size);
  }
  const std::vector<std::byte> bytes = work_.kept().content(kept);
  std::vector<std::byte> part;
  for (const std::size_t row : subject.rows) {
    if ((row + 1) * row_length * size > bytes.size()) return {};
    const auto from = bytes.begin() + static_cast<std::ptrdiff_t>(row * row_length * size);
    part.insert(part.end(), from, from + static_cast<std::ptrdiff_t>(row_length * size));
  }
  return part;
}

}  // namespace evo
