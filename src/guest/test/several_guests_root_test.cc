// Tests of several guests in one process. They need an image (viaduct kernel build), but no
// privilege.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>
#include <filesystem>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "base/error.h"
#include "guest/agent/program_client.h"
#include "guest/embed/embedded_kernel.h"
#include "guest/test/real_guest.h"

namespace viaduct::guest {
namespace {

using testing::HasSubstr;

// A guest with one node, and the output of its programs.
class Member : public RealGuest {
 public:
  explicit Member(GuestPlace place) : RealGuest(Duration::Seconds(20)) {
    MakeGuest("guest of " + NameOf(place), place);
    programs_ = std::make_unique<ProgramClient>(*agent_);
    node_ = agent_->CreateNode("a");
    calendar_.Boot();
    taken_.reset();
  }

  void RunUntil(int64_t ms) { queue_.RunUntil(AtMs(ms)); }
  void Signal(int number) { guest_->Signal(number); }

  // Runs a script in a shell on the node for at most 10 s of virtual time. Returns the shell's
  // output and status.
  std::string Shell(const std::string& script) {
    ProgramRequest request;
    request.node = node_;
    request.words = {"sh", "-c", script};
    request.environment = DefaultEnvironment();
    std::string text;
    ProgramEvents events;
    events.started = [&text](int error_number, const std::string&) {
      if (error_number != 0) text += "error " + std::to_string(error_number);
    };
    events.output = [&text](int, std::span<const std::byte> bytes) {
      text.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    };
    events.exited = [&text](int status) { text += "status " + std::to_string(status); };
    programs_->Start(request, std::move(events));
    queue_.RunUntil(queue_.Now() + Duration::Seconds(10));
    return text;
  }

 private:
  std::unique_ptr<ProgramClient> programs_;
  uint32_t node_ = 0;
};

// A fixture with three simulations of one guest each, so that one simulation can end without the
// other two.
class SeveralGuestsTest : public testing::Test {
 protected:
  void SetUp() override {
    try {
      Add(GuestPlace::kMoved);
      Add(GuestPlace::kEmbedded);
      Add(GuestPlace::kMoved);
    } catch (const Error& error) {
      GTEST_SKIP() << error.what();
    }
  }

  void Add(GuestPlace place) { members_.push_back(std::make_unique<Member>(place)); }

  std::vector<std::unique_ptr<Member>> members_;
};

// A script that forks, sleeps and reads files. The script's output shows the processes, the time
// and the memory of the guest, and the properties that the kernel learned from its host.
constexpr const char* kScript =
    "echo $$ $(uname -r); sleep 0.25; cat /proc/uptime; grep MemTotal /proc/meminfo; ls /proc | wc "
    "-l; LD_SHOW_AUXV=1 cat /dev/null | grep -E 'HWCAP:|PLATFORM'";

TEST_F(SeveralGuestsTest, EachIsAsIfItWereAlone) {
  const std::string alone = Member(GuestPlace::kProcess).Shell(kScript);
  EXPECT_THAT(alone, HasSubstr("status 0"));
  for (const auto& member : members_) EXPECT_EQ(member->Shell(kScript), alone);
}

TEST_F(SeveralGuestsTest, EndsInAnyOrder) {
  for (const size_t gone : {1, 0}) {
    members_.erase(members_.begin() + static_cast<ptrdiff_t>(gone));
    for (const auto& member : members_)
      EXPECT_EQ(member->Shell("echo present"), "present\nstatus 0");
  }
  Add(GuestPlace::kEmbedded);  // at the addresses of an earlier guest
  for (const auto& member : members_) EXPECT_EQ(member->Shell("echo present"), "present\nstatus 0");
}

TEST_F(SeveralGuestsTest, KilledOneIsAnErrorThatLeavesTheOthers) {
  members_[0]->Signal(SIGKILL);
  try {
    members_[0]->RunUntil(100'000);
    ADD_FAILURE() << "no error";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("guest of Moved was killed by signal 9"));
  }
  members_[1]->Signal(SIGKILL);
  EXPECT_THROW(members_[1]->RunUntil(100'000), Error);
  EXPECT_EQ(members_[2]->Shell("echo present"), "present\nstatus 0");
}

// Checks that a panic of one guest ends that guest, but neither the process nor another guest.
TEST_F(SeveralGuestsTest, PanicIsAnErrorThatLeavesTheOthers) {
  try {
    members_[2]->Shell("echo 2 >/proc/sys/vm/panic_on_oom; tail /dev/zero");
    ADD_FAILURE() << "no error";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("guest of Moved"));
  }
  EXPECT_EQ(members_[0]->Shell("echo present"), "present\nstatus 0");
  EXPECT_EQ(members_[1]->Shell("echo present"), "present\nstatus 0");
}

TEST_F(SeveralGuestsTest, NoneIsAddedInAnotherThread) {
  const std::string file = FindImage("").file;
  std::string there;
  std::thread([&] { there = embed::Unavailable(file, uint64_t{64} << 20); }).join();
  EXPECT_THAT(there, HasSubstr("other guests run in another thread of this process"));
  EXPECT_EQ(embed::Unavailable(file, uint64_t{64} << 20), "");
  members_.clear();
  std::thread([&] { there = embed::Unavailable(file, uint64_t{64} << 20); }).join();
  EXPECT_EQ(there, "");
}

// Checks that a guest for which no addresses are free reports an error, and that the earlier guests
// continue.
TEST_F(SeveralGuestsTest, SpaceEnds) {
  std::string why;
  while (members_.size() < 40 && why.empty()) {
    try {
      Add(GuestPlace::kMoved);
    } catch (const EnvironmentError& error) {
      why = error.what();
    }
  }
  EXPECT_THAT(why, HasSubstr("finds no free addresses in this process"));
  EXPECT_GE(members_.size(), 8U);
  for (const auto& member : members_) EXPECT_EQ(member->Shell("echo present"), "present\nstatus 0");
}

}  // namespace
}  // namespace viaduct::guest
