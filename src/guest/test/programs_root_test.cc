// Tests of programs of the host on the nodes of a real kernel. They need an image (viaduct kernel
// build), but no privilege.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>
#include <thread>

#include "base/error.h"
#include "guest/agent/program_client.h"
#include "guest/process/confinement.h"
#include "guest/test/real_guest.h"
#include "sys/process/find_program.h"

namespace viaduct::guest {
namespace {

using testing::HasSubstr;

// The reported events of a program.
struct Told {
  int error_number = -1;
  std::string words, output, errors;
  int status = -1;
  Instant ended;
};

// A fixture with two nodes of one guest, without interfaces.
class ProgramsTest : public testing::TestWithParam<GuestPlace>, protected RealGuest {
 protected:
  ProgramsTest() : RealGuest(Duration::Seconds(20)) {}

  void SetUp() override {
    try {
      MakeGuest("guest", GetParam());
    } catch (const Error& error) {
      GTEST_SKIP() << error.what();
    }
    programs_ = std::make_unique<ProgramClient>(*agent_);
    for (const char* name : {"a", "b"}) nodes_.push_back(agent_->CreateNode(name));
    calendar_.Boot();
  }

  uint32_t Start(ProgramRequest request, Told* told) {
    if (request.node == 0) request.node = nodes_[0];
    if (request.environment.empty()) request.environment = DefaultEnvironment();
    ProgramEvents events;
    events.started = [told](int error_number, const std::string& words) {
      told->error_number = error_number;
      told->words = words;
    };
    events.output = [told](int descriptor, std::span<const std::byte> bytes) {
      std::string& text = descriptor == 1 ? told->output : told->errors;
      text.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    };
    events.exited = [this, told](int status) {
      told->status = status;
      told->ended = queue_.Now();
    };
    return programs_->Start(request, events);
  }
  Told Run(ProgramRequest request, Duration time = Duration::Seconds(10)) {
    Told told;
    Start(std::move(request), &told);
    queue_.RunUntil(queue_.Now() + time);
    return told;
  }
  Told Shell(const std::string& script, uint32_t node = 0) {
    ProgramRequest request;
    request.node = node;
    request.words = {"sh", "-c", script};
    return Run(request);
  }

  std::unique_ptr<ProgramClient> programs_;
  std::vector<uint32_t> nodes_;
};

INSTANTIATE_TEST_SUITE_P(Places, ProgramsTest, testing::ValuesIn(kPlaces), PlaceName);

TEST_P(ProgramsTest, OutputAndStatusComeBack) {
  const Told told = Shell("echo out; echo err >&2; exit 3");
  EXPECT_EQ(told.error_number, 0);
  EXPECT_EQ(told.output, "out\n");
  EXPECT_EQ(told.errors, "err\n");
  EXPECT_EQ(told.status, W_EXITCODE(3, 0));
}

TEST_P(ProgramsTest, SleepTakesVirtualTimeOnly) {
  const Told told = Run({.words = {"sleep", "3600"}}, Duration::Seconds(4000));
  EXPECT_EQ(told.status, 0);
  EXPECT_GE(told.ended, Instant() + Duration::Seconds(3600));
  EXPECT_LT(told.ended, Instant() + Duration::Milliseconds(3'600'100));
}

TEST_P(ProgramsTest, MissingProgramAndFolderAreErrors) {
  const Told program = Run({.words = {"no-such-program"}});
  EXPECT_EQ(program.error_number, ENOENT);
  EXPECT_THAT(program.words, HasSubstr("no-such-program"));
  const Told folder = Run({.words = {"true"}, .folder = "/no/such/folder"});
  EXPECT_EQ(folder.error_number, ENOENT);
  EXPECT_THROW(programs_->Start({}, {}), UsageError);
}

TEST_P(ProgramsTest, ArgumentsEnvironmentAndFolderArrive) {
  const Told told = Run({.words = {"sh", "-c", "echo $1,$2; env | sort; pwd", "sh", "a b", ""},
                         .environment = {"PATH=/bin", "X=1 2"},
                         .folder = "/usr"});
  EXPECT_EQ(told.output, "a b,\nPATH=/bin\nPWD=/usr\nX=1 2\n/usr\n");
}

TEST_P(ProgramsTest, ThousandsOfLinesArriveWhole) {
  const Told told = Shell("seq 1 100000 | sha256sum; seq 1 100000");
  EXPECT_EQ(told.output.size(), 588895U + 68U);
}

TEST_P(ProgramsTest, WhatIsWrittenStaysOnTheNode) {
  const auto file = std::filesystem::temp_directory_path() / "viaduct-programs-test";
  std::ofstream(file) << "host\n";
  const std::string name = file.string();
  EXPECT_EQ(Shell("cat " + name + "; echo node > " + name + "; cat " + name).output,
            "host\nnode\n");
  EXPECT_EQ(Shell("cat " + name).output, "node\n") << "a later program of the node sees it";
  EXPECT_EQ(Shell("cat " + name, nodes_[1]).output, "host\n") << "another node does not";
  std::string line;
  std::getline(std::ifstream(file), line);
  EXPECT_EQ(line, "host") << "nor does the host";
  std::filesystem::remove(file);
}

TEST_P(ProgramsTest, MountsOfItsOwnDoNotWriteToTheHostEither) {
  if (const std::string why = ConfinementUnavailable(); !why.empty()) GTEST_SKIP() << why;
  namespace fs = std::filesystem;
  const fs::path folder = fs::temp_directory_path() / ("viaduct-host-" + std::to_string(getpid()));
  fs::create_directory(folder);
  std::ofstream(folder / "file") << "host\n";
  fs::permissions(folder / "file", fs::perms::owner_read | fs::perms::owner_write);
  const auto before = fs::last_write_time(folder / "file");
  const Told told = Shell("mkdir /run/h; mount -t hostfs -o " + folder.string() +
                          " none /run/h && cd /run/h && cat file && echo mounted; "
                          "(echo node >file; echo node >new; touch -d 2001-01-01 file; "
                          "truncate -s 0 file; chmod 777 file; mv file moved; ln file link; "
                          "mkdir folder; rm -f file; mknod device c 1 3) >&2");
  EXPECT_EQ(told.output, "host\nmounted\n") << told.errors;
  std::string line;
  std::getline(std::ifstream(folder / "file"), line);
  EXPECT_EQ(line, "host") << told.errors;
  EXPECT_EQ(std::distance(fs::directory_iterator(folder), {}), 1) << told.errors;
  EXPECT_EQ(fs::status(folder / "file").permissions(),
            fs::perms::owner_read | fs::perms::owner_write);
  EXPECT_EQ(fs::last_write_time(folder / "file"), before);
  fs::remove_all(folder);
}

TEST_P(ProgramsTest, NodesHaveTheirNamesAndNetworks) {
  EXPECT_EQ(Shell("hostname; ip -br link | cut -d' ' -f1", nodes_[1]).output, "b\nlo\n");
  EXPECT_EQ(Shell("ls /sys/class/net | grep -c eth0").output, "0\n")
      << "the guest's own is not seen";
}

TEST_P(ProgramsTest, SignalEndsItWithWhatItStarted) {
  Told told;
  const uint32_t program = Start({.words = {"sh", "-c", "sleep 1000 & wait"}}, &told);
  queue_.Schedule(queue_.Now() + Duration::Seconds(1),
                  [&] { programs_->Signal(program, SIGTERM); });
  queue_.RunUntil(queue_.Now() + Duration::Seconds(2));
  EXPECT_TRUE(WIFSIGNALED(told.status));
  EXPECT_EQ(DescribeStatus(told.status), "killed by signal 15 (Terminated)");
  EXPECT_EQ(Shell("ps ax | grep -c '[s]leep 1000'").output, "0\n");
}

TEST_P(ProgramsTest, InputIsReadUntilItsEnd) {
  Told told;
  const uint32_t program = Start({.words = {"tr", "a-z", "A-Z"}, .input = true}, &told);
  programs_->Write(program, std::as_bytes(std::span("hello\n", 6)));
  queue_.RunUntil(queue_.Now() + Duration::Seconds(1));
  EXPECT_EQ(told.status, -1);
  programs_->Write(program, {});
  queue_.RunUntil(queue_.Now() + Duration::Seconds(1));
  EXPECT_EQ(told.output, "HELLO\n");
  EXPECT_EQ(told.status, 0);
}

TEST_P(ProgramsTest, TerminalIsOne) {
  const Told told = Run({.words = {"sh", "-c", "tty && stty -echo"}, .terminal = true});
  EXPECT_EQ(told.words, "");
  EXPECT_THAT(told.output, HasSubstr("/dev/pts/"));
  EXPECT_EQ(told.status, 0);
}

TEST_P(ProgramsTest, TerminalHasItsSize) {
  Told told;
  const uint32_t program = Start(
      {.words = {"sh", "-c", "stty size; trap 'stty size; exit' WINCH; while :; do sleep 1; done"},
       .terminal = true,
       .rows = 31,
       .columns = 97},
      &told);
  queue_.RunUntil(queue_.Now() + Duration::Seconds(3));
  EXPECT_EQ(told.output, "31 97\r\n");
  programs_->Resize(program, 50, 132);
  queue_.RunUntil(queue_.Now() + Duration::Seconds(3));
  EXPECT_EQ(told.output, "31 97\r\n50 132\r\n");
}

TEST_P(ProgramsTest, ShellTellsWhetherItIsAtItsPrompt) {
  Told told;
  const uint32_t shell = Start({.words = {"bash", "--norc", "-i"}, .terminal = true}, &told);
  const auto type = [&](std::string_view keys) {
    programs_->Write(shell, std::as_bytes(std::span(keys)));
    queue_.RunUntil(queue_.Now() + Duration::Milliseconds(100));
  };
  std::vector<bool> at_prompt;
  const auto look = [&](Duration later) {
    queue_.Schedule(queue_.Now() + later, [&] { at_prompt.push_back(programs_->AtPrompt(shell)); });
    queue_.RunUntil(queue_.Now() + later + Duration::Milliseconds(1));
  };
  look(Duration::Milliseconds(100));
  type("sleep 1");
  look({});
  type("\r");
  look({});
  look(Duration::Seconds(1));
  type("wait");
  type("\rsleep 5 & wait\r");
  look(Duration::Seconds(1));
  look(Duration::Seconds(5));
  type("exit 7\r");
  look({});
  EXPECT_THAT(at_prompt, testing::ElementsAre(true, true, false, true, false, true, false));
  EXPECT_EQ(told.status, W_EXITCODE(7, 0)) << told.output;
}

using Vectors = std::array<uint64_t, 8>;

// Fills two vector registers, makes a system call, and returns the contents of these registers
// after the call.
__attribute__((target("avx"))) Vectors AcrossCall(const Vectors& filled, long number, long first,
                                                  long second, long* result) {
  Vectors found{};
  *result = number;
  asm volatile(
      "vmovdqu (%[in]), %%ymm3\n vmovdqu 32(%[in]), %%ymm14\n syscall\n"
      "vmovdqu %%ymm3, (%[out])\n vmovdqu %%ymm14, 32(%[out])"
      : "+a"(*result)
      : [in] "b"(filled.data()), [out] "d"(found.data()), "D"(first), "S"(second)
      : "rcx", "r11", "ymm3", "ymm14", "memory");
  return found;
}

// Returns whether a thread's vector registers survive system calls during which other threads run,
// signal handlers, and forks.
bool KeepsItsRegisters(uint64_t seed) {
  bool kept = true;
  for (uint64_t round = 1; round <= 30; ++round) {
    Vectors filled;
    for (size_t i = 0; i < filled.size(); ++i) filled[i] = seed * round + i;
    long result = 0;
    kept &= AcrossCall(filled, SYS_getppid, 0, 0, &result) == filled;
    kept &= AcrossCall(filled, SYS_sched_yield, 0, 0, &result) == filled;
    kept &= AcrossCall(filled, SYS_tkill, gettid(), SIGUSR1, &result) == filled;
    const Vectors found = AcrossCall(filled, SYS_fork, 0, 0, &result);
    kept &= found == filled;
    if (result == 0) _exit(kept ? 0 : 1);
    int status = -1;
    waitpid(static_cast<pid_t>(result), &status, 0);
    kept &= status == 0;
  }
  return kept;
}

// Checks the vector registers of two processes with two threads each.
// FloatingPointRegistersAreEachThreadsOwn runs this test on a node, as a program.
TEST(FloatingPoint, RegistersSurviveCallsSignalsAndForks) {
  if (!__builtin_cpu_supports("avx")) GTEST_SKIP() << "needs AVX";
  signal(SIGUSR1, [](int) {
    const Vectors others{~0ul, ~1ul, ~2ul, ~3ul, ~4ul, ~5ul, ~6ul, ~7ul};
    long result = 0;
    AcrossCall(others, SYS_getppid, 0, 0, &result);
  });
  std::array<pid_t, 2> children;
  for (size_t i = 0; i < children.size(); ++i) {
    children[i] = fork();
    ASSERT_GE(children[i], 0);
    if (children[i] != 0) continue;
    std::array<bool, 2> kept{};
    std::thread other([&] { kept[1] = KeepsItsRegisters(1000 * i + 777); });
    kept[0] = KeepsItsRegisters(1000 * i + 333);
    other.join();
    _exit(kept[0] && kept[1] ? 0 : 1);
  }
  for (const pid_t child : children) {
    int status = -1;
    waitpid(child, &status, 0);
    EXPECT_EQ(status, 0);
  }
}

TEST_P(ProgramsTest, FloatingPointRegistersAreEachThreadsOwn) {
  const std::string self = sys::OwnProgram();
  const Told told = Run({.words = {self, "--gtest_filter=FloatingPoint.*"}});
  EXPECT_EQ(told.status, 0) << told.output;
  EXPECT_THAT(told.output, HasSubstr("1 test from 1 test suite ran"));
}

}  // namespace
}  // namespace viaduct::guest
