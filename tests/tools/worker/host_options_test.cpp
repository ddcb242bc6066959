#include "tools/worker/host_options.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/core/error.hpp"
#include "engine/worker/run_key.hpp"

namespace evo {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class HostOptions : public testing::Test {
 protected:
  HostOptions() {
    setenv(kKeyVariable, key_.c_str(), 1);  // NOLINT(concurrency-mt-unsafe)
    setenv("EVO_WORKER", "/bin/true", 1);   // NOLINT(concurrency-mt-unsafe)
  }

  static std::optional<AgentOptions> read(std::vector<std::string> words) {
    words.insert(words.begin(), "evo-worker");
    std::vector<char*> arguments;
    for (std::string& word : words) arguments.push_back(word.data());
    return worker_host_options(arguments);
  }

  const std::string key_ = std::string(64, '7');
};

TEST_F(HostOptions, NameTheWorkersOfAHost) {
  const auto host =
      read({"host", "--connect=node1:7", "--device", "virtual:l4*2,cuda:1", "--jobs", "3"});
  ASSERT_TRUE(host);
  EXPECT_EQ(to_string(host->coordinator), "node1:7");
  EXPECT_THAT(host->devices, ElementsAre("virtual:l4", "virtual:l4", "cuda:1"));
  EXPECT_EQ(host->compilers, 3U);
  EXPECT_EQ(host->key, key_);
  EXPECT_EQ(host->program, "/bin/true");
}

TEST_F(HostOptions, EachRoleHasItsDefaults) {
  const auto device = read({"device", "--connect", "node1:7"});
  ASSERT_TRUE(device);
  EXPECT_THAT(device->devices, ElementsAre("cuda:0"));
  EXPECT_EQ(device->compilers, 0U);
  const auto compilers = read({"compile", "--connect", "node1:7"});
  ASSERT_TRUE(compilers);
  EXPECT_THAT(compilers->devices, IsEmpty());
  EXPECT_EQ(compilers->compilers, 1U);
}

TEST_F(HostOptions, OtherCommandLinesHaveNone) {
  EXPECT_FALSE(read({}));
  EXPECT_FALSE(read({"gateway"}));
  EXPECT_FALSE(read({"device", "cuda:0", "--spare"}));
  EXPECT_FALSE(read({"survey", "--connect", "node1:7"}));
}

TEST_F(HostOptions, MistakesSayWhatIsAllowed) {
  const auto refusal = [](std::vector<std::string> words) -> std::string {
    words.insert(words.end(), {"--connect", "node1:7"});
    try {
      return read(words) ? "accepted" : "not for a host";
    } catch (const InputError& error) {
      return error.what();
    }
  };
  for (const char* device : {"virtual:l4*0", "virtual:l4*x", "virtual:l4*1000", "cuda:0*2", ","}) {
    EXPECT_THAT(refusal({"host", "--device", device}), HasSubstr("allowed: auto, cuda:N"))
        << device;
  }
  for (const char* jobs : {"1025", "-1", "some", ""}) {
    EXPECT_THAT(refusal({"compile", "--jobs", jobs}), HasSubstr("allowed: 0 to 1024")) << jobs;
  }
  EXPECT_THAT(refusal({"host", "--fast"}), HasSubstr("unknown option --fast"));
  EXPECT_THAT(refusal({"host"}), HasSubstr("no worker: --device ID or --jobs N is required"));
}

}  // namespace
}  // namespace evo
