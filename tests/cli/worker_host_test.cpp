// Tests the command lines of evo-worker that provide workers to a run on another host.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/cli/fake_machine.hpp"
#include "tests/cli/fake_session.hpp"

namespace evo {
namespace {

using testing::AllOf;
using testing::HasSubstr;

/// Runs evo-worker with the key of a run. Nobody listens at 127.0.0.1:1.
ProgramResult run_with_key(FakeMachine& machine, const std::string& command) {
  machine.environment = "EVO_WORKER_KEY=" + std::string(64, '7') + " ";
  return machine.run("evo-worker " + command);
}

TEST(WorkerHost, LendsNoVirtualGpuUnasked) {
  FakeMachine machine;
  machine.cuda_library = "";
  for (const char* command : {"host --connect 127.0.0.1:1 --device auto --jobs 0",
                              "host --connect=127.0.0.1:1 --device=auto --jobs=0"}) {
    const ProgramResult host = run_with_key(machine, command);
    EXPECT_EQ(host.exit_code, 2) << command;
    EXPECT_THAT(host.err, AllOf(HasSubstr("no GPU on"), HasSubstr("no worker: --device ID")))
        << command;
  }
}

TEST(WorkerHost, AutoStandsAlone) {
  FakeMachine machine;
  for (const char* devices : {"host --device auto,virtual:l4", "host --device auto,auto",
                              "device auto,cuda:0", "host --device cuda:0 --device auto"}) {
    const ProgramResult host =
        run_with_key(machine, std::string(devices) + " --connect 127.0.0.1:1 --jobs 0");
    EXPECT_EQ(host.exit_code, 2) << devices;
    EXPECT_THAT(host.err, HasSubstr("'auto' cannot be combined with other devices")) << devices;
  }
}

TEST(WorkerHost, ForNoDeviceAWorkerIsRefused) {
  FakeMachine machine;
  const ProgramResult worker = run_with_key(machine, "device none --connect 127.0.0.1:1");
  EXPECT_EQ(worker.exit_code, 2);
  EXPECT_THAT(worker.err, HasSubstr("evo-worker device: no worker: --device ID"));
}

TEST(WorkerHost, AGivenTimeAlsoLimitsTheWaitForTheFirstDevice) {
  FakeMachine machine;
  const ProgramResult run = machine.run("evo-tune --space " + FakeSession::faults_space() +
                                        " --listen 127.0.0.1:0 --worker-wait 0.2 --db evo.db");
  EXPECT_EQ(run.exit_code, 3) << run.err;
  EXPECT_THAT(run.err, AllOf(HasSubstr("waiting for a worker with a device"),
                             HasSubstr("no worker with a device connected within 0.2 s")));
}

}  // namespace
}  // namespace evo
