// CaseSet::expect_rows(), which computes the expected outputs of chosen rows with a part of the
// reference's grid.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <set>

#include "engine/core/error.hpp"
#include "engine/gate/correctness/cases.hpp"

namespace evo {

const CheckCase& CaseSet::expect_rows(const Shape& shape, std::size_t index,
                                      const std::vector<std::size_t>& rows) {
  CheckCase& data = made(shape, index);
  if (data.complete) {
    know_all(data);
    return data;
  }
  Values values = merged({&reference_->macros, &data.values});
  const KernelSpec& reference = *problem_.reference.kernel;
  const auto all_ctas = static_cast<double>(reference_->launch_for(data).ctas());
  std::set<std::uint64_t> ctas;
  for (const std::size_t row : rows) {
    if (knows_row(data, row)) continue;
    values["ROW"] = static_cast<double>(row);
    const double cta = reference.cta_of_row->evaluate(values);
    if (!(cta >= 0 && cta < all_ctas && cta == std::floor(cta))) {
      fail(data, "reference.cta_of_row: '" + reference.cta_of_row->text() + "'",
           "is " + std::to_string(cta) + " for row " + std::to_string(row) +
               "; allowed: the index of a CTA, below " + std::to_string(all_ctas));
    }
    ctas.insert(static_cast<std::uint64_t>(cta));
  }
  if (ctas.empty()) return data;
  Interpreting& sampler = *device_.interpreting();
  poison_outputs(data, std::byte{0});
  sampler.set_cta_sample({ctas.begin(), ctas.end()});
  run_reference(data);
  sampler.set_cta_sample({});
  for (std::size_t i = 0; i < data.arguments.size(); ++i) {
    if (problem_.arguments[i].is_expected()) take_written(data, i);
  }
  for (const std::size_t row : rows) {
    if (knows_row(data, row)) continue;
    fail(data, "reference.cta_of_row: '" + reference.cta_of_row->text() + "'",
         "names a CTA that does not write row " + std::to_string(row));
  }
  return data;
}

bool CaseSet::knows_row(const CheckCase& data, std::size_t row) const {
  for (std::size_t i = 0; i < data.known.size(); ++i) {
    const std::size_t length = problem_.arguments[i].row_length(data.values);
    for (std::size_t element = row * length; element < (row + 1) * length; ++element) {
      if (element >= data.known[i].size() || !data.known[i][element]) return false;
    }
  }
  return !data.known.empty();
}

void CaseSet::know_all(CheckCase& data) {
  if (data.knows_all) return;
  data.knows_all = true;
  data.known.resize(data.arguments.size());
  data.partly_expected.resize(data.arguments.size());
  for (std::size_t i = 0; i < data.expected.size(); ++i) {
    if (!data.expected[i]) continue;
    data.partly_expected[i] = work_.kept().content(*data.expected[i]);
    data.known[i].assign(data.partly_expected[i].size() / size_of(problem_.arguments[i].dtype),
                         true);
  }
}

/// Records the elements of one output that the reference has written since the output was poisoned.
void CaseSet::take_written(CheckCase& data, std::size_t position) {
  const Argument& argument = problem_.arguments[position];
  const std::vector<std::byte> output = output_of(data, position);
  const std::vector<bool> written =
      device_.interpreting()->written(std::get<BufferId>(data.arguments[position]));
  const std::size_t size = size_of(argument.dtype);
  data.known.resize(data.arguments.size());
  data.partly_expected.resize(data.arguments.size());
  data.known[position].resize(output.size() / size);
  data.partly_expected[position].resize(output.size());
  std::vector<std::byte> fresh;
  for (std::size_t i = 0; i < data.known[position].size(); ++i) {
    if (!written[i * size]) continue;
    data.known[position][i] = true;
    const auto from = output.begin() + static_cast<std::ptrdiff_t>(i * size);
    std::copy_n(from, size,
                data.partly_expected[position].begin() + static_cast<std::ptrdiff_t>(i * size));
    fresh.insert(fresh.end(), from, from + static_cast<std::ptrdiff_t>(size));
  }
  audit_.take(*data.shape, data.seed, position, fresh, {});
}

}  // namespace evo
