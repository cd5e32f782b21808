// Compares the results of the probes with the features that can really be used. Needs root;
// everything happens in scratch namespaces.
#include <gtest/gtest.h>
#include <unistd.h>

#include <map>

#include "base/error.h"
#include "sys/network/features.h"
#include "sys/network/link.h"
#include "sys/network/netns.h"
#include "sys/network/offload.h"
#include "sys/network/qdisc.h"

namespace viaduct::sys {
namespace {

class SysRootTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (geteuid() != 0) GTEST_SKIP() << "needs root to make network namespaces";
  }
};

// Runs `install` on one end of a fresh veth pair; returns false if the kernel lacks the qdisc.
bool CanInstall(const std::function<void(Netlink&, const QdiscPlace&)>& install) {
  bool installed = true;
  InScratchNamespace([&] {
    Netlink session;
    session.CreateVethPair({-1, "a", std::nullopt}, {-1, "b", std::nullopt});
    try {
      install(session, {session.IfIndex("a")});
    } catch (const EnvironmentError&) {
      installed = false;
    }
  });
  return installed;
}

TEST_F(SysRootTest, ProbesTellTheTruth) {
  std::map<std::string, Feature::State> states;
  for (const Feature& feature : ProbeFeatures()) {
    states[feature.name] = feature.state;
    EXPECT_EQ(feature.remedy.empty(), feature.state == Feature::State::kPresent) << feature.name;
    EXPECT_NE(feature.state, Feature::State::kUnknown) << feature.name << ": " << feature.detail;
  }
  const auto present = [&](const char* name) {
    return states.at(name) == Feature::State::kPresent;
  };
  EXPECT_TRUE(present("veth"));
  EXPECT_EQ(present("tbf"), CanInstall([](Netlink& session, const QdiscPlace& place) {
              AddTokenBucket(session, place, {1000000, 3028, 100000});
            }));
  EXPECT_EQ(present("netem"), CanInstall([](Netlink& session, const QdiscPlace& place) {
              Netem netem;
              netem.delay = Duration::Milliseconds(10);
              AddNetem(session, place, netem);
            }));
  EXPECT_EQ(present("fq_codel"), CanInstall([](Netlink& session, const QdiscPlace& place) {
              AddDefaultQdisc(session, place, "fq_codel");
            }));
}

TEST_F(SysRootTest, ScopeComesBack) {
  const uint64_t before = NamespaceInode(OpenCurrentNamespace().get());
  InScratchNamespace([&] {
    const UniqueFd scratch = OpenCurrentNamespace();
    const uint64_t here = NamespaceInode(scratch.get());
    EXPECT_NE(here, before);
    {
      NamespaceScope scope(OpenNamespaceOfProcess(getpid()).get());
      EXPECT_EQ(NamespaceInode(OpenCurrentNamespace().get()), before);
    }
    EXPECT_EQ(NamespaceInode(OpenCurrentNamespace().get()), here);
  });
  EXPECT_EQ(NamespaceInode(OpenCurrentNamespace().get()), before);
}

TEST_F(SysRootTest, SegmentationGoesWithoutChecksums) {
  InScratchNamespace([] {
    Netlink session;
    session.CreateVethPair({-1, "a", std::nullopt}, {-1, "b", std::nullopt});
    const UniqueFd here = OpenCurrentNamespace();
    EXPECT_FALSE(ActiveOffloads(here.get(), "a", Offloads::kSegmentation).empty());
    DisableOffloads(here.get(), "a", Offloads::kSegmentation);
    EXPECT_TRUE(ActiveOffloads(here.get(), "a", Offloads::kSegmentation).empty());
    EXPECT_FALSE(ActiveOffloads(here.get(), "a", Offloads::kAll).empty());
    EXPECT_THROW(DisableOffloads(here.get(), "nosuch", Offloads::kAll), SystemError);
  });
}

TEST_F(SysRootTest, ErrorsNameTheObjectAndTheKernelsReason) {
  InScratchNamespace([] {
    Netlink session;
    try {
      session.AddRoute(wire::IpPrefix::Parse("10.0.0.0/8"), wire::IpAddress::Parse("192.0.2.1"),
                       session.IfIndex("lo"));
      ADD_FAILURE() << "accepted";
    } catch (const SystemError& error) {
      const std::string text = error.what();
      EXPECT_NE(text.find("add route 10.0.0.0/8 via 192.0.2.1"), std::string::npos) << text;
      EXPECT_NE(text.find("(kernel: "), std::string::npos) << text;
    }
  });
}

}  // namespace
}  // namespace viaduct::sys
