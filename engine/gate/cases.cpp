#include "engine/gate/cases.hpp"

#include <set>

#include "engine/core/error.hpp"
#include "engine/core/random.hpp"

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
  if (data.complete) return data;
  Values values = data.values;
  std::set<std::uint64_t> ctas;
  for (const std::size_t row : rows) {
    if (knows_row(data, row)) continue;
    values["ROW"] = static_cast<double>(row);
    ctas.insert(static_cast<std::uint64_t>(problem_.reference.cta_of_row->evaluate(values)));
  }
  if (ctas.empty()) return data;
  GridSampler& sampler = *device_.sampler();
  for (std::size_t i = 0; i < data.arguments.size(); ++i) {
    if (!is_output(problem_.arguments[i].direction)) continue;
    sampler.poison(std::get<BufferId>(data.arguments[i]), std::byte{0xff});
  }
  sampler.set_cta_sample({ctas.begin(), ctas.end()});
  run_reference(data);
  sampler.set_cta_sample({});
  for (std::size_t i = 0; i < data.arguments.size(); ++i) {
    if (is_output(problem_.arguments[i].direction)) take_written(data, i);
  }
  for (const std::size_t row : rows) {
    if (knows_row(data, row)) continue;
    throw ProblemError((problem_.folder / "problem.json").string() + ": reference.cta_of_row: '" +
                       problem_.reference.cta_of_row->text() + "': that CTA does not write row " +
                       std::to_string(row) + " on shape '" + shape.name + "'");
  }
  return data;
}

bool CaseSet::knows_row(const CheckCase& data, std::size_t row) const {
  for (std::size_t i = 0; i < data.known.size(); ++i) {
    const std::size_t length = problem_.arguments[i].row_length(data.values);
    if (length == 0) continue;
    for (std::size_t element = row * length; element < (row + 1) * length; ++element) {
      if (element >= data.known[i].size() || !data.known[i][element]) return false;
    }
  }
  return !data.known.empty();
}

/// What the reference wrote of one output since it was poisoned becomes known.
void CaseSet::take_written(CheckCase& data, std::size_t position) {
  const Argument& argument = problem_.arguments[position];
  const BufferId buffer = std::get<BufferId>(data.arguments[position]);
  std::vector<std::byte> output(argument.bytes(data.values));
  device_.download(buffer, output);
  const std::vector<bool> written = device_.sampler()->written(buffer);
  const std::vector<double> values = decode_all(argument.dtype, output);
  data.known.resize(data.arguments.size());
  data.known[position].resize(values.size());
  data.expected[position].resize(values.size());
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (!written[i * size_of(argument.dtype)]) continue;
    data.known[position][i] = true;
    data.expected[position][i] = values[i];
  }
}

void CaseSet::restore_inputs(const CheckCase& data) {
  for (std::size_t i = 0; i < data.inputs.size(); ++i) {
    if (!data.inputs[i].empty()) {
      device_.upload(std::get<BufferId>(data.arguments[i]), data.inputs[i]);
    }
  }
}

std::unique_ptr<CheckCase> CaseSet::build(const Shape& shape, std::size_t index) {
  auto data = std::make_unique<CheckCase>();
  data->shape = &shape;
  data->seed = mix_seed(check_seed_, mix_seed(name_hash(shape.name), index));
  const Values macros = problem_.macros_for(shape);
  const Values device_values = {{"SM_COUNT", device_.info().sm_count}};
  data->values = merged({&shape.variables, &macros, &device_values});
  for (std::size_t i = 0; i < problem_.arguments.size(); ++i) add_argument(*data, i);
  return data;
}

void CaseSet::add_argument(CheckCase& data, std::size_t position) {
  const Argument& argument = problem_.arguments[position];
  data.inputs.emplace_back();
  data.expected.emplace_back();
  if (argument.direction == Direction::kScalar) {
    data.arguments.emplace_back(scalar_of(argument.dtype, argument.size.evaluate(data.values)));
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
        generate(argument.generator, argument.dtype, bytes / size_of(argument.dtype),
                 mix_seed(data.seed, name_hash(argument.name)));
    device_.upload(buffer, data.inputs.back());
  }
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
    throw CudaError("the reference kernel of problem '" + problem_.name + "' failed on shape '" +
                    data.shape->name + "': " + fault->reason + "\n" + fault->detail);
  }
  device_.release(unused);
}

void CaseSet::compute_expected(CheckCase& data) {
  for (std::size_t i = 0; i < data.arguments.size(); ++i) {
    if (problem_.arguments[i].direction != Direction::kOut) continue;
    device_.fill(std::get<BufferId>(data.arguments[i]), std::byte{0xff});
  }
  run_reference(data);
  for (std::size_t i = 0; i < data.arguments.size(); ++i) {
    const Argument& argument = problem_.arguments[i];
    if (!is_output(argument.direction)) continue;
    std::vector<std::byte> output(argument.bytes(data.values));
    device_.download(std::get<BufferId>(data.arguments[i]), output);
    data.expected[i] = decode_all(argument.dtype, output);
  }
  data.complete = true;
  restore_inputs(data);
}

}  // namespace evo
