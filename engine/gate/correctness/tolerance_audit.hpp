#pragma once

#include <array>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "engine/gate/correctness/cases.hpp"
#include "engine/gate/correctness/near_miss.hpp"

namespace evo {

/// Looks for tolerances under which a kernel that ignores its inputs, copies one or does nothing is
/// right, or one that is off by one: on a shape, an output of which the results for other inputs,
/// the mean in place of every element, a near miss, or what an argument of its type and size held
/// before the launch are within them.
/// Arguments that say "degenerate" are meant so and not looked at.
class ToleranceAudit {
 public:
  /// All must outlive this.
  ToleranceAudit(BufferWork& work, const Problem& problem, CaseSet& cases)
      : work_(work), problem_(problem), cases_(cases) {}

  /// What a kernel's tolerance takes for right on `shape`, by what is expected of `seeds` seeds;
  /// nothing when it can tell. Nothing may be queued. Each tolerance is looked at once. Throws
  /// ProblemError where the tolerance is the same for all configurations.
  [[nodiscard]] std::optional<std::string> blind_spot(const LoadedKernel& kernel,
                                                      const Shape& shape, std::size_t seeds);
  /// The same by what is expected of the first seed in these rows, which CaseSet::expect_rows
  /// computed.
  [[nodiscard]] std::optional<std::string> blind_spot_in(std::span<const std::size_t> rows,
                                                         const LoadedKernel& kernel,
                                                         const Shape& shape);

 private:
  using Bounds = std::array<double, 5>;

  /// What is looked at.
  struct Subject {
    const Shape& shape;
    std::size_t seeds;
    std::span<const std::size_t> rows;  ///< of one seed; empty: the start of what is expected
  };

  [[nodiscard]] std::optional<std::string> look_once(const LoadedKernel& kernel,
                                                     const Subject& subject);
  [[nodiscard]] std::optional<std::string> look(const Subject& subject, const Tolerance& tolerance);
  [[nodiscard]] std::optional<std::string> look_at(std::size_t position, const Subject& subject,
                                                   const Tolerance& tolerance);
  [[nodiscard]] std::optional<NearMiss> near_miss(std::size_t position, const Expectation& first,
                                                  const Subject& subject,
                                                  const Tolerance& tolerance);
  [[nodiscard]] bool takes_input(std::size_t position, std::size_t input, const Expectation& first,
                                 const Subject& subject, const Tolerance& tolerance);
  [[nodiscard]] const CheckCase& data_of(const Subject& subject, std::size_t index);
  [[nodiscard]] std::vector<std::byte> expected_of(const CheckCase& data, std::size_t position,
                                                   const Subject& subject) const;
  [[nodiscard]] std::vector<std::byte> part_of(KeptId kept, const CheckCase& data,
                                               std::size_t position, const Subject& subject) const;

  BufferWork& work_;
  const Problem& problem_;
  CaseSet& cases_;
  std::map<std::pair<std::string, Bounds>, std::optional<std::string>> known_;
};

}  // namespace evo
