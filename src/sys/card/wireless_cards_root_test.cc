#include <gmock/gmock.h>
#include <unistd.h>

#include <filesystem>

#include "base/error.h"
#include "sys/card/wireless_cards.h"
#include "sys/network/link.h"
#include "sys/network/netns.h"

namespace viaduct::sys {
namespace {

using ::testing::IsEmpty;

// Runs in a new namespace, which has no card, even if the machine's kernel has Wi-Fi cards.
class WirelessCardsRootTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (geteuid() != 0) GTEST_SKIP() << "needs root to make network namespaces";
    here_ = CreateNamelessNamespace();
    there_ = CreateNamelessNamespace();
  }

  UniqueFd here_, there_;
};

TEST_F(WirelessCardsRootTest, OrdinaryInterfacesAreOnNone) {
  Netlink(here_.get()).CreateVethPair({-1, "nic0", std::nullopt}, {-1, "nic1", std::nullopt});
  EXPECT_THAT(KernelCards().Interfaces(here_.get()), IsEmpty());
}

TEST_F(WirelessCardsRootTest, AskingLoadsNoModule) {
  const bool before = std::filesystem::exists("/sys/module/cfg80211");
  KernelCards().Interfaces(here_.get());
  EXPECT_EQ(std::filesystem::exists("/sys/module/cfg80211"), before);
}

TEST_F(WirelessCardsRootTest, OneThatIsNotThereIsAnError) {
  if (!KnowsCards()) GTEST_SKIP() << "a build without libnl-genl-3";
  EXPECT_THROW(KernelCards().Inspect(here_.get(), 7), SystemError);
  EXPECT_THROW(KernelCards().Move(7, here_.get(), there_.get()), SystemError);
}

}  // namespace
}  // namespace viaduct::sys
