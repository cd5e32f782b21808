#include "cli/command.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdio>
#include <fstream>

#include "cli/arguments.h"

namespace viaduct::cli {
namespace {

using testing::ElementsAre, testing::HasSubstr;

struct Outcome {
  int status;
  std::string output, errors;
};

Outcome Call(std::vector<std::string> words) {
  words.insert(words.begin(), "viaduct");
  testing::internal::CaptureStdout();
  testing::internal::CaptureStderr();
  const int status = Main(words);
  std::fflush(nullptr);
  return {status, testing::internal::GetCapturedStdout(), testing::internal::GetCapturedStderr()};
}

std::string ScenarioFile() {
  std::string path = testing::TempDir() + "viaduct-cli-test-" + std::to_string(getpid());
  std::ofstream(path) << "nodes: 2\nlinks: [{line: all}]\nflows: [{from: n0, to: n1}]\n";
  return path;
}

TEST(CommandTest, UsageErrorsAreOneLineAndStatusTwo) {
  for (const std::vector<std::string>& words : {std::vector<std::string>{},
                                                {"frob"},
                                                {"run"},
                                                {"run", "f", "--frob"},
                                                {"exec"},
                                                {"run", "/nowhere/f.yaml"},
                                                {"docs", "all"}}) {
    const Outcome outcome = Call(words);
    EXPECT_EQ(outcome.status, 2);
    EXPECT_EQ(outcome.errors.rfind("viaduct: ", 0), 0u) << outcome.errors;
    EXPECT_EQ(std::count(outcome.errors.begin(), outcome.errors.end(), '\n'), 1);
  }
}

TEST(CommandTest, AnEmptyValueIsNotAnOptionLeftOut) {
  const std::string file = ScenarioFile();
  for (const std::vector<std::string>& words :
       {std::vector<std::string>{"run", file, "--compare", ""},
        {"run", file, "--mode", ""},
        {"run", file, "--report", ""},
        {"path", "--between", "a", "b", "--schedule", ""},
        {"path", "stats", "--interval", ""},
        {"shell", "--duration", "", "--", "true"}}) {
    const Outcome outcome = Call(words);
    EXPECT_EQ(outcome.status, 2) << words.back();
    EXPECT_THAT(outcome.errors, HasSubstr("the value is empty"));
    EXPECT_EQ(std::count(outcome.errors.begin(), outcome.errors.end(), '\n'), 1);
  }
  std::remove(file.c_str());
}

TEST(CommandTest, ListsHaveNoEmptyItems) {
  const std::string file = ScenarioFile();
  for (const char* modes : {"emulate,", ",emulate", "emulate,,offload", ","}) {
    const Outcome outcome = Call({"run", file, "--compare", modes});
    EXPECT_EQ(outcome.status, 2);
    EXPECT_THAT(outcome.errors, HasSubstr("--compare"));
  }
  EXPECT_THAT(Call({"path", "--between", "a", "b", "--cpus", "0,"}).errors, HasSubstr("--cpus"));
  EXPECT_THAT(SplitList("--compare", "simulate,emulate"), ElementsAre("simulate", "emulate"));
  std::remove(file.c_str());
}

TEST(CommandTest, ADurationOfNothingIsRefused) {
  for (const std::vector<std::string>& words :
       {std::vector<std::string>{"path", "--between", "a", "b", "--duration", "0s"},
        {"shell", "--duration", "0", "--", "true"},
        {"path", "stats", "--watch", "--interval", "0s"}}) {
    const Outcome outcome = Call(words);
    EXPECT_EQ(outcome.status, 2);
    EXPECT_THAT(outcome.errors, HasSubstr("must be greater than 0"));
  }
}

TEST(CommandTest, AScheduleWithoutAnEndIsRefused) {
  const Outcome outcome = Call({"path", "--between", "a", "b", "--schedule", "/dev/urandom"});
  EXPECT_EQ(outcome.status, 2);
  EXPECT_THAT(outcome.errors, HasSubstr("/dev/urandom: is longer than 256 MiB"));
}

TEST(CommandTest, AGraphNeedsALogThatCanBeReadAgain) {
  const Outcome outcome =
      Call({"path", "--between", "a", "b", "--log", "/dev/null", "--graph", "/dev/null"});
  EXPECT_EQ(outcome.status, 2);
  EXPECT_THAT(outcome.errors, HasSubstr("--log /dev/null: --graph reads it"));
}

TEST(CommandTest, MistakesAreNamed) {
  EXPECT_THAT(Call({"frob"}).errors, HasSubstr("'frob'"));
  EXPECT_THAT(Call({"run", ScenarioFile(), "--mode", "fly"}).errors, HasSubstr("--mode fly"));
  EXPECT_THAT(Call({"exec", "n0"}).errors, HasSubstr("COMMAND is required"));
}

TEST(CommandTest, WhatFollowsTheNodeIsTheProgramsOwn) {
  for (const std::vector<std::string>& words :
       {std::vector<std::string>{"exec", "no-such-lab:n0", "ls", "-l"},
        {"exec", "no-such-lab:n0", "--", "ls", "--help"}}) {
    const Outcome outcome = Call(words);
    EXPECT_EQ(outcome.status, 2);
    EXPECT_THAT(outcome.errors, HasSubstr("no lab \"no-such-lab\" is up"));
  }
}

TEST(CommandTest, VersionIsAnOptionToo) {
  EXPECT_EQ(Call({"--version"}).output, Call({"version"}).output);
}

TEST(CommandTest, EverySubcommandHasHelpWithAnExample) {
  for (const char* name : {"run", "path", "shell", "join", "up", "exec", "ls", "top", "down",
                           "clean", "doctor", "version"}) {
    const Outcome outcome = Call({name, "--help"});
    EXPECT_EQ(outcome.status, 0) << name;
    EXPECT_THAT(outcome.output, HasSubstr(std::string("viaduct ") + name)) << name;
    EXPECT_THAT(outcome.output, HasSubstr("Example")) << name;
  }
}

TEST(CommandTest, PrintShowsTheEffectiveScenario) {
  const std::string file = ScenarioFile();
  const Outcome outcome = Call({"run", file, "--print", "--mode", "emulate", "--set",
                                "flows.0.size=1000", "--set", "seed=5", "--duration", "3s"});
  EXPECT_EQ(outcome.status, 0) << outcome.errors;
  EXPECT_THAT(outcome.output, HasSubstr("mode: emulate"));
  EXPECT_THAT(outcome.output, HasSubstr("size: 1000"));
  EXPECT_THAT(outcome.output, HasSubstr("seed: 5"));
  EXPECT_THAT(outcome.output, HasSubstr("duration: 3s"));
  EXPECT_EQ(Call({"run", file, "--print", "--set", "seed=x"}).status, 2);
  EXPECT_EQ(Call({"run", file, "--mode", "emulate", "--compare", "offload"}).status, 2);
  std::remove(file.c_str());
}

TEST(CommandTest, OwnOptionsAreTheLastWord) {
  ScenarioOptions options;
  options.set = {"mode=emulate", "seed=2"};
  options.mode = "offload";
  options.duration = "5s";
  EXPECT_THAT(options.Overrides(),
              ElementsAre("mode=emulate", "seed=2", "mode=offload", "duration=5s"));
}

TEST(CommandTest, ANodeMayBeNamedWithItsPlace) {
  EXPECT_EQ(NodeName("n0").place, "");
  EXPECT_EQ(NodeName("n0").node, "n0");
  EXPECT_EQ(NodeName("lab:n0").place, "lab");
  EXPECT_EQ(NodeName("lab:n0").node, "n0");
}

TEST(CommandTest, DocsPrintsTheTableOfKeys) {
  EXPECT_THAT(Call({"docs", "scenario"}).output, HasSubstr("| `links[].spec` |"));
}

}  // namespace
}  // namespace viaduct::cli
