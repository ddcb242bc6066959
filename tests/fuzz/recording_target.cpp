#include <stdexcept>

#include "engine/core/error.hpp"
#include "engine/core/random.hpp"
#include "engine/study/recorded_space.hpp"
#include "tests/fuzz/fuzz_target.hpp"
#include "tests/fuzz/scratch_folder.hpp"

namespace evo::fuzz {

void run_recording(std::string_view input) {
  static const ScratchFolder folder;
  const auto file = folder.write("recording.json", input);
  try {
    const RecordedSpace space(read_recording(file));
    Random random(1);
    for (int i = 0; i < 4; ++i) {
      const Candidate candidate = space.sample(random);
      if (!space.is_valid(candidate)) throw std::logic_error("a sample that is not valid");
      (void)space.entry(candidate);
      for (std::size_t p = 0; p < space.parameter_count(); ++p)
        (void)space.value_text(p, candidate.choice[p]);
    }
  } catch (const InputError&) {
    return;  // rejected with a message
  }
}

}  // namespace evo::fuzz
