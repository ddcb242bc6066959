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

/// Detects tolerances that are too loose, because they accept a kernel that ignores its inputs,
/// copies an input, does nothing, or is off by one. On a shape, a tolerance fails if for some
/// output it accepts the results for other inputs, the mean in place of every element, a near miss
/// (near_miss.hpp), or the content that an argument of the same type and size had before the
/// launch. Arguments marked "degenerate" are skipped, because the problem's author allows any
/// tolerance for them.
class ToleranceAudit {
 public:
  /// All objects passed by reference must outlive this object.
  ToleranceAudit(BufferWork& work, const Problem& problem, CaseSet& cases)
      : work_(work), problem_(problem), cases_(cases) {}

  /// Describes a wrong output that a kernel's tolerance accepts on `shape`; nullopt if the
  /// tolerance is strict enough. The audit uses the expected outputs of the first `seeds` seeds.
  /// The device's queue must be empty. The result is kept, so that each tolerance is audited once
  /// per shape. Throws ProblemError if the tolerance is too loose and does not depend on the
  /// configuration.
  [[nodiscard]] std::optional<std::string> blind_spot(const LoadedKernel& kernel,
                                                      const Shape& shape, std::size_t seeds);
  /// Like blind_spot(), but uses only the rows `rows` of the first seed's expected outputs, which
  /// CaseSet::expect_rows() must have computed.
  [[nodiscard]] std::optional<std::string> blind_spot_in(std::span<const std::size_t> rows,
                                                         const LoadedKernel& kernel,
                                                         const Shape& shape);

 private:
  using Bounds = std::array<double, 5>;

  /// The part of the expected outputs that is inspected.
  struct Subject {
    const Shape& shape;
    std::size_t seeds;
    /// rows of one seed; if empty, the start of the expected output
    std::span<const std::size_t> rows;
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
