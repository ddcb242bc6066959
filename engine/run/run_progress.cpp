#include "engine/run/run_progress.hpp"

namespace evo {

void RunProgress::count(const EvaluationRecord& record) {
  ++evaluated;
  if (record.duplicate_of) {
    ++duplicates;
  } else if (record.rejection) {
    ++rejected[record.rejection->gate];
  } else if (record.timing) {
    ++green;
  } else {
    ++unjudged;
  }
}

}  // namespace evo
