#include "cli/command.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cstdio>
#include <fstream>
#include <sstream>

#include "cli/arguments.h"

namespace viaduct::cli {
namespace {

using testing::ElementsAre, testing::HasSubstr, testing::Not;

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
  for (const std::vector<std::string>& words : {std::vector<std::string>{"frob"},
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

TEST(CommandTest, AnErrorQuotesNoWholeFile) {
  const std::string path = testing::TempDir() + "viaduct-cli-long-" + std::to_string(getpid());
  std::ofstream(path) << std::string(100000, 'x');
  const Outcome outcome = Call({"run", path});
  EXPECT_EQ(outcome.status, 2);
  EXPECT_THAT(outcome.errors, HasSubstr(path));
  EXPECT_THAT(outcome.errors, HasSubstr("bytes more"));
  EXPECT_LT(outcome.errors.size(), 5000u);
  unlink(path.c_str());
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
  EXPECT_THAT(outcome.errors, HasSubstr("/dev/urandom is longer than 256 MiB"));
}

TEST(CommandTest, AGraphNeedsALogThatCanBeReadAgain) {
  const Outcome outcome =
      Call({"path", "--between", "a", "b", "--log", "/dev/null", "--graph", "/dev/null"});
  EXPECT_EQ(outcome.status, 2);
  EXPECT_THAT(outcome.errors, HasSubstr("--log /dev/null: --graph reads the log"));
}

TEST(CommandTest, HelpIsAskedForInEveryWay) {
  const Outcome help = Call({"--help"});
  EXPECT_THAT(help.output, HasSubstr("viaduct doctor"));
  for (const std::vector<std::string>& words :
       {std::vector<std::string>{}, {"help"}, {"help", "--help"}}) {
    const Outcome outcome = Call(words);
    EXPECT_EQ(outcome.status, 0);
    EXPECT_EQ(outcome.output, help.output);
  }
  EXPECT_EQ(Call({"help", "run"}).output, Call({"run", "--help"}).output);
  EXPECT_EQ(Call({"help", "path", "set"}).output, Call({"path", "set", "--help"}).output);
  EXPECT_EQ(Call({"help", "frob"}).status, 2);
}

TEST(CommandTest, TyposGetASuggestion) {
  const std::string file = ScenarioFile();
  EXPECT_THAT(Call({"rnu"}).errors, HasSubstr("did you mean 'run'?"));
  EXPECT_THAT(Call({"help", "kernl"}).errors, HasSubstr("did you mean 'kernel'?"));
  EXPECT_THAT(Call({"run", file, "--mdoe", "emulate"}).errors, HasSubstr("did you mean '--mode'?"));
  EXPECT_THAT(Call({"run", file, "--repot=out"}).errors, HasSubstr("did you mean '--report'?"));
  EXPECT_THAT(Call({"path", "set", "--dwon", "loss=1%"}).errors,
              HasSubstr("did you mean '--down'?"));
  EXPECT_THAT(Call({"path", "--between", "a", "b", "--up", "dealy=1ms"}).errors,
              HasSubstr("did you mean 'delay'?"));
  EXPECT_THAT(Call({"run", "--topo", "gird,2x2"}).errors, HasSubstr("did you mean 'grid'?"));
  EXPECT_THAT(Call({"docs", "scheme"}).errors, HasSubstr("did you mean 'schema'?"));
  EXPECT_THAT(Call({"run", file, "--frobnicate"}).errors, Not(HasSubstr("did you mean")));
  std::remove(file.c_str());
}

TEST(CommandTest, TopologiesNeedNoFile) {
  const Outcome outcome =
      Call({"run", "--topo", "grid,3x2", "--protocol", "RIP", "--mode", "simulate", "--print"});
  EXPECT_EQ(outcome.status, 0) << outcome.errors;
  EXPECT_THAT(outcome.output, HasSubstr("protocol: ns3::Rip\n"));
  EXPECT_THAT(outcome.output, HasSubstr("n5:"));
  EXPECT_THAT(outcome.output, Not(HasSubstr("n6:")));
  const std::string file = ScenarioFile();
  EXPECT_EQ(Call({"run", file, "--topo", "line,3"}).status, 2);
  std::remove(file.c_str());
  for (const char* wrong : {"line,1", "line,x", "grid,3", "grid,1x1", "grid,999x999", "ring,2",
                            "tree,99999999999", "line,", ",5", "cube,3"}) {
    const Outcome refused = Call({"run", "--topo", wrong, "--print"});
    EXPECT_EQ(refused.status, 2) << wrong;
    EXPECT_THAT(refused.errors, HasSubstr("--topo")) << wrong;
  }
}

TEST(CommandTest, InitLeavesNoPieceOfAFile) {
  const std::string file = testing::TempDir() + "viaduct-init-" + std::to_string(getpid());
  rlimit before;
  ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &before), 0);
  const rlimit few{10, before.rlim_max};  // a limit of 10 bytes, as if the disk were full
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &few), 0);
  const int status = Main({"viaduct", "init", "grid", file});
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &before), 0);
  EXPECT_EQ(status, 1);
  EXPECT_NE(access(file.c_str(), F_OK), 0);
}

TEST(CommandTest, InitWritesAFileOnceAndNotTwice) {
  const std::string file = testing::TempDir() + "viaduct-init-test-" + std::to_string(getpid());
  EXPECT_EQ(Call({"init", "tree,4", file}).status, 0);
  EXPECT_THAT(Call({"run", file, "--print"}).output, HasSubstr("name: tree\n"));
  const Outcome again = Call({"init", "star", file});
  EXPECT_EQ(again.status, 2);
  EXPECT_THAT(again.errors, HasSubstr("already exists"));
  EXPECT_EQ(Call({"init", "star", file, "--force"}).status, 0);
  EXPECT_THAT(Call({"run", file, "--print"}).output, HasSubstr("name: star\n"));
  std::remove(file.c_str());
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

// Returns the names below "Subcommands:" in the help.
std::vector<std::string> SubcommandsInHelp() {
  std::istringstream help(Call({"--help"}).output);
  std::vector<std::string> names;
  bool listed = false;
  for (std::string line; std::getline(help, line);) {
    if (line == "Subcommands:") {
      listed = true;
    } else if (listed && line.empty()) {
      break;
    } else if (listed) {
      names.push_back(line.substr(2, line.find(' ', 2) - 2));
    }
  }
  return names;
}

TEST(CommandTest, EverySubcommandHasHelpWithAnExample) {
  const std::vector<std::string> names = SubcommandsInHelp();
  EXPECT_THAT(names, testing::IsSupersetOf({"run", "hub", "bench", "kernel", "docs"}));
  for (const std::string& name : names) {
    if (name == "bench") continue;  // replaces the process with the benchmarks' program
    const Outcome outcome = Call({name, "--help"});
    EXPECT_EQ(outcome.status, 0) << name;
    EXPECT_THAT(outcome.output, HasSubstr("viaduct " + name)) << name;
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

TEST(CommandTest, EveryCommandAndOptionIsInTheManualAndInCompletions) {
  const std::string manual = Call({"docs", "man"}).output;
  EXPECT_THAT(manual, HasSubstr(".SS viaduct path set\n"));
  EXPECT_THAT(manual, HasSubstr("\\fB\\-\\-lateness\\-limit\\fR"));
  EXPECT_THAT(manual, Not(HasSubstr("viaduct rank")));  // hidden subcommands are left out
  for (const char* shell : {"bash", "zsh", "fish"}) {
    const std::string script = Call({"docs", "completion", shell}).output;
    EXPECT_THAT(script, HasSubstr("viaduct")) << shell;
    EXPECT_THAT(script, HasSubstr("lateness-limit")) << shell;
    EXPECT_THAT(script, HasSubstr("switch-config")) << shell;
    EXPECT_THAT(script, Not(HasSubstr("rank"))) << shell;
  }
  EXPECT_EQ(Call({"docs", "completion", "csh"}).status, 2);
}

}  // namespace
}  // namespace viaduct::cli
