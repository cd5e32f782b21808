#include "sys/machine/registry.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <sys/inotify.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <fstream>

#include "base/file.h"
#include "sys/ipc/unix_socket.h"
#include "sys/process/child.h"
#include "sys/process/process.h"

namespace viaduct::sys {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

// An entry of a test's kind; the first line of its record has a colour.
struct Coloured : RegistryEntry {
  std::string colour;
  size_t lines = 0;

  void Read(const RecordLines& record) {
    record.front().at("colour").get_to(colour);
    lines = record.size();
  }
};

class RegistryTest : public ::testing::Test {
 protected:
  RegistryTest() {
    std::string made = (fs::temp_directory_path() / "viaduct-registry-XXXXXX").string();
    base_ = mkdtemp(made.data());
  }
  void TearDown() override { fs::remove_all(base_); }

  Registry Things(mode_t mode = 0755) const {
    return {{base_, {{"viaduct"}, {"things", mode, false}}}, {"record", "socket"}};
  }
  fs::path Root() const { return base_ / "viaduct/things"; }
  static NewEntry Named(const std::string& name) { return {name, 7, false, {{"colour", "red"}}}; }
  std::vector<Coloured> List() const { return Things().List<Coloured>(); }

  std::vector<std::string> RemoveDead() {
    problems_.clear();
    std::vector<std::string> names;
    for (const Coloured& entry : Things().RemoveDead<Coloured>(&problems_)) {
      names.push_back(entry.name);
    }
    return names;
  }

  // Runs `work` in a process that is killed afterwards.
  void Killed(const std::function<void()>& work) const {
    const pid_t child = fork();
    if (child == 0) {
      work();
      raise(SIGKILL);
    }
    EXPECT_EQ(AwaitChild(child), SIGKILL);
  }
  void TakeAndDie(const std::string& name) const {
    Killed([&] { Things().Take(Named(name)); });
  }

  fs::path base_;
  std::vector<std::string> problems_;
};

// Lowers a limit of this process while this object exists.
class Limited {
 public:
  Limited(int resource, rlim_t limit) : resource_(resource) {
    EXPECT_EQ(Get(resource_, &before_), 0);
    rlimit low = before_;
    low.rlim_cur = limit;
    EXPECT_EQ(Set(resource_, &low), 0);
  }
  ~Limited() { Set(resource_, &before_); }
  Limited(const Limited&) = delete;
  Limited& operator=(const Limited&) = delete;

 private:
  static int Get(int resource, rlimit* limit) {
    return prlimit(0, static_cast<__rlimit_resource>(resource), nullptr, limit);
  }
  static int Set(int resource, const rlimit* limit) {
    return prlimit(0, static_cast<__rlimit_resource>(resource), limit, nullptr);
  }

  int resource_;
  rlimit before_{};
};

mode_t ModeOf(const fs::path& path) {
  struct stat status {};
  EXPECT_EQ(lstat(path.c_str(), &status), 0) << path;
  return status.st_mode & 07777;
}

TEST_F(RegistryTest, ListsWhatWasTaken) {
  OwnEntry own = Things().Take(Named("one"));
  own.Write({{"further", 1}});
  ASSERT_THAT(List(), SizeIs(1));
  const Coloured entry = List()[0];
  EXPECT_EQ(entry.name, "one");
  EXPECT_EQ(entry.folder, Root() / "one");
  EXPECT_EQ(entry.pid, getpid());
  EXPECT_EQ(entry.maker(), OwnIdentity());
  EXPECT_EQ(entry.uid, 7U);
  EXPECT_TRUE(entry.alive);
  EXPECT_FALSE(entry.unknown);
  EXPECT_EQ(entry.colour, "red");
  EXPECT_EQ(entry.lines, 2U);
  EXPECT_THAT(RemoveDead(), IsEmpty());  // no entry is removed: the maker is alive
  EXPECT_THAT(List(), SizeIs(1));
}

TEST_F(RegistryTest, NothingIsThereBeforeTheFirst) {
  EXPECT_THAT(List(), IsEmpty());
  EXPECT_THAT(RemoveDead(), IsEmpty());
  EXPECT_FALSE(fs::exists(base_ / "viaduct"));
}

TEST_F(RegistryTest, TheLastTakesTheFolderThatDoesNotStay) {
  const OwnEntry one = Things().Take(Named("one")), two = Things().Take(Named("two"));
  EXPECT_THAT(Things().Remove(one), IsEmpty());
  // Removing an entry twice is not reported as a problem.
  EXPECT_THAT(Things().Remove(one), IsEmpty());
  EXPECT_TRUE(fs::exists(Root()));
  EXPECT_THAT(Things().Remove(two), IsEmpty());
  EXPECT_FALSE(fs::exists(Root()));
  EXPECT_TRUE(fs::exists(base_ / "viaduct"));
}

TEST_F(RegistryTest, OneOfSeveralMakersWins) {
  constexpr int kMakers = 8;
  int ready[2], won[2];
  ASSERT_EQ(pipe(ready), 0);
  ASSERT_EQ(pipe(won), 0);
  std::vector<Child> makers;
  for (int i = 0; i < kMakers; ++i) {
    const pid_t child = fork();
    if (child == 0) {
      char byte;
      (void)!read(ready[0], &byte, 1);
      try {
        const OwnEntry own = Things().Take(Named("one"));
        (void)!write(won[1], own.name == "one" ? "w" : "?", 1);
        while (true) pause();
      } catch (const NameTaken& taken) {
        (void)!write(won[1], taken.holder.alive ? "a" : "?", 1);
      }
      ExitForked(0);
    }
    makers.emplace_back(child);
  }
  ASSERT_EQ(write(ready[1], "12345678", kMakers), kMakers);
  std::string answers;
  for (char byte; answers.size() < kMakers && read(won[0], &byte, 1) == 1;) answers += byte;
  EXPECT_EQ(std::count(answers.begin(), answers.end(), 'w'), 1) << answers;
  EXPECT_EQ(std::count(answers.begin(), answers.end(), 'a'), kMakers - 1) << answers;
  EXPECT_THAT(NamesIn(OpenTrusted({Root(), {}}).get()), ElementsAre("one"));
}

TEST_F(RegistryTest, TheDeadAreToldFromTheLiving) {
  EXPECT_FALSE(Things().HasDead());
  TakeAndDie("one");
  ASSERT_THAT(List(), SizeIs(1));
  EXPECT_FALSE(List()[0].alive);
  EXPECT_TRUE(Things().HasDead());
  try {
    Things().Take(Named("one"));
    FAIL() << "a dead one has the name";
  } catch (const NameTaken& taken) {
    EXPECT_FALSE(taken.holder.alive);
    EXPECT_GT(taken.holder.pid, 0);
  }
  NewEntry heir = Named("one");
  heir.from_dead = true;
  const OwnEntry own = Things().Take(heir);
  EXPECT_TRUE(List()[0].alive);
  EXPECT_THROW(Things().Take(heir), NameTaken);
}

TEST_F(RegistryTest, AReusedNumberIsAnotherProcess) {
  const OwnEntry own = Things().Take(Named("one"));
  const std::string text = ReadFile(own.folder / "record");
  nlohmann::json line = nlohmann::json::parse(text);
  line["start_time"] = own.start_time - 2;
  WriteFile(own.folder / "record", line.dump() + "\n");
  EXPECT_FALSE(List()[0].alive);
  // Removes nothing, because the entry now belongs to another maker.
  EXPECT_THAT(Things().Remove(own), IsEmpty());
  EXPECT_FALSE(Things().Open(own));
  EXPECT_THAT(RemoveDead(), ElementsAre("one"));
  EXPECT_THAT(List(), IsEmpty());
}

TEST_F(RegistryTest, AMakerKilledBeforeNamingLeavesNothingForLong) {
  NewEntry half = Named("one");
  half.complete = [](int) { raise(SIGKILL); };
  Killed([&] { Things().Take(half); });
  EXPECT_THAT(List(), IsEmpty());
  EXPECT_THAT(NamesIn(OpenTrusted({Root(), {}}).get()), SizeIs(1));
  EXPECT_TRUE(Things().HasDead());
  // Takes the name of an entry whose maker was killed: the name is free.
  const OwnEntry own = Things().Take(Named("one"));
  EXPECT_THAT(RemoveDead(), IsEmpty());
  EXPECT_FALSE(Things().HasDead());
  EXPECT_THAT(NamesIn(OpenTrusted({Root(), {}}).get()), ElementsAre("one"));
}

TEST_F(RegistryTest, AnEntryIsCompleteBeforeItHasItsName) {
  NewEntry wanted = Named("one");
  UniqueFd listener;
  wanted.complete = [&](int folder) {
    listener = ListenAt(PathIn(folder, "socket"), geteuid(), getegid(), SOCK_STREAM);
    EXPECT_THAT(List(), IsEmpty());
  };
  const OwnEntry own = Things().Take(wanted);
  const UniqueFd folder = Things().Open(own);
  EXPECT_TRUE(ConnectAt(PathIn(folder.get(), "socket"), SOCK_STREAM));
  EXPECT_TRUE(ConnectAt(own.folder / "socket", SOCK_STREAM));
}

TEST_F(RegistryTest, WhatCannotBeCompletedLeavesNothing) {
  NewEntry wanted = Named("one");
  wanted.complete = [](int) { throw Error("no"); };
  EXPECT_THROW(Things().Take(wanted), Error);
  EXPECT_FALSE(fs::exists(Root()));
}

TEST_F(RegistryTest, AFolderThatAMakerLeftEmptyIsRemoved) {
  MakeTrusted({base_, {{"viaduct"}, {"things", 0755, false}}});
  EXPECT_TRUE(Things().HasDead());
  EXPECT_THAT(RemoveDead(), IsEmpty());
  EXPECT_FALSE(fs::exists(Root()));
}

TEST_F(RegistryTest, DamagedEntriesAreReportedAndKept) {
  for (const char* text : {"", "{}\n", "hello\n", "{\"record\":1}\n", "{\"record\":2", "[]\n"}) {
    TakeAndDie("one");
    WriteFile(Root() / "one/record", text);
    ASSERT_THAT(List(), SizeIs(1)) << text;
    EXPECT_EQ(List()[0].pid, 0) << text;
    EXPECT_FALSE(List()[0].alive);
    EXPECT_THAT(RemoveDead(), IsEmpty());
    EXPECT_THAT(problems_, ElementsAre(HasSubstr("one has no readable record")));
    EXPECT_THROW(Things().Take(Named("one")), NameTaken);
    fs::remove_all(Root() / "one");
  }
}

TEST_F(RegistryTest, WhatTheKindCannotReadIsDamaged) {
  Killed([&] { Things().Take({"one"}); });  // the first line lacks the colour
  ASSERT_THAT(List(), SizeIs(1));
  EXPECT_EQ(List()[0].pid, 0);
  EXPECT_EQ(List()[0].name, "one");
}

TEST_F(RegistryTest, TheLineAWriterWasKilledInIsLeftOut) {
  TakeAndDie("one");
  std::ofstream(Root() / "one/record", std::ios::app) << "{\"whole\":1}\n{\"half\":";
  EXPECT_EQ(List()[0].lines, 2U);
}

TEST_F(RegistryTest, AShortageOfDescriptorsIsTakenForNoDamage) {
  const OwnEntry own = Things().Take(Named("one"));
  const int lowest = UniqueFd(dup(own.record.get())).get();
  int listed = 0;
  for (int free = 0; free < 16; ++free) {
    std::vector<Coloured> all;
    try {
      const Limited few(RLIMIT_NOFILE, static_cast<rlim_t>(lowest + free));
      all = List();
    } catch (const SystemError& error) {
      EXPECT_EQ(error.error_number(), EMFILE) << error.what();
      continue;
    }
    ++listed;
    ASSERT_THAT(all, SizeIs(1)) << free;
    EXPECT_TRUE(all[0].alive) << free << ": " << all[0].damage;
  }
  EXPECT_GT(listed, 0);
}

TEST_F(RegistryTest, ALineThatFailsIsNotThere) {
  OwnEntry own = Things().Take(Named("one"));
  const auto before = std::signal(SIGXFSZ, SIG_IGN);
  {
    const Limited full(RLIMIT_FSIZE, fs::file_size(own.folder / "record") + 10);
    EXPECT_THROW(own.Write({{"further", std::string(100, 'x')}}), SystemError);
  }
  std::signal(SIGXFSZ, before);
  own.Write({{"next", 1}});
  EXPECT_EQ(List()[0].lines, 2U) << List()[0].damage;
}

TEST_F(RegistryTest, AnOwnRecordIsReadWhateverHasBecomeOfItsFolder) {
  OwnEntry own = Things().Take(Named("one"));
  own.Write({{"further", 1}});
  fs::remove_all(Root());
  EXPECT_EQ(own.Read<Coloured>().lines, 2U);
  own.Write({{"further", 2}});  // appends the line at the end of the file, also after Read()
  EXPECT_EQ(own.Read<Coloured>().lines, 3U);
  EXPECT_EQ(own.Read<Coloured>().maker(), OwnIdentity());
}

TEST_F(RegistryTest, ALivingEntryKeepsItsNameWhileADeadOneOfThatNameIsRemoved) {
  TakeAndDie("one");
  const Coloured dead = List()[0];
  EXPECT_THAT(RemoveDead(), ElementsAre("one"));
  const OwnEntry own = Things().Take(Named("one"));
  const UniqueFd watch(inotify_init1(IN_NONBLOCK | IN_CLOEXEC));
  ASSERT_GE(inotify_add_watch(watch.get(), Root().c_str(), IN_MOVED_FROM), 0);
  EXPECT_THAT(Things().Remove(dead), IsEmpty());
  std::array<char, 4096> events;
  EXPECT_EQ(read(watch.get(), events.data(), events.size()), -1) << "it had no name for a while";
  EXPECT_TRUE(List().at(0).alive);
}

TEST_F(RegistryTest, ModesAreWhatTheyAreWhateverTheUmask) {
  for (const mode_t mask : {mode_t{0}, mode_t{0077}}) {
    const mode_t before = umask(mask);
    const OwnEntry open = Things().Take(Named("open"));
    umask(before);
    EXPECT_EQ(ModeOf(base_ / "viaduct"), 0755U);
    EXPECT_EQ(ModeOf(Root()), 0755U);
    EXPECT_EQ(ModeOf(open.folder), 0755U);
    EXPECT_EQ(ModeOf(open.folder / "record"), 0644U);
    Things().Remove(open);
    const OwnEntry hidden = Things(0700).Take(Named("hidden"));
    EXPECT_EQ(ModeOf(Root()), 0700U);
    EXPECT_EQ(ModeOf(hidden.folder), 0700U);
    Things().Remove(hidden);
    fs::remove_all(base_ / "viaduct");
  }
}

TEST_F(RegistryTest, SymbolicLinksAreNotFollowed) {
  const fs::path home = base_ / "home";
  fs::create_directories(home / "deep");
  WriteFile(home / "record", "precious");
  TakeAndDie("one");
  // Puts a symbolic link in the place of an entry.
  fs::create_directory_symlink(home, Root() / "two");
  EXPECT_THAT(List(), SizeIs(1));
  EXPECT_THROW(Things().Take(Named("two")), NameTaken);
  // Puts a symbolic link in the place of an entry that has no name yet.
  fs::create_directory_symlink(
      home, Root() / fmt::format(".new-99999999-1-{}-x", OwnIdentity().pid_namespace));
  // Puts a symbolic link in the place of a record.
  fs::create_directory(Root() / "three");
  fs::create_symlink(Root() / "one/record", Root() / "three/record");
  EXPECT_THAT(RemoveDead(), ElementsAre("one"));
  EXPECT_THAT(problems_, SizeIs(1));
  EXPECT_TRUE(fs::exists(home / "record"));
  // Puts a symbolic link in the place of the registry.
  fs::rename(Root(), base_ / "moved");
  fs::create_directory_symlink(base_ / "moved", Root());
  EXPECT_THROW(List(), EnvironmentError);
  EXPECT_THROW(Things().Take(Named("one")), EnvironmentError);
}

TEST_F(RegistryTest, OnlyWhatAnEntryEverHoldsIsRemoved) {
  TakeAndDie("one");
  WriteFile(Root() / "one/thesis", "precious");
  EXPECT_THAT(RemoveDead(), IsEmpty());
  EXPECT_THAT(problems_, ElementsAre(HasSubstr("not empty")));
  int found = 0;
  for (const auto& file : fs::recursive_directory_iterator(Root())) {
    found += file.path().filename() == "thesis";
  }
  EXPECT_EQ(found, 1);
}

TEST_F(RegistryTest, FoldersThatOthersMayWriteToAreNotTrusted) {
  TakeAndDie("one");
  fs::permissions(Root() / "one", fs::perms::others_write, fs::perm_options::add);
  EXPECT_EQ(List()[0].pid, 0);
  fs::permissions(Root(), fs::perms::group_write, fs::perm_options::add);
  try {
    List();
    FAIL() << "others may write there";
  } catch (const EnvironmentError& error) {
    EXPECT_THAT(error.what(), HasSubstr("can be written by other users; remove this directory"));
  }
}

TEST_F(RegistryTest, ThousandsAreRemoved) {
  constexpr size_t kMany = 1500;  // more than the usual limit of descriptors
  Killed([&] {
    for (size_t i = 0; i < kMany; ++i) Things().Take(Named(std::to_string(i)));
  });
  EXPECT_THAT(List(), SizeIs(kMany));
  EXPECT_THAT(RemoveDead(), SizeIs(kMany));
  EXPECT_THAT(problems_, IsEmpty());
  EXPECT_FALSE(fs::exists(Root()));
}

TEST_F(RegistryTest, FindsTheOnlyLivingOne) {
  const FindWords words{"none", "no such; there are {}", "several: {}"};
  const auto find = [&](const std::string& name) {
    return FindLive<Coloured>(
               List(), [&](const Coloured& each) { return name.empty() || each.name == name; },
               words)
        .name;
  };
  const auto error_of = [&](const std::string& name) -> std::string {
    try {
      return "found " + find(name);
    } catch (const UsageError& error) {
      return error.what();
    }
  };
  TakeAndDie("dead");
  EXPECT_EQ(error_of(""), "none");
  const OwnEntry one = Things().Take(Named("one"));
  EXPECT_EQ(find(""), "one");
  EXPECT_EQ(error_of("dead"), "no such; there are one");
  const OwnEntry two = Things().Take(Named("two"));
  EXPECT_EQ(error_of(""), "several: one, two");
  EXPECT_EQ(find("two"), "two");
}

}  // namespace
}  // namespace viaduct::sys
