// What is done to a card whose driver is played by this file: no card with a clock is at hand.
#include <gtest/gtest.h>
#include <linux/ethtool.h>
#include <linux/if.h>
#include <linux/net_tstamp.h>
#include <linux/sockios.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdarg>
#include <cstring>
#include <functional>
#include <string>
#include <string_view>

#include "base/error.h"
#include "sys/card/hardware_stamps.h"
#include "sys/network/link.h"
#include "sys/network/netns.h"
#include "sys/process.h"

namespace viaduct::sys {
namespace {

// A driver, in memory that forked processes share. It stands behind interface "card".
struct Driver {
  std::atomic<bool> is_there = false;
  uint32_t so_timestamping =
      SOF_TIMESTAMPING_RAW_HARDWARE | SOF_TIMESTAMPING_RX_HARDWARE | SOF_TIMESTAMPING_TX_HARDWARE;
  uint32_t rx_filters = 1 << HWTSTAMP_FILTER_NONE | 1 << HWTSTAMP_FILTER_ALL;
  int phc = 7;
  int error = 0;  // that switching on fails with
  std::atomic<int> tx = HWTSTAMP_TX_OFF, rx = HWTSTAMP_FILTER_PTP_V2_EVENT;
  std::atomic<int> changes = 0;
};
Driver* driver = nullptr;

int Answer(unsigned long request, const ifreq& about) {
  if (request == SIOCETHTOOL) {
    auto* const info = reinterpret_cast<ethtool_ts_info*>(about.ifr_data);
    info->so_timestamping = driver->so_timestamping;
    info->phc_index = driver->phc;
    info->tx_types = 1 << HWTSTAMP_TX_OFF | 1 << HWTSTAMP_TX_ON;
    info->rx_filters = driver->rx_filters;
    return 0;
  }
  auto* const setting = reinterpret_cast<hwtstamp_config*>(about.ifr_data);
  if (request == SIOCGHWTSTAMP) {
    *setting = {0, driver->tx, driver->rx};
    return 0;
  }
  if (driver->error != 0) {
    errno = driver->error;
    return -1;
  }
  driver->tx = setting->tx_type;
  driver->rx = setting->rx_filter;
  ++driver->changes;
  return 0;
}

bool IsForDriver(unsigned long request, const ifreq* about) {
  if (request != SIOCETHTOOL && request != SIOCGHWTSTAMP && request != SIOCSHWTSTAMP) return false;
  if (driver == nullptr || !driver->is_there || std::string_view(about->ifr_name) != "card") {
    return false;
  }
  uint32_t command = ETHTOOL_GET_TS_INFO;
  if (request == SIOCETHTOOL) std::memcpy(&command, about->ifr_data, sizeof command);
  return command == ETHTOOL_GET_TS_INFO;
}

}  // namespace
}  // namespace viaduct::sys

// In place of libc's, for the whole of this program.
extern "C" int ioctl(int fd, unsigned long request, ...) noexcept {
  va_list rest;
  va_start(rest, request);
  void* const argument = va_arg(rest, void*);
  va_end(rest);
  const auto* const about = static_cast<const ifreq*>(argument);
  if (viaduct::sys::IsForDriver(request, about)) return viaduct::sys::Answer(request, *about);
  return static_cast<int>(syscall(SYS_ioctl, fd, request, argument));
}

namespace viaduct::sys {
namespace {

class HardwareStampsTest : public testing::Test {
 protected:
  void SetUp() override {
    if (geteuid() != 0) GTEST_SKIP() << "needs root to make network namespaces";
    void* const memory =
        mmap(nullptr, sizeof(Driver), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    ASSERT_NE(memory, MAP_FAILED);
    driver = new (memory) Driver;
    driver->is_there = true;
  }
  void TearDown() override {
    if (driver != nullptr) munmap(driver, sizeof(Driver));
    driver = nullptr;
  }

  // In a process of its own, with an interface "card" whose clock is /dev/ptp7, which nobody else
  // sees. Returns the process.
  static pid_t Fork(const std::function<void()>& work) {
    const pid_t pid = fork();
    if (pid != 0) return pid;
    int status = 1;
    try {
      SystemCall("unshare", unshare(CLONE_NEWNS | CLONE_NEWNET));
      SystemCall("mount", mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr));
      SystemCall("mount", mount("none", "/dev", "tmpfs", 0, nullptr));
      SystemCall("mknod", mknod("/dev/null", S_IFCHR | 0666, makedev(1, 3)));
      SystemCall("mknod", mknod("/dev/ptp7", S_IFREG | 0600, 0));
      Netlink().CreateVethPair({-1, "card", std::nullopt}, {-1, "peer", std::nullopt});
      work();
      status = testing::Test::HasFailure() ? 1 : 0;
    } catch (const std::exception& error) {
      std::fprintf(stderr, "%s\n", error.what());
    }
    _exit(status);
  }
  static void Run(const std::function<void()>& work) {
    int status = 0;
    waitpid(Fork(work), &status, 0);
    EXPECT_EQ(status, 0);
  }
  static std::string Refusal(const std::string& interface = "card") {
    try {
      const HardwareStamps stamps(interface);
    } catch (const EnvironmentError& error) {
      return error.what();
    }
    return "";
  }
};

TEST_F(HardwareStampsTest, SwitchesOnAndRestores) {
  Run([] {
    {
      const HardwareStamps stamps("card");
      EXPECT_EQ(stamps.name(), "ptp7");
      EXPECT_TRUE(*stamps.clock());
      EXPECT_TRUE(stamps.stamps_sent());
      EXPECT_EQ(driver->rx, HWTSTAMP_FILTER_ALL);
      EXPECT_EQ(driver->tx, HWTSTAMP_TX_ON);
    }
    EXPECT_EQ(driver->rx, HWTSTAMP_FILTER_PTP_V2_EVENT);
    EXPECT_EQ(driver->tx, HWTSTAMP_TX_OFF);
    EXPECT_EQ(driver->changes, 2);
  });
}

TEST_F(HardwareStampsTest, RestoresAfterAKill) {
  const pid_t pid = Fork([] {
    const HardwareStamps stamps("card");
    for (;;) pause();
  });
  while (driver->rx != HWTSTAMP_FILTER_ALL) {
    ASSERT_EQ(waitpid(pid, nullptr, WNOHANG), 0) << "it has failed";
    usleep(1000);
  }
  kill(pid, SIGKILL);
  waitpid(pid, nullptr, 0);
  for (int i = 0; i < 20000 && driver->changes < 2; ++i) usleep(1000);
  EXPECT_EQ(driver->rx, HWTSTAMP_FILTER_PTP_V2_EVENT);
  EXPECT_EQ(driver->tx, HWTSTAMP_TX_OFF);
}

TEST_F(HardwareStampsTest, LeavesWhatStampsAlready) {
  driver->rx = HWTSTAMP_FILTER_ALL;
  driver->tx = HWTSTAMP_TX_ON;
  Run([] { EXPECT_TRUE(HardwareStamps("card").stamps_sent()); });
  EXPECT_EQ(driver->changes, 0);
}

TEST_F(HardwareStampsTest, SaysWhyNotAndChangesNothing) {
  Run([] {
    driver->error = EOPNOTSUPP;
    EXPECT_NE(Refusal().find("SIOCSHWTSTAMP"), std::string::npos);
    driver->error = 0;
    driver->rx_filters = 1 << HWTSTAMP_FILTER_NONE | 1 << HWTSTAMP_FILTER_PTP_V2_EVENT;
    EXPECT_NE(Refusal().find("only frames of PTP"), std::string::npos);
    driver->so_timestamping = SOF_TIMESTAMPING_RAW_HARDWARE | SOF_TIMESTAMPING_TX_HARDWARE;
    EXPECT_NE(Refusal().find("does not stamp received frames"), std::string::npos);
    driver->phc = 8;
    driver->so_timestamping |= SOF_TIMESTAMPING_RX_HARDWARE;
    driver->rx_filters |= 1 << HWTSTAMP_FILTER_ALL;
    EXPECT_NE(Refusal().find("/dev/ptp8"), std::string::npos);
    driver->is_there = false;  // a veth's own driver
    EXPECT_EQ(Refusal().rfind("card has no hardware stamps: its driver has no clock of a card", 0),
              0u);
    EXPECT_THROW(HardwareStamps("none"), SystemError);
  });
  EXPECT_EQ(driver->changes, 0);
  EXPECT_EQ(driver->rx, HWTSTAMP_FILTER_PTP_V2_EVENT);
}

}  // namespace
}  // namespace viaduct::sys
