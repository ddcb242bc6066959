#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "engine/core/json_reader.hpp"
#include "engine/worker/compile_pool.hpp"
#include "engine/worker/device_client.hpp"
#include "engine/worker/host_port.hpp"
#include "engine/worker/run_key.hpp"
#include "engine/worker/session_messages.hpp"
#include "engine/worker/tls.hpp"
#include "engine/worker/worker_gate.hpp"
#include "tests/fakes/fake_program.hpp"

// A fixture for tests of workers on other hosts: the gateway and the workers of the program
// evo-worker, connected over the loopback interface, with the fake compiler and the fake device.

namespace evo::remote {

inline std::filesystem::path program(const std::string& name) {
  return std::filesystem::read_symlink("/proc/self/exe").parent_path() / name;
}

/// A process of evo-worker, started like a worker on another host.
class Lent {
 public:
  Lent(std::vector<std::string> words, const std::string& key) {
    process_ = fork();
    if (process_ != 0) return;
    setenv(kKeyVariable, key.c_str(), 1);
    setenv("EVO_WORKER", program("fake-worker").c_str(), 1);
    setenv("EVO_HOST_NAME", "node1", 1);
    words.insert(words.begin(), program("evo-worker"));
    std::vector<char*> pointers;
    for (std::string& word : words) pointers.push_back(word.data());
    pointers.push_back(nullptr);
    execv(pointers[0], pointers.data());
    _exit(127);
  }
  ~Lent() {
    if (process_ > 0) {
      kill(process_, SIGKILL);
      (void)exit_code();
    }
  }
  Lent(const Lent&) = delete;
  Lent& operator=(const Lent&) = delete;

  /// Waits until the worker process has ended.
  int exit_code() {
    int status = 0;
    waitpid(process_, &status, 0);
    process_ = -1;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  }

 private:
  pid_t process_ = -1;
};

class RemoteTest : public testing::Test {
 protected:
  RemoteTest() {
    (void)signal(SIGPIPE, [](int) {});  // some tests write to closed connections
  }
  ~RemoteTest() override { loop_.end_all(); }

  WorkerGate::Notice next() {
    for (int i = 0; i < 300; ++i) {
      if (auto notice = gate_->take()) return *std::move(notice);
      pollfd entry = gate_->interest();
      ::poll(&entry, 1, 100);
    }
    throw std::runtime_error("nothing happened");
  }
  /// Waits for the next worker that joins the run.
  std::shared_ptr<RemoteHost> joined() { return std::get<WorkerGate::Joined>(next()).host; }
  std::string refused() { return std::get<WorkerGate::Refused>(next()).text; }
  std::unique_ptr<Lent> lend(std::vector<std::string> words) {
    words.insert(words.end(), {"--connect", gate_->address()});
    return std::make_unique<Lent>(std::move(words), key_);
  }
  [[nodiscard]] FileDescriptor dial() const {
    return connect_to(parse_host_port("", gate_->address()), 5000);
  }
  std::unique_ptr<ByteStream> dial(const std::string& key) {
    stranger_.emplace(TlsSide::kClient, key_bytes(key, "key"));
    return stranger_->over(dial());
  }

  SystemLoop loop_;
  std::string key_ = make_run_key();
  std::optional<WorkerGate> gate_{std::in_place, program("evo-worker"), "127.0.0.1:0", key_};
  std::optional<TlsContext> stranger_;
};

inline KernelUnderTest kernel(const std::string& bug) {
  const fake::Program planted{"planted", {{"BUG", bug}}};
  return {"key of " + bug,
          {to_ptx(planted), "", {"planted"}},
          {{"THREADS", 128}, {"ITEMS", 2}},
          {"mission"}};
}

inline SessionSetup planted_setup() {
  const std::filesystem::path folder =
      std::filesystem::path(EVO_SOURCE_DIR) / "tests/planted/kernel_templates/planted";
  SessionSetup setup;
  setup.problem_text = read_text_file(folder / "problem.json");
  setup.problem_folder = folder.string();
  setup.template_name = "planted";
  setup.reference = {fake::to_ptx({"planted_reference", {}}), "", {"planted_reference"}};
  setup.check_seed = 11;
  return setup;
}

inline CompileRequest request(const std::string& bug, int tag = 0) {
  return {{"k.cu", "", {}}, {"k"}, "sm_90", {"-DBUG=" + bug, "-DTAG=" + std::to_string(tag)}};
}

}  // namespace evo::remote
