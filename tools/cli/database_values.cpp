#include "tools/cli/database_values.hpp"

#include <set>

#include "db/store.hpp"

namespace evo {
namespace {

std::vector<StoredRun> given_runs(const GivenValues& values) {
  const auto db = values.find(value_words::kDatabase);
  return Store::open_read_only(db != values.end() ? db->second : "evo.db").runs();
}

}  // namespace

ValueLists database_values() {
  const auto shapes = [](const GivenValues& values) {
    std::set<std::string> names;
    for (const StoredRun& run : given_runs(values)) names.insert(run.info.shape);
    return std::vector<std::string>(names.begin(), names.end());
  };
  const auto devices = [](const GivenValues& values) {
    std::set<std::string> ids;
    for (const StoredRun& run : given_runs(values)) ids.insert(run.info.device.id);
    return std::vector<std::string>(ids.begin(), ids.end());
  };
  return {{value_words::kShape, shapes}, {value_words::kDevice, devices}};
}

}  // namespace evo
