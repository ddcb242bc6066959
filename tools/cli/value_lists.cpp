#include "tools/cli/value_lists.hpp"

#include <algorithm>
#include <filesystem>

#include "engine/device/virtual/timing/device_model.hpp"
#include "engine/problem/problem.hpp"
#include "engine/space/space.hpp"
#include "tools/cli/data_folder.hpp"

namespace evo {
namespace {

namespace fs = std::filesystem;

std::string given(const GivenValues& values, const char* word) {
  const auto found = values.find(word);
  return found != values.end() ? found->second : std::string();
}

SpaceDefinition given_space(const GivenValues& values) {
  const std::string space = given(values, value_words::kSpace);
  if (!space.empty()) return read_space_file(find_space(space));
  const std::string device = given(values, value_words::kDevice);
  const bool is_virtual = std::ranges::count(ptx::device_ids(), device) > 0;
  return read_space_file(
      default_space(is_virtual ? ptx::device_model(device).info.arch : std::string()));
}

std::vector<std::string> shapes_of(const SpaceDefinition& space) {
  const fs::path folder = fs::absolute(space.file).parent_path().parent_path();
  std::vector<std::string> names;
  for (const Shape& shape : Problem::load(folder / "kernel_templates" / space.problem).shapes)
    names.push_back(shape.name);
  return names;
}

std::vector<std::string> settings_of(const SpaceDefinition& space) {
  std::vector<std::string> settings;
  for (const Parameter& parameter : space.parameters) {
    for (const ParameterValue& value : parameter.values)
      settings.push_back(parameter.macro + "=" + value.text);
  }
  return settings;
}

/// "cuda:0" for /dev/nvidia0. Looks for device files instead of calling the driver, which would
/// take a second and GPU memory.
std::vector<std::string> cuda_devices() {
  constexpr std::string_view kName = "nvidia";
  std::vector<std::string> ids;
  std::error_code none;
  for (const fs::directory_entry& entry : fs::directory_iterator("/dev", none)) {
    const std::string name = entry.path().filename();
    const bool is_gpu = name.starts_with(kName) && name.size() > kName.size() &&
                        name.find_first_not_of("0123456789", kName.size()) == std::string::npos;
    if (is_gpu) ids.push_back("cuda:" + std::to_string(ids.size()));
  }
  return ids;
}

}  // namespace

ValueLists space_values() {
  const auto shapes = [](const GivenValues& values) { return shapes_of(given_space(values)); };
  return {{value_words::kSpace, [](const GivenValues&) { return shipped_spaces(); }},
          {value_words::kShape, shapes},
          {value_words::kShapes,
           [=](const GivenValues& values) {
             std::vector<std::string> names = shapes(values);
             names.emplace_back("all");
             return names;
           }},
          {value_words::kMilestone,
           [](const GivenValues& values) {
             std::vector<std::string> names;
             for (const Milestone& milestone : given_space(values).milestones)
               names.push_back(milestone.name);
             return names;
           }},
          {value_words::kSetting,
           [](const GivenValues& values) { return settings_of(given_space(values)); }}};
}

ValueList device_values() {
  std::vector<std::string> first = cuda_devices();
  first.insert(first.begin(), {"auto", "none"});
  return virtual_device_values(std::move(first));
}

ValueList virtual_device_values(std::vector<std::string> first) {
  return [first = std::move(first)](const GivenValues&) {
    std::vector<std::string> ids = first;
    const std::vector<std::string> more = ptx::device_ids();
    ids.insert(ids.end(), more.begin(), more.end());
    return ids;
  };
}

}  // namespace evo
