// Tests of the parts of an embedded guest that need no kernel.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "guest/embed/context.h"
#include "guest/embed/embed_test_support.h"
#include "guest/embed/embedded_kernel.h"
#include "guest/embed/faults.h"
#include "guest/embed/import_functions.h"
#include "guest/embed/imports.h"
#include "guest/embed/watchdog.h"

namespace viaduct::embed {
namespace {

volatile int steps = 0;

// A SIGCHLD handler that waits for any child, as in programs that start processes: if it ran, it
// would reap the process for which the guest waits.
void WaitForAnyChild(int) {
  while (waitpid(-1, nullptr, WNOHANG) > 0) steps = steps + 1;
}

TEST_F(EmbedTest, TheSimulatorsHandlersTakeNoProcessOfTheGuest) {
  struct sigaction before;
  struct sigaction action = {};
  action.sa_handler = WaitForAnyChild;
  sigaction(SIGCHLD, &action, &before);
  steps = 0;
  // Checks that the thread of a watchdog does not run the SIGCHLD handler either.
  const volatile uint64_t clock = 0;
  const Watchdog watchdog(context_, clock);
  for (int i = 0; i < 20; ++i) {
    const pid_t child = imports::Fork();
    if (child == 0) _exit(3);
    siginfo_t ended = {};
    while (waitid(P_PID, static_cast<id_t>(child), &ended, WEXITED | WNOWAIT) < 0 &&
           errno == EINTR) {
    }
    int status = 0;
    EXPECT_EQ(imports::Waitpid(child, &status, 0), child);
    EXPECT_EQ(WEXITSTATUS(status), 3);
  }
  RestoreSignals(context_);
  sigaction(SIGCHLD, &before, nullptr);
  EXPECT_EQ(steps, 0);
}

TEST_F(EmbedTest, GoesBackAndForth) {
  if (!kFollowed) GTEST_SKIP();
  steps = 0;
  Begin([] {
    for (;;) {
      steps = steps + 1;
      errno = 77;
      LetSimulatorRun();
      if (errno != 77) steps = -1000;
    }
  });
  EXPECT_EQ(steps, 1);
  errno = 5;
  LetRun();
  EXPECT_EQ(steps, 2);
}

TEST_F(EmbedTest, EndsWithItsStatusAndNothingOpen) {
  if (!kFollowed) GTEST_SKIP();
  Begin([] {
    Opened(dup(0));
    imports::Fork();
    if (Here().copy) pause();
    imports::Exit(3);
  });
  ASSERT_TRUE(context_.ended);
  EXPECT_EQ(WEXITSTATUS(*context_.ended), 3);
  EXPECT_TRUE(context_.descriptors.empty());
  EXPECT_TRUE(context_.processes.empty());
  EXPECT_EQ(waitpid(-1, nullptr, WNOHANG), -1);
}

// Starts a copy of the process as kernels since 6.13 start their programs (with shared memory), and
// checks that the copy does not change this process's context.
TEST_F(EmbedTest, CopyThatSharesMemoryIsNobodyElse) {
  if (!kFollowed) GTEST_SKIP();
  static bool seen_as_copy, seen_as_itself;
  static int status, helper_error;
  Begin([] {
    static char stack[64 * 1024];
    const auto child = [](void*) {
      seen_as_copy = Here().copy;
      Opened(dup(0));
      imports::Dup2(2, 0);
      imports::Exit(5);
      return 0;
    };
    const pid_t pid =
        imports::Clone(child, stack + sizeof stack, CLONE_VM | CLONE_VFORK | SIGCHLD, nullptr);
    seen_as_itself = !Here().copy;
    imports::Waitpid(pid, &status, 0);
    imports::Clone(child, stack + sizeof stack, CLONE_VM | SIGCHLD, nullptr);
    helper_error = errno;
    LetSimulatorRun();
  });
  EXPECT_TRUE(seen_as_copy);
  EXPECT_TRUE(seen_as_itself);
  EXPECT_EQ(WEXITSTATUS(status), 5);
  EXPECT_EQ(helper_error, EPERM);
  EXPECT_TRUE(context_.descriptors.empty());
  EXPECT_TRUE(context_.processes.empty());
}

TEST_F(EmbedTest, SpinningGuestIsLeftThere) {
  if (!kFollowed) GTEST_SKIP();
  static volatile uint64_t clock = 0;
  const Faults faults;
  Watchdog watchdog(context_, clock);
  watchdog.SetTimeout(Duration::Milliseconds(20));
  Begin([] {
    for (;;) steps = steps + 1;  // NOLINT(bugprone-infinite-loop): the test needs an endless loop
  });
  EXPECT_TRUE(context_.stuck);
  EXPECT_FALSE(context_.ended);
}

TEST_F(EmbedTest, FaultOfTheSimulatorStaysOne) {
  if (!kFollowed) GTEST_SKIP();  // a sanitizer would end the process in another way
  const auto fault = [] {
    const Faults faults;
    raise(SIGSEGV);
    raise(SIGSEGV);
  };
  EXPECT_EXIT(fault(), testing::KilledBySignal(SIGSEGV), "");
}

TEST_F(EmbedTest, ChangesOnlyFilesOfItsFolders) {
  context_.writable = {"/tmp/of-guest", "/dev/null"};
  context_.boot_folder = 0;  // any descriptor but -1: the guest is booting
  EXPECT_TRUE(MayChange("u/guest/pid"));
  EXPECT_FALSE(MayChange("../other"));
  EXPECT_TRUE(MayChange("/tmp/of-guest/file"));
  EXPECT_TRUE(MayChange("/dev/null"));
  EXPECT_FALSE(MayChange("/tmp/of-guest/../other"));
  EXPECT_FALSE(MayChange("/tmp/of-guests"));
  EXPECT_FALSE(MayChange("/etc/passwd"));
  context_.boot_folder = -1;
  EXPECT_FALSE(MayChange("u/guest/pid"));
}

TEST_F(EmbedTest, RelativeNamesAreInTheFolderInWhichItBoots) {
  const std::filesystem::path folder =
      testing::TempDir() + "embed-boot-" + std::to_string(getpid());
  const std::filesystem::path before = std::filesystem::current_path();
  std::filesystem::create_directory(folder);
  const UniqueFd boot(open(folder.c_str(), O_PATH | O_CLOEXEC));
  const UniqueFd simulator(open(".", O_PATH | O_CLOEXEC));
  context_.boot_folder = boot.get();
  context_.simulator_folder = simulator.get();
  EXPECT_EQ(imports::Mkdir("u", 0700), 0);
  const UniqueFd file(imports::Open("u/pid", O_RDWR | O_CREAT, 0600));
  EXPECT_GE(file.get(), 0);
  EXPECT_EQ(imports::Access("u/pid", R_OK), 0);
  struct stat about;
  EXPECT_EQ(imports::Stat("u/pid", &about), 0);
  EXPECT_EQ(imports::Symlink("pid", "u/link"), 0);
  char target[16];
  EXPECT_EQ(imports::Readlink("u/link", target, sizeof target), 3);
  const UniqueFd listener(socket(AF_UNIX, SOCK_STREAM, 0)),
      connection(socket(AF_UNIX, SOCK_STREAM, 0));
  sockaddr_un address{AF_UNIX, "d"};
  EXPECT_EQ(AtName("d",
                   [&] {
                     return bind(listener.get(), reinterpret_cast<sockaddr*>(&address),
                                 sizeof address);
                   }),
            0);
  EXPECT_EQ(listen(listener.get(), 1), 0);
  EXPECT_EQ(
      imports::Connect(connection.get(), reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
  EXPECT_EQ(std::filesystem::current_path(), before);
  EXPECT_TRUE(std::filesystem::exists(folder / "u/pid"));
  EXPECT_TRUE(std::filesystem::exists(folder / "d"));

  context_.boot_folder = context_.simulator_folder = -1;
  EXPECT_EQ(imports::Access("u/pid", R_OK), -1);
  std::filesystem::remove_all(folder);
}

TEST_F(EmbedTest, RefusesWhatAConfinedProcessMayNotDo) {
  const std::string file = testing::TempDir() + "embed-" + std::to_string(getpid());
  const auto refused = [](int result, int expected) { return result == -1 && errno == expected; };
  EXPECT_TRUE(refused(imports::Open(file.c_str(), O_RDWR | O_CREAT, 0600), EACCES));
  EXPECT_TRUE(refused(imports::Mkdir(file.c_str(), 0700), EACCES));
  EXPECT_TRUE(refused(imports::Unlink(file.c_str()), EACCES));
  EXPECT_TRUE(refused(imports::Refuse(), EPERM));
  EXPECT_TRUE(refused(imports::Socket(AF_INET, SOCK_STREAM, 0), EACCES));
  EXPECT_TRUE(refused(imports::Kill(getppid(), SIGTERM), ESRCH));
  EXPECT_TRUE(refused(imports::Waitpid(-1, nullptr, 0), ECHILD));
  EXPECT_TRUE(refused(imports::Mprotect(&context_, 1, PROT_NONE), EINVAL));
  EXPECT_EQ(imports::Mmap(&context_, 1, PROT_NONE, MAP_FIXED | MAP_PRIVATE | MAP_ANONYMOUS, -1, 0),
            MAP_FAILED);
}

TEST_F(EmbedTest, EveryImportHasAReasonOrIsOfLibc) {
  for (const char* name : {"syscall", "poll", "exit", "open64", "malloc", "getpid"}) {
    const Import* import = FindImport(name);
    ASSERT_NE(import, nullptr) << name;
    EXPECT_EQ(import->ours != nullptr, import->why != nullptr) << name;
    EXPECT_NE(Bind(*import), nullptr);
  }
  EXPECT_EQ(FindImport("system"), nullptr);
}

TEST(UnavailableTest, NamesTheFileAndWhatIsWrong) {
  const std::string why = Unavailable("/bin/sh", 1 << 20);
  EXPECT_NE(why.find("kernel /bin/sh "), std::string::npos) << why;
  EXPECT_EQ(why.find('\n'), std::string::npos);
  const auto embed = [] {
    KernelOptions options;
    options.file = "/bin/sh";
    EmbeddedKernel kernel(std::move(options));
  };
  EXPECT_THROW(embed(), EnvironmentError);
}

}  // namespace
}  // namespace viaduct::embed
