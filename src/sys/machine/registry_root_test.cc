// Tests of folders and files that other users put in the place of a registry. Needs root, to become
// other users.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "sys/descriptors.h"
#include "sys/machine/registry.h"
#include "sys/process/child.h"
#include "sys/process/process.h"

namespace viaduct::sys {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr uid_t kUs = 60001, kOther = 60002;

struct Thing : RegistryEntry {
  void Read(const RecordLines&) {}
};

// A folder like /tmp, in which this user's registry will be.
class RegistryRootTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (geteuid() != 0) GTEST_SKIP() << "needs root to be other users";
    std::string made = (fs::temp_directory_path() / "viaduct-registry-XXXXXX").string();
    base_ = mkdtemp(made.data());
    ASSERT_EQ(chmod(base_.c_str(), 01777), 0);
  }
  void TearDown() override { fs::remove_all(base_); }

  Registry Things() const {
    return {{base_, {{"viaduct", 0700, false}, {"things", 0700, false}}}, {"record"}};
  }
  fs::path Root() const { return base_ / "viaduct/things"; }

  // Runs `work` as the user `user`; returns whether nothing was thrown and no expectation failed.
  static bool As(uid_t user, const std::function<void()>& work) {
    const pid_t child = fork();
    if (child != 0) return AwaitChild(child) == 0;
    int status = setresgid(user, user, user) != 0 || setresuid(user, user, user) != 0;
    try {
      work();
    } catch (const std::exception& error) {
      ADD_FAILURE() << error.what();
    }
    ExitForked(status != 0 || HasFailure());
  }
  // Starts `work` in a pid namespace with a separate /proc; returns the pid to wait for.
  static pid_t StartElsewhere(const std::function<void()>& work) {
    const pid_t child = fork();
    if (child != 0) return child;
    int status = unshare(CLONE_NEWPID | CLONE_NEWNS);
    const pid_t inner = fork();
    if (inner != 0) ExitForked(status != 0 || AwaitChild(inner) != 0);
    status = mount("none", "/", nullptr, MS_PRIVATE | MS_REC, nullptr) != 0 ||
             mount("proc", "/proc", "proc", 0, nullptr) != 0;
    work();
    ExitForked(status != 0 || HasFailure());
  }
  // Starts `work` in a time namespace in which the machine's uptime is longer by 1000 s and a
  // fraction of a second.
  static pid_t StartLater(const std::function<void()>& work) {
    const pid_t child = fork();
    if (child != 0) return child;
    int status = unshare(CLONE_NEWTIME);
    WriteFile("/proc/self/timens_offsets", "boottime 1000 3000000");
    const pid_t inner = fork();
    if (inner != 0) ExitForked(status != 0 || AwaitChild(inner) != 0);
    work();
    ExitForked(HasFailure());
  }
  static void Own(const fs::path& path, uid_t user) {
    ASSERT_EQ(lchown(path.c_str(), user, user), 0) << path;
  }

  fs::path base_;
};

TEST_F(RegistryRootTest, AFolderThatSomebodyElseMadeFirstIsNotUsed) {
  ASSERT_TRUE(As(kOther, [&] { Things().Take({"planted"}); }));
  EXPECT_TRUE(As(kUs, [&] {
    EXPECT_THAT(Things().List<Thing>(), IsEmpty());  // the registry cannot be read
    EXPECT_THROW(Things().Take({"one"}), EnvironmentError);
  }));
  fs::permissions(base_ / "viaduct", fs::perms(0755));
  fs::permissions(Root(), fs::perms(0755));
  EXPECT_TRUE(As(kUs, [&] {
    EXPECT_THROW(Things().List<Thing>(), EnvironmentError);
    EXPECT_THROW(Things().Take({"one"}), EnvironmentError);
  }));
}

TEST_F(RegistryRootTest, ALinkThatSomebodyElseMadeFirstIsNotFollowed) {
  const fs::path home = base_ / "home";
  fs::create_directories(home / "things/one");
  Own(home, kUs);
  Own(home / "things", kUs);
  Own(home / "things/one", kUs);
  ASSERT_TRUE(As(kOther, [&] { fs::create_directory_symlink(home, base_ / "viaduct"); }));
  EXPECT_TRUE(As(kUs, [&] {
    std::vector<std::string> problems;
    EXPECT_THROW(Things().RemoveDead<Thing>(&problems), EnvironmentError);
  }));
  EXPECT_TRUE(fs::exists(home / "things/one"));
}

TEST_F(RegistryRootTest, EntriesOfOthersAreNeitherListedNorRemoved) {
  ASSERT_TRUE(As(kUs, [&] {
    for (const char* name : {"ours", "roots", "others"}) Things().Take({name});
  }));
  Own(Root() / "roots", 0);
  fs::permissions(Root() / "roots", fs::perms(0755));
  Own(Root() / "others", kOther);
  fs::rename(Root() / "others", Root() / "others.");
  const std::string unborn = fmt::format(".new-99999999-1-{}-x", OwnIdentity().pid_namespace);
  fs::create_directory(Root() / unborn);
  Own(Root() / unborn, kOther);
  EXPECT_TRUE(As(kUs, [&] {
    std::vector<std::string> names, problems;
    for (const Thing& thing : Things().List<Thing>()) names.push_back(thing.name);
    EXPECT_THAT(names, ElementsAre("ours", "roots"));
    names.clear();
    for (const Thing& thing : Things().RemoveDead<Thing>(&problems)) names.push_back(thing.name);
    EXPECT_THAT(names, ::testing::Contains("ours"));
    EXPECT_THROW(Things().Take({"others."}), NameTaken);
  }));
  EXPECT_TRUE(fs::exists(Root() / "others./record"));
  EXPECT_TRUE(fs::exists(Root() / unborn));
}

TEST_F(RegistryRootTest, ARecordOfSomebodyElseIsNone) {
  ASSERT_TRUE(As(kUs, [&] { Things().Take({"one"}); }));
  Own(Root() / "one/record", kOther);
  EXPECT_TRUE(As(kUs, [&] {
    std::vector<std::string> problems;
    EXPECT_THAT(Things().RemoveDead<Thing>(&problems), IsEmpty());
    EXPECT_THAT(problems, ElementsAre(HasSubstr("has no readable record")));
  }));
  EXPECT_TRUE(fs::exists(Root() / "one/record"));
}

TEST_F(RegistryRootTest, WhoIsInAnotherPidNamespaceIsNotTakenForDead) {
  const OwnEntry own = Things().Take({"ours"});
  const pid_t reader = StartElsewhere([&] {
    EXPECT_TRUE(Things().HasDead()) << "perhaps";
    std::vector<std::string> problems;
    EXPECT_THAT(Things().RemoveDead<Thing>(&problems), IsEmpty());
    EXPECT_THAT(problems, IsEmpty());
    const std::vector<Thing> things = Things().List<Thing>();
    ASSERT_EQ(things.size(), 1U);
    EXPECT_TRUE(things[0].alive && things[0].unknown);
  });
  EXPECT_EQ(AwaitChild(reader), 0);
  EXPECT_TRUE(fs::exists(Root() / "ours/record"));
}

TEST_F(RegistryRootTest, WhoIsInAPidNamespaceWithinIsJudged) {
  if (OwnIdentity().pid_namespace != 0xEFFFFFFC) GTEST_SKIP() << "sees not all processes";
  Pipe ready = MakePipe(), end = MakePipe();
  const pid_t maker = StartElsewhere([&] {
    Things().Take({"theirs"});
    char byte = 'x';
    EXPECT_EQ(write(ready.write.get(), &byte, 1), 1);
    EXPECT_EQ(read(end.read.get(), &byte, 1), 1);
  });
  char byte;
  ASSERT_EQ(read(ready.read.get(), &byte, 1), 1);
  std::vector<std::string> problems;
  EXPECT_THAT(Things().RemoveDead<Thing>(&problems), IsEmpty());
  EXPECT_TRUE(Things().List<Thing>().at(0).alive);
  EXPECT_FALSE(Things().List<Thing>().at(0).unknown);
  EXPECT_EQ(write(end.write.get(), &byte, 1), 1);
  EXPECT_EQ(AwaitChild(maker), 0);
  EXPECT_EQ(Things().RemoveDead<Thing>(&problems).size(), 1U);
}

TEST_F(RegistryRootTest, WhoLivesIsNotDeadInAnotherTimeNamespace) {
  if (access("/proc/self/ns/time", F_OK) != 0) GTEST_SKIP() << "no time namespaces here";
  Things().Take({"ours"});
  const pid_t reader = StartLater([&] {
    std::vector<std::string> problems;
    EXPECT_THAT(Things().RemoveDead<Thing>(&problems), IsEmpty());
    EXPECT_THAT(problems, IsEmpty());
    EXPECT_TRUE(Things().List<Thing>().at(0).alive);
  });
  EXPECT_EQ(AwaitChild(reader), 0);
  EXPECT_TRUE(fs::exists(Root() / "ours/record"));
}

TEST_F(RegistryRootTest, WhoIsInAnotherTimeNamespaceIsJudged) {
  if (access("/proc/self/ns/time", F_OK) != 0) GTEST_SKIP() << "no time namespaces here";
  Pipe ready = MakePipe(), end = MakePipe();
  const pid_t maker = StartLater([&] {
    Things().Take({"theirs"});
    char byte = 'x';
    EXPECT_EQ(write(ready.write.get(), &byte, 1), 1);
    EXPECT_EQ(read(end.read.get(), &byte, 1), 1);
  });
  char byte;
  ASSERT_EQ(read(ready.read.get(), &byte, 1), 1);
  std::vector<std::string> problems;
  EXPECT_THAT(Things().RemoveDead<Thing>(&problems), IsEmpty());
  EXPECT_TRUE(Things().List<Thing>().at(0).alive);
  EXPECT_EQ(write(end.write.get(), &byte, 1), 1);
  EXPECT_EQ(AwaitChild(maker), 0);
  EXPECT_EQ(Things().RemoveDead<Thing>(&problems).size(), 1U);
}

// Runs a process of the user kUs with a separate /tmp and without XDG_RUNTIME_DIR, where another
// user has taken the names of the user's folders in /tmp.
TEST_F(RegistryRootTest, WhoHasTakenTheNameInTmpIsInNobodysWay) {
  const pid_t child = fork();
  if (child == 0) {
    int status = unshare(CLONE_NEWNS) != 0 ||
                 mount("none", "/", nullptr, MS_PRIVATE | MS_REC, nullptr) != 0 ||
                 mount("none", "/tmp", "tmpfs", 0, "mode=1777") != 0;
    const std::string taken = fmt::format("/tmp/viaduct-{}", kUs);
    for (const std::string& name : {taken, taken + "-0000"}) {
      fs::create_directory(name);
      Own(name, kOther);
    }
    unsetenv("XDG_RUNTIME_DIR");
    const bool done = As(kUs, [&] {
      const auto here = [] { return Registry(UserPlace("things"), {"record"}); };
      EXPECT_THAT(here().List<Thing>(), IsEmpty());
      const OwnEntry own = here().Take({"one"});
      EXPECT_EQ(here().List<Thing>().size(), 1U) << "found again";
      EXPECT_EQ(UserPlaces("things").front().path(), UserPlace("things").path());
      EXPECT_THAT(here().Remove(own), IsEmpty());
      const auto left = fs::directory_iterator("/tmp");
      EXPECT_EQ(std::distance(fs::begin(left), fs::end(left)), 2);
    });
    ExitForked(status != 0 || !done || HasFailure());
  }
  EXPECT_EQ(AwaitChild(child), 0);
}

TEST_F(RegistryRootTest, RootDoesNotUseWhatAUserOwns) {
  ASSERT_TRUE(As(kUs, [&] { Things().Take({"one"}); }));
  EXPECT_THROW(Things().List<Thing>(), EnvironmentError);
}

}  // namespace
}  // namespace viaduct::sys
