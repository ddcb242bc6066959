#include "sdpa_fp8_check.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <set>

namespace {

using Bytes = std::vector<unsigned char>;

/// Decodes an element of e4m3: 4 bits of exponent with bias 7, 3 of mantissa. The inputs contain no
/// NaN.
double e4m3(unsigned bits) {
  const int exponent = static_cast<int>(bits >> 3 & 15);
  const int mantissa = static_cast<int>(bits & 7);
  const double magnitude =
      exponent == 0 ? std::ldexp(mantissa, -9) : std::ldexp(8 + mantissa, exponent - 10);
  return (bits & 0x80) != 0 ? -magnitude : magnitude;
}

/// Decodes an element of f16: 5 bits of exponent with bias 15, 10 of mantissa.
double half(const Bytes& bytes, std::size_t element) {
  constexpr int kTop = 31;
  std::uint16_t bits = 0;
  if (2 * element + sizeof bits > bytes.size()) return std::numeric_limits<double>::quiet_NaN();
  std::memcpy(&bits, &bytes[2 * element], sizeof bits);
  const int exponent = bits >> 10 & kTop;
  const int mantissa = bits & 1023;
  if (exponent == kTop) return std::numeric_limits<double>::quiet_NaN();  // infinity counts as NaN
  const double magnitude =
      exponent == 0 ? std::ldexp(mantissa, -24) : std::ldexp(1024 + mantissa, exponent - 25);
  return (bits & 0x8000) != 0 ? -magnitude : magnitude;
}

std::vector<double> bytes_of(const Bytes& bytes) {
  std::vector<double> values;
  for (const unsigned char byte : bytes) values.push_back(e4m3(byte));
  return values;
}

std::vector<double> floats_of(const Bytes& bytes) {
  std::vector<float> values(bytes.size() / sizeof(float));
  std::memcpy(values.data(), bytes.data(), values.size() * sizeof(float));
  return {values.begin(), values.end()};
}

/// Attention of one query row over the first `length` keys of its head. `depth`: elements of a row;
/// `score_scale`: factor of the scores, the dot products of the query and the keys.
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

/// Returns the numbers of the first row, the last row and up to four rows between them.
std::set<std::size_t> sampled_rows(std::size_t length) {
  std::set<std::size_t> rows = {0, length - 1};
  for (const double share : {0.13, 0.37, 0.61, 0.89}) {
    rows.insert(static_cast<std::size_t>(share * static_cast<double>(length)));
  }
  return rows;
}

}  // namespace

void draw_attention_input(const std::string& name, Bytes& bytes, std::mt19937& random) {
  if (name == "q" || name == "k" || name == "v") {
    // Draws e4m3 with all signs and mantissas, and magnitudes from 1/8 to 15/4.
    std::uniform_int_distribution<unsigned> exponent(4, 8);
    for (unsigned char& byte : bytes) {
      byte = static_cast<unsigned char>((random() & 0x87) | exponent(random) << 3);
    }
  } else if (name == "q_scale" || name == "k_scale" || name == "v_scale") {
    std::uniform_real_distribution<float> scale(0.5F, 0.9F);
    for (std::size_t i = 0; i + sizeof(float) <= bytes.size(); i += sizeof(float)) {
      const float value = scale(random);
      std::memcpy(&bytes[i], &value, sizeof value);
    }
  }
}

CheckReport check_sdpa_fp8(const std::map<std::string, double>& sizes,
                           const std::map<std::string, Bytes>& inputs, const Bytes& output) {
  const auto size = [&](const char* name) { return static_cast<std::size_t>(sizes.at(name)); };
  const std::size_t queries = size("LQ");
  const std::size_t keys = size("LKV");
  const std::size_t depth = size("D");
  const std::size_t heads = size("B") * size("H");
  const std::size_t heads_per_kv = size("H") / size("HKV");
  const bool causal = size("CAUSAL") != 0;
  const std::vector<double> q = bytes_of(inputs.at("q"));
  const std::vector<double> k = bytes_of(inputs.at("k"));
  const std::vector<double> v = bytes_of(inputs.at("v"));
  const std::vector<double> q_scale = floats_of(inputs.at("q_scale"));
  const std::vector<double> k_scale = floats_of(inputs.at("k_scale"));
  const std::vector<double> v_scale = floats_of(inputs.at("v_scale"));
  const double softmax_scale = 1 / std::sqrt(static_cast<double>(depth));
  // `scales` holds one factor for each head of each batch, or one factor for all of them.
  const auto scale_of = [](const std::vector<double>& scales, std::size_t head) {
    return scales.size() == 1 ? scales[0] : scales.at(head);
  };

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
        const double error = std::fabs(half(output, first + d) - wanted);
        // max() would ignore a NaN, because comparisons with NaN are false.
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
  return report;
}
