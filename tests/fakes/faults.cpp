#include "tests/fakes/faults.hpp"

#include <unistd.h>

#include <array>
#include <chrono>
#include <cstdlib>
#include <random>
#include <sstream>
#include <thread>
#include <utility>

#include "tests/fakes/planted_kernels.hpp"

namespace evo::fake {
namespace {

constexpr int kMillion = 1'000'000;

/// Writes invalid bytes to the stream of messages to evo-tune. The function writes to standard
/// input, because standard input is the same socket as the stream, and the worker's code leaves
/// standard input open.
void send_rubbish() {
  const std::array<unsigned char, 8> rubbish = {3, 0, 0, 0, 0xc1, 0xc1, 0xc1, 0xff};
  (void)!write(STDIN_FILENO, rubbish.data(), rubbish.size());
}

/// Draws the faults of a process. The process id is part of the seed, so that processes have
/// different faults.
class Dice {
 public:
  explicit Dice(unsigned seed) : random_(seed + static_cast<unsigned>(getpid())) {}

  void roll(int of_a_million, bool may_hang) {
    if (static_cast<int>(random_() % kMillion) >= of_a_million) return;
    constexpr std::chrono::milliseconds kSlow{80};
    switch (random_() % 4) {
      case 0:
        std::abort();
      case 1:
        while (may_hang) std::this_thread::sleep_for(std::chrono::hours(1));
        break;
      case 2:
        send_rubbish();
        break;
      default:
        std::this_thread::sleep_for(kSlow);
    }
  }

 private:
  std::mt19937 random_;
};

class FaultyCompiler final : public Compiler {
 public:
  FaultyCompiler(std::unique_ptr<Compiler> real, int of_a_million, unsigned seed)
      : real_(std::move(real)), of_a_million_(of_a_million), dice_(seed) {}

  [[nodiscard]] std::string version() const override { return real_->version(); }
  [[nodiscard]] CompileAnswer compile(const CompileRequest& request) override {
    // A compiler never hangs here, because the time limit of compilers, a minute, is too long for
    // tests.
    dice_.roll(of_a_million_, false);
    return real_->compile(request);
  }

 private:
  std::unique_ptr<Compiler> real_;
  int of_a_million_;
  Dice dice_;
};

}  // namespace

Faults Faults::from_environment() {
  Faults faults;
  if (const char* text = std::getenv("EVO_FAKE_FAULTS")) {
    std::istringstream words(text);
    words >> faults.compile_ >> faults.launch_ >> faults.seed_;
  }
  return faults;
}

std::unique_ptr<Compiler> Faults::around(std::unique_ptr<Compiler> compiler) const {
  if (compile_ == 0) return compiler;
  return std::make_unique<FaultyCompiler>(std::move(compiler), compile_, seed_);
}

std::variant<Kernel, Fault> Faults::link(const Program& program) const {
  auto linked = link_planted(program);
  if (launch_ == 0 || !std::holds_alternative<Kernel>(linked)) return linked;
  static Dice dice(seed_);
  return Kernel([real = std::get<Kernel>(linked), often = launch_](const Launch& launch) {
    dice.roll(often, true);
    return real(launch);
  });
}

}  // namespace evo::fake
