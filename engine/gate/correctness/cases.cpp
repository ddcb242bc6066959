#include "engine/gate/correctness/cases.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>

#include "engine/core/error.hpp"
#include "engine/core/random.hpp"
#include "engine/gate/correctness/forbidden_writes.hpp"
#include "engine/gate/correctness/poison.hpp"
#include "engine/gate/correctness/workspace.hpp"
#include "engine/problem/inputs.hpp"
#include "engine/problem/npy.hpp"

namespace evo {
namespace {

/// XOR with this byte inverts a byte of the poison.
constexpr std::byte kFlip{0xff};

}  // namespace

std::optional<BufferId> buffer_of(const CheckCase& data,
                                  const std::vector<KernelArgument>& arguments,
                                  std::size_t position) {
  if (const auto* buffer = std::get_if<BufferId>(&arguments[position])) return *buffer;
  const auto view = data.views.find(position);
  return view == data.views.end() ? std::nullopt : std::optional(view->second);
}

LaunchPlan LoadedKernel::launch_for(const CheckCase& data) const {
  return spec->launch(merged({&macros, &data.values}));
}

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

bool CaseSet::has_long_reference(const Shape& shape) {
  (void)get(shape, 0);
  return reference_us_[shape.name] >= kLongReferenceUs;  // 0 without a measured launch
}

void CaseSet::restore_inputs(const CheckCase& data) {
  for (std::size_t i = 0; i < data.inputs.size(); ++i) {
    const auto buffer = buffer_of(data, data.arguments, i);
    if (data.inputs[i] && buffer) work_.kept().put_back(*buffer, *data.inputs[i]);
  }
}

void CaseSet::restore_inouts(const CheckCase& data) {
  for (std::size_t i = 0; i < data.inputs.size(); ++i) {
    if (problem_.arguments[i].direction != Direction::kInOut) continue;
    work_.kept().put_back(std::get<BufferId>(data.arguments[i]), *data.inputs[i]);
  }
}

KeptId CaseSet::keep(const Argument& argument, std::size_t bytes, const ContentParts& content) {
  const KeptId kept = work_.kept().reserve(argument.name, bytes);
  work_.kept().keep(kept, content);
  work_.kept().seal(kept);
  return kept;
}

Values CaseSet::values_of(const Shape& shape) const {
  return problem_.values_for(shape, device_.info().sm_count);
}

ProgramCase CaseSet::program_case(const CheckCase& data) const {
  const auto content = [this](const std::optional<KeptId>& kept) {
    return kept ? work_.kept().content(*kept) : std::vector<std::byte>();
  };
  return {data.shape, data.seed, &data.values,
          [&data, content](std::size_t i) { return content(data.inputs[i]); },
          [&data, content](std::size_t i) { return content(data.expected[i]); }};
}

std::uint64_t CaseSet::seed_of(const Shape& shape, std::size_t index) const {
  return mix_seed(options_.seed, mix_seed(name_seed(shape.name), index));
}

void CaseSet::require_room(const Shape& shape, std::size_t cases) const {
  std::size_t missing = 0;
  for (std::size_t index = 0; index < cases; ++index)
    missing += cases_.contains({shape.name, index}) ? 0 : 1;
  require_memory(shape, missing);
}

/// Throws ProblemError if the device knows that `new_cases` more cases of `shape` do not fit.
void CaseSet::require_memory(const Shape& shape, std::size_t new_cases) const {
  const auto memory = device_.memory().use();
  if (!memory) return;
  const Values values = values_of(shape);
  std::uint64_t bytes = 0;
  for (const Argument& argument : problem_.arguments) {
    const bool has_buffer = argument.direction != Direction::kScalar && !argument.tensor_map &&
                            !argument.belongs_to_kernel() && !argument.is_set_by_macros;
    if (has_buffer) bytes += argument.bytes(values);
  }
  if (bytes * new_cases <= memory->total_bytes - memory->used_bytes) return;
  throw ProblemError(fmt::format(
      "{}: shapes.{}: the buffers of {} more case(s) of inputs and outputs take {} bytes, but {} "
      "has {} bytes of memory, and {} are in use; use a smaller shape, or a GPU",
      (problem_.folder / "problem.json").string(), shape.name, new_cases, bytes * new_cases,
      device_.info().id, memory->total_bytes, memory->used_bytes));
}

std::unique_ptr<CheckCase> CaseSet::build(const Shape& shape, std::size_t index) {
  require_memory(shape, 1);
  auto data = std::make_unique<CheckCase>();
  data->shape = &shape;
  data->index = index;
  data->seed = seed_of(shape, index);
  data->values = values_of(shape);
  for (std::size_t i = 0; i < problem_.arguments.size(); ++i) add_argument(*data, i);
  return data;
}

/// Case 0 of the shape of `data`; null if case 0 is not made yet, or if `data` is case 0.
const CheckCase* CaseSet::first_case(const CheckCase& data) const {
  const auto found = cases_.find({data.shape->name, 0});
  return found == cases_.end() || data.index == 0 ? nullptr : found->second.get();
}

/// Whether case 0 is made and has the same inputs and expected outputs as `data`: no input depends
/// on the seed, and the reference is no program, because a program may use the seed.
bool CaseSet::repeats_the_first(const CheckCase& data) const {
  return first_case(data) != nullptr && problem_.reference.program.empty() &&
         std::ranges::none_of(problem_.arguments, &Argument::is_drawn);
}

void CaseSet::add_argument(CheckCase& data, std::size_t position) {
  const Argument& argument = problem_.arguments[position];
  data.inputs.emplace_back();
  if (argument.direction == Direction::kScalar && !argument.is_set_by_macros) {
    data.arguments.emplace_back(ScalarArgument{argument.scalar_bytes(data.values)});
    return;
  }
  if (argument.tensor_map) {
    data.arguments.emplace_back(TensorMapArgument{});  // each kernel has its own tensor maps
    return;
  }
  if (argument.belongs_to_kernel() || argument.is_set_by_macros) {
    data.arguments.emplace_back(BufferId{0});
    return;
  }
  const std::size_t bytes = argument.bytes(data.values);
  tell_("making '" + argument.name + "' of shape " + data.shape->name);
  const BufferId buffer =
      device_.memory().allocate({argument.name, bytes, argument.direction != Direction::kIn});
  data.arguments.emplace_back(buffer);
  if (argument.is_input()) {
    const bool shares =
        (argument.is_constant() || argument.texture) &&
        (data.index < options_.first_of_checks || data.index >= options_.end_of_checks);
    const std::size_t index = shares ? 0 : data.index;
    const CheckCase* first = first_case(data);
    data.inputs.back() = first != nullptr && !argument.is_drawn()
                             ? first->inputs[position]
                             : keep(argument, bytes, [&](const TakePart& take) {
                                 make_input(problem_, argument, *data.shape, data.values,
                                            {index, seed_of(*data.shape, index)}, take);
                               });
    work_.kept().put_back(buffer, *data.inputs.back());
  }
  if (argument.texture) add_texture(data, position, buffer);
}

/// The content of a CUDA array never changes, so the buffer that filled the array is freed.
void CaseSet::add_texture(CheckCase& data, std::size_t position, BufferId texels) {
  const TextureSpec spec = problem_.arguments[position].texture_spec(data.values);
  if (device_.textures() == nullptr)
    throw InputError("texture '" + spec.name + "': not supported on " + device_.info().name);
  data.arguments[position] = device_.textures()->make_texture(spec, texels);
  if (spec.storage == TextureStorage::kArray) {
    device_.memory().release(texels);
  } else {
    data.views[position] = texels;
  }
}

void CaseSet::fail(const CheckCase& data, const std::string& key, const std::string& what) const {
  throw ProblemError((problem_.folder / "problem.json").string() + ": " + key + ": on shape '" +
                     data.shape->name + "' " + what);
}

std::optional<Fault> CaseSet::launch_reference(const CheckCase& data,
                                               const std::vector<KernelArgument>& arguments) {
  const LaunchPlan plan = reference_->launch_for(data);
  Measuring* measuring = device_.measuring();
  if (measuring == nullptr) return device_.launch(reference_->id, plan, arguments);
  auto launched = measuring->launch_timed(reference_->id, plan, arguments);
  if (auto* fault = std::get_if<Fault>(&launched)) return std::move(*fault);
  reference_us_[data.shape->name] = std::get<double>(launched);
  return std::nullopt;
}

void CaseSet::run_reference(const CheckCase& data) {
  const auto made = Workspace::make(device_, problem_, *reference_, data);
  if (const auto* fault = std::get_if<Fault>(&made)) throw DeviceMemoryError(fault->reason);
  const std::vector<KernelArgument> arguments = std::get<Workspace>(made).arguments_of(data);
  if (const auto fault = launch_reference(data, arguments)) {
    fail(data, "reference", "the kernel fails: " + fault->reason + "\n" + fault->detail);
  }
  if (const auto violation = find_forbidden_write(work_, problem_, arguments, data)) {
    fail(data, "reference", "the kernel " + *violation);
  }
}

/// Fills the outputs with a random poison, each byte of which is combined with `flip` by XOR.
void CaseSet::poison_outputs(const CheckCase& data, std::byte flip) {
  for (std::size_t i = 0; i < data.arguments.size(); ++i) {
    const Argument& argument = problem_.arguments[i];
    if (argument.direction != Direction::kOut || argument.is_sized_by_macros) continue;
    std::vector<std::byte> pattern = poison_pattern(Poison::kRandom, argument.dtype, data.seed);
    for (std::byte& byte : pattern) byte ^= flip;
    device_.memory().poison(std::get<BufferId>(data.arguments[i]), pattern);
  }
}

std::vector<std::byte> CaseSet::output_of(const CheckCase& data, std::size_t position) {
  std::vector<std::byte> output(problem_.arguments[position].compared_bytes(data.values));
  device_.memory().download(std::get<BufferId>(data.arguments[position]), output);
  return output;
}

/// On devices that do not track writes, an element counts as unwritten if it holds the poison after
/// one run and the inverted poison after a second run. The second run is omitted if no element
/// holds the poison after the first run.
void CaseSet::require_written(const CheckCase& data,
                              const std::vector<std::vector<std::byte>>& outputs) {
  const auto is_poisoned = [&](std::size_t i) {
    const Argument& argument = problem_.arguments[i];
    return argument.direction == Direction::kOut && argument.is_expected();
  };
  const auto kept = [&](std::size_t i, std::span<const std::byte> again) {
    return first_poisoned(outputs[i], again,
                          poison_pattern(Poison::kRandom, problem_.arguments[i].dtype, data.seed));
  };
  Interpreting* interpreting = device_.interpreting();
  bool is_doubtful = false;
  for (std::size_t i = 0; i < outputs.size() && interpreting == nullptr; ++i) {
    is_doubtful = is_doubtful || (is_poisoned(i) && kept(i, {}));
  }
  if (is_doubtful) {
    restore_inputs(data);
    poison_outputs(data, kFlip);
    run_reference(data);
  }
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    if (!is_poisoned(i)) continue;
    std::optional<std::size_t> unwritten;
    if (interpreting != nullptr)
      unwritten = interpreting->first_unwritten(std::get<BufferId>(data.arguments[i]));
    // Bytes after the compared part of the output may stay unwritten.
    if (unwritten && *unwritten >= outputs[i].size()) unwritten.reset();
    if (is_doubtful) unwritten = kept(i, output_of(data, i));
    if (!unwritten) continue;
    const Argument& argument = problem_.arguments[i];
    fail(data, "reference",
         "it does not write " + argument.name + "[" +
             std::to_string(*unwritten / size_of(argument.dtype)) +
             "]; allowed: a reference that writes every element of every \"out\" argument; if the "
             "kernel leaves elements unchanged, such as a border, write \"inout\" and a generator");
  }
}

std::vector<std::vector<std::byte>> CaseSet::run_for_expected(const CheckCase& data) {
  poison_outputs(data, std::byte{0});
  run_reference(data);
  std::vector<std::vector<std::byte>> outputs(data.arguments.size());
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    if (problem_.arguments[i].is_expected()) outputs[i] = output_of(data, i);
  }
  require_written(data, outputs);
  return outputs;
}

/// The expected content of each argument, from the reference; empty for arguments without expected
/// content.
std::vector<std::vector<std::byte>> CaseSet::expected_of(const CheckCase& data) {
  if (reference_) return run_for_expected(data);
  if (!problem_.reference.program.empty()) return programs_.expected(program_case(data));
  std::vector<std::vector<std::byte>> outputs(data.arguments.size());
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    const Argument& argument = problem_.arguments[i];
    const auto named = problem_.reference.files.find(argument.name);
    if (named == problem_.reference.files.end()) continue;
    const std::string key = "reference.files." + argument.name;
    outputs[i] = read_npy(problem_.data_file(key, named->second, *data.shape), argument.dtype,
                          argument.compared_bytes(data.values) / size_of(argument.dtype));
  }
  return outputs;
}

void CaseSet::compute_expected(CheckCase& data) {
  if (repeats_the_first(data)) {
    data.expected = get(*data.shape, 0).expected;
    data.first_run.resize(data.expected.size());
    data.complete = true;
    poison_outputs(data, std::byte{0});
    return;
  }
  tell_("computing the expected outputs on shape " + data.shape->name);
  const std::vector<std::vector<std::byte>> outputs = expected_of(data);
  std::size_t elements = 0;
  for (const std::vector<std::byte>& output : outputs) elements += output.size();
  if (elements == 0 && problem_.check_program.empty()) {
    fail(data, "arguments",
         "no output has an element; allowed: shapes on which an output has elements");
  }
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    const Argument& argument = problem_.arguments[i];
    data.expected.emplace_back();
    data.first_run.emplace_back();
    if (!argument.is_expected()) continue;
    if (data.index == 0) {
      data.first_run.back() =
          work_.kept().reserve(argument.name, argument.compared_bytes(data.values));
    }
    if (outputs[i].empty()) continue;
    std::vector<std::byte> before;
    if (argument.direction == Direction::kInOut) {
      before = work_.kept().content(*data.inputs[i]);
      before.resize(outputs[i].size());
    }
    audit_.take(*data.shape, data.seed, i, outputs[i], before);
    data.expected.back() =
        keep(argument, outputs[i].size(), [&](const TakePart& take) { take(outputs[i]); });
  }
  data.complete = true;
  // Overwrites the reference's results in the output buffers, so that no kernel can find them.
  poison_outputs(data, std::byte{0});
  restore_inputs(data);
}

}  // namespace evo
