#include "sdpa_fp8_check.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>
#include <stdexcept>

namespace {

const KernelArgument& argument(const std::vector<KernelArgument>& arguments,
                               const std::string& name) {
  for (const KernelArgument& candidate : arguments) {
    if (candidate.name == name) return candidate;
  }
  throw std::runtime_error("the manifest has no argument " + name);
}

std::vector<double> numbers(const std::vector<KernelArgument>& arguments, const std::string& name) {
  const KernelArgument& source = argument(arguments, name);
  const std::size_t size = element_size(source.dtype);
  std::vector<double> values(source.bytes.size() / size);
  for (std::size_t i = 0; i < values.size(); ++i) {
    values[i] = decode(source.dtype, &source.bytes[i * size]);
  }
  return values;
}

/// Attention of one query row over the first `length` keys of its head.
std::vector<double> attention_row(const double* query, const double* keys, const double* values,
                                  std::size_t length, std::size_t depth, double score_scale) {
  std::vector<double> weights(length);
  for (std::size_t key = 0; key < length; ++key) {
    double dot = 0;
    for (std::size_t d = 0; d < depth; ++d) dot += query[d] * keys[key * depth + d];
    weights[key] = dot * score_scale;
  }
  const double largest = *std::max_element(weights.begin(), weights.end());
  double sum = 0;
  for (double& weight : weights) sum += weight = std::exp(weight - largest);
  std::vector<double> row(depth);
  for (std::size_t key = 0; key < length; ++key) {
    for (std::size_t d = 0; d < depth; ++d) row[d] += weights[key] / sum * values[key * depth + d];
  }
  return row;
}

/// The first and the last row, and some between that fall on no power of two.
std::set<std::size_t> sampled_rows(std::size_t length) {
  std::set<std::size_t> rows = {0, length - 1};
  for (const double share : {0.13, 0.37, 0.61, 0.89}) {
    rows.insert(static_cast<std::size_t>(share * static_cast<double>(length)));
  }
  return rows;
}

}  // namespace

CheckReport check_sdpa_fp8(const Manifest& manifest, const std::vector<KernelArgument>& arguments,
                           const std::vector<std::byte>& output) {
  const std::size_t queries = manifest.variable("LQ");
  const std::size_t keys = manifest.variable("LKV");
  const std::size_t depth = manifest.variable("D");
  const std::size_t heads = manifest.variable("B") * manifest.variable("H");
  const std::size_t heads_per_kv = manifest.variable("H") / manifest.variable("HKV");
  const bool causal = manifest.variable("CAUSAL") != 0;
  const std::vector<double> q = numbers(arguments, "q");
  const std::vector<double> k = numbers(arguments, "k");
  const std::vector<double> v = numbers(arguments, "v");
  const std::vector<double> q_scale = numbers(arguments, "q_scale");
  const std::vector<double> k_scale = numbers(arguments, "k_scale");
  const std::vector<double> v_scale = numbers(arguments, "v_scale");
  const double softmax_scale = numbers(arguments, "softmax_scale").at(0);
  // Descales per head, or one for all.
  const auto scale_of = [](const std::vector<double>& scales, std::size_t head) {
    return scales.size() == 1 ? scales[0] : scales.at(head);
  };
  const std::string& dtype = argument(arguments, "o").dtype;
  const std::size_t size = element_size(dtype);

  CheckReport report;
  double error_squares = 0;
  double reference_squares = 0;
  for (std::size_t head = 0; head < heads; ++head) {
    const std::size_t kv_head = head / heads_per_kv;
    const std::size_t base = kv_head * keys * depth;
    const double score_scale = scale_of(q_scale, head) * scale_of(k_scale, kv_head) * softmax_scale;
    const double value_scale = scale_of(v_scale, kv_head);
    for (const std::size_t row : sampled_rows(queries)) {
      const std::size_t first = (head * queries + row) * depth;
      const std::size_t visible = causal ? std::min(keys, row + 1) : keys;
      const std::vector<double> reference =
          attention_row(&q[first], &k[base], &v[base], visible, depth, score_scale);
      ++report.rows;
      double row_error = 0;
      double row_squares = 0;
      for (std::size_t d = 0; d < depth; ++d) {
        const double wanted = reference[d] * value_scale;
        const double error = std::fabs(decode(dtype, &output.at((first + d) * size)) - wanted);
        // NaN compares as false with everything: it must not slip through max().
        report.max_abs_error = std::isfinite(error) ? std::max(report.max_abs_error, error)
                                                    : std::numeric_limits<double>::infinity();
        error_squares += error * error;
        row_error = std::max(row_error, error);
        row_squares += wanted * wanted;
      }
      reference_squares += row_squares;
      const double row_rms = std::sqrt(row_squares / static_cast<double>(depth));
      report.max_row_error = std::max(report.max_row_error, row_error / row_rms);
    }
  }
  report.relative_l2 = std::sqrt(error_squares / reference_squares);
  const auto& tolerance = manifest.json.at("tolerance");
  report.passed = report.max_abs_error <= tolerance.at("max_abs_error").get<double>() &&
                  report.relative_l2 <= tolerance.at("relative_l2").get<double>() &&
                  (!tolerance.contains("max_row_error") ||
                   report.max_row_error <= tolerance.at("max_row_error").get<double>());
  return report;
}
