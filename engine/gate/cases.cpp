#include "engine/gate/cases.hpp"

#include <algorithm>
#include <cmath>
#include <set>

#include "engine/core/error.hpp"
#include "engine/core/random.hpp"
#include "engine/gate/damage.hpp"
#include "engine/gate/poison.hpp"

namespace evo {
namespace {

/// FNV-1a: gives every name its own stream of random numbers.
std::uint64_t name_hash(const std::string& name) {
  std::uint64_t hash = 0xcbf29ce484222325ULL;
  for (const char c : name) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3ULL;
  return hash;
}

bool is_input(Direction direction) {
  return direction == Direction::kIn || direction == Direction::kInOut;
}

bool is_output(Direction direction) {
  return direction == Direction::kOut || direction == Direction::kInOut;
}

ScalarArgument scalar_of(Dtype dtype, double value) {
  ScalarArgument scalar;
  scalar.size = static_cast<std::uint8_t>(size_of(dtype));
  encode(dtype, value, scalar.bytes.data());
  return scalar;
}

}  // namespace

Expectation CheckCase::expectation_of(std::size_t position, Dtype dtype,
                                      std::span<const std::size_t> elements) const {
  const std::size_t size = size_of(dtype);
  std::vector<std::byte> bytes;
  bytes.reserve(elements.size() * size);
  for (const std::size_t element : elements) {
    const std::byte* from = partly_expected[position].data() + element * size;
    bytes.insert(bytes.end(), from, from + size);
  }
  return {dtype, std::move(bytes)};
}

CheckCase& CaseSet::made(const Shape& shape, std::size_t index) {
  auto& slot = cases_[{shape.name, index}];
  if (!slot) slot = build(shape, index);
  return *slot;
}

const CheckCase& CaseSet::inputs(const Shape& shape, std::size_t index) {
  return made(shape, index);
}

const CheckCase& CaseSet::get(const Shape& shape, std::size_t index) {
  CheckCase& data = made(shape, index);
  if (!data.complete) compute_expected(data);
  return data;
}

const CheckCase& CaseSet::expect_rows(const Shape& shape, std::size_t index,
                                      const std::vector<std::size_t>& rows) {
  CheckCase& data = made(shape, index);
  Values values = data.values;
  const LaunchConfig config = problem_.reference.launch.evaluate(data.values);
  const auto all_ctas =
      static_cast<double>(std::uint64_t{config.grid[0]} * config.grid[1] * config.grid[2]);
  std::set<std::uint64_t> ctas;
  for (const std::size_t row : rows) {
    if (knows_row(data, row)) continue;
    values["ROW"] = static_cast<double>(row);
    const double cta = problem_.reference.cta_of_row->evaluate(values);
    if (!(cta >= 0 && cta < all_ctas && cta == std::floor(cta))) {
      fail(data, "reference.cta_of_row: '" + problem_.reference.cta_of_row->text() + "'",
           "is " + std::to_string(cta) + " for row " + std::to_string(row) +
               "; allowed is the number of a CTA below " + std::to_string(all_ctas));
    }
    ctas.insert(static_cast<std::uint64_t>(cta));
  }
  if (ctas.empty()) return data;
  GridSampler& sampler = *device_.sampler();
  poison_outputs(data, std::byte{0});
  sampler.set_cta_sample({ctas.begin(), ctas.end()});
  run_reference(data);
  sampler.set_cta_sample({});
  for (std::size_t i = 0; i < data.arguments.size(); ++i) {
    if (is_output(problem_.arguments[i].direction)) take_written(data, i);
  }
  for (const std::size_t row : rows) {
    if (knows_row(data, row)) continue;
    fail(data, "reference.cta_of_row: '" + problem_.reference.cta_of_row->text() + "'",
         "that CTA does not write row " + std::to_string(row));
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

/// What the reference wrote of one output since it was poisoned becomes known.
void CaseSet::take_written(CheckCase& data, std::size_t position) {
  const Argument& argument = problem_.arguments[position];
  const std::vector<std::byte> output = output_of(data, position);
  const std::vector<bool> written =
      device_.sampler()->written(std::get<BufferId>(data.arguments[position]));
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

void CaseSet::restore_inputs(const CheckCase& data) {
  for (std::size_t i = 0; i < data.inputs.size(); ++i) {
    if (data.inputs[i]) work_.put_back(std::get<BufferId>(data.arguments[i]), *data.inputs[i]);
  }
}

KeptId CaseSet::keep(const Argument& argument, std::span<const std::byte> content) {
  const KeptId kept = work_.reserve(argument.name, content.size());
  work_.keep(kept, content);
  work_.seal(kept);
  return kept;
}

Values CaseSet::values_of(const Shape& shape) const {
  const Values macros = problem_.macros_for(shape);
  const Values device_values = {{"SM_COUNT", device_.info().sm_count}};
  return merged({&shape.variables, &macros, &device_values});
}

std::unique_ptr<CheckCase> CaseSet::build(const Shape& shape, std::size_t index) {
  auto data = std::make_unique<CheckCase>();
  data->shape = &shape;
  data->index = index;
  data->seed = mix_seed(check_seed_, mix_seed(name_hash(shape.name), index));
  data->values = values_of(shape);
  for (std::size_t i = 0; i < problem_.arguments.size(); ++i) add_argument(*data, i);
  return data;
}

void CaseSet::add_argument(CheckCase& data, std::size_t position) {
  const Argument& argument = problem_.arguments[position];
  data.inputs.emplace_back();
  if (argument.direction == Direction::kScalar) {
    data.arguments.emplace_back(scalar_of(argument.dtype, argument.scalar(data.values)));
    return;
  }
  if (argument.direction == Direction::kWorkspace) {
    data.arguments.emplace_back(BufferId{0});
    return;
  }
  const std::size_t bytes = argument.bytes(data.values);
  const BufferId buffer =
      device_.allocate({argument.name, bytes, argument.direction != Direction::kIn});
  data.arguments.emplace_back(buffer);
  if (is_input(argument.direction)) {
    data.inputs.back() =
        keep(argument, generate(argument.generator, argument.dtype, bytes / size_of(argument.dtype),
                                mix_seed(data.seed, name_hash(argument.name))));
    work_.put_back(buffer, *data.inputs.back());
  }
}

void CaseSet::fail(const CheckCase& data, const std::string& key, const std::string& what) const {
  throw ProblemError((problem_.folder / "problem.json").string() + ": " + key + ": on shape '" +
                     data.shape->name + "' " + what);
}

void CaseSet::run_reference(const CheckCase& data) {
  // The reference needs no workspace; a small one keeps the argument list the same.
  constexpr std::size_t kUnusedBytes = 256;
  const BufferId unused = device_.allocate({"workspace of the reference", kUnusedBytes, true});
  std::vector<KernelArgument> arguments = data.arguments;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    if (problem_.arguments[i].direction == Direction::kWorkspace) arguments[i] = unused;
  }
  const LaunchConfig config = problem_.reference.launch.evaluate(data.values);
  if (const auto fault = device_.launch(reference_, config, arguments)) {
    fail(data, "reference", "the kernel fails: " + fault->reason + "\n" + fault->detail);
  }
  if (const auto damage = find_damage(work_, problem_, arguments, data)) {
    fail(data, "reference", "the kernel " + *damage);
  }
  device_.release(unused);
}

/// `flip`: another poison, in every bit that is 1.
void CaseSet::poison_outputs(const CheckCase& data, std::byte flip) {
  for (std::size_t i = 0; i < data.arguments.size(); ++i) {
    const Argument& argument = problem_.arguments[i];
    if (argument.direction != Direction::kOut) continue;
    std::vector<std::byte> pattern = poison_pattern(Poison::kRandom, argument.dtype, data.seed);
    for (std::byte& byte : pattern) byte ^= flip;
    device_.poison(std::get<BufferId>(data.arguments[i]), pattern);
  }
}

std::vector<std::byte> CaseSet::output_of(const CheckCase& data, std::size_t position) {
  std::vector<std::byte> output(problem_.arguments[position].bytes(data.values));
  device_.download(std::get<BufferId>(data.arguments[position]), output);
  return output;
}

/// Elements that hold one poison after one run and its complement after another were not written,
/// on devices that cannot tell.
void CaseSet::require_written(const CheckCase& data,
                              const std::vector<std::vector<std::byte>>& outputs) {
  constexpr std::byte kFlip{0xff};
  if (!device_.tracks_writes()) {
    restore_inputs(data);
    poison_outputs(data, kFlip);
    run_reference(data);
  }
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    const Argument& argument = problem_.arguments[i];
    if (argument.direction != Direction::kOut) continue;
    const std::size_t size = size_of(argument.dtype);
    std::optional<std::size_t> unwritten =
        device_.first_unwritten(std::get<BufferId>(data.arguments[i]));
    if (!device_.tracks_writes()) {
      const std::vector<std::byte> pattern =
          poison_pattern(Poison::kRandom, argument.dtype, data.seed);
      const std::vector<std::byte> again = output_of(data, i);
      for (std::size_t at = 0; at < again.size() && !unwritten; at += size) {
        bool kept = true;
        for (std::size_t byte = 0; byte < size; ++byte) {
          kept = kept && outputs[i][at + byte] == pattern[byte] &&
                 again[at + byte] == (pattern[byte] ^ kFlip);
        }
        if (kept) unwritten = at;
      }
    }
    if (!unwritten) continue;
    fail(data, "reference",
         "it does not write " + argument.name + "[" + std::to_string(*unwritten / size) +
             "]; allowed is a reference that writes every element of every output");
  }
}

void CaseSet::compute_expected(CheckCase& data) {
  poison_outputs(data, std::byte{0});
  run_reference(data);
  std::vector<std::vector<std::byte>> outputs(data.arguments.size());
  std::size_t elements = 0;
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    if (is_output(problem_.arguments[i].direction)) outputs[i] = output_of(data, i);
    elements += outputs[i].size();
  }
  if (elements == 0) fail(data, "arguments", "no output has an element");
  require_written(data, outputs);
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    const Argument& argument = problem_.arguments[i];
    data.expected.emplace_back();
    data.first_run.emplace_back();
    if (!is_output(argument.direction)) continue;
    const bool has_input = argument.direction == Direction::kInOut;
    audit_.take(*data.shape, data.seed, i, outputs[i],
                has_input ? work_.content(*data.inputs[i]) : std::vector<std::byte>());
    data.expected.back() = keep(argument, outputs[i]);
    if (data.index == 0) data.first_run.back() = work_.reserve(argument.name, outputs[i].size());
  }
  data.complete = true;
  restore_inputs(data);
}

}  // namespace evo
