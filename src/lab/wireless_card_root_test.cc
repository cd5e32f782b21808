// Tests Wi-Fi cards in labs, with simulated cards (test/stand_in_cards.h): which cards move, when a
// card is refused, and how cards return to the host. Needs root.
#include <gmock/gmock.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <memory>

#include "base/error.h"
#include "lab/builder.h"
#include "lab/test/lab_fixture.h"
#include "lab/test/stand_in_cards.h"
#include "sys/network/netns.h"

namespace viaduct::lab {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// Card 1 has wlan0, which is up, and mon0; card 2 has wlan1. The host is a scratch namespace.
class WirelessCardRootTest : public LabRootTest {
 protected:
  void SetUp() override {
    LabRootTest::SetUp();
    if (IsSkipped()) return;
    cards_ = &stand_in_;
    host_fd_ = sys::CreateNamelessNamespace();
    scope_ = std::make_unique<sys::NamespaceScope>(host_fd_.get());
    host_ = std::make_unique<sys::Netlink>(host_fd_.get());
    MakePart("wlan0", 1, 0);
    MakePart("mon0", 1, 1);
    MakePart("wlan1", 2, 0);
    host_->SetUp(host_->IfIndex("wlan0"), true);
  }
  void TearDown() override {
    LabRootTest::TearDown();
    scope_.reset();
  }

  void MakePart(const std::string& name, uint8_t card, uint8_t part) {
    host_->CreateVethPair({-1, name, StandInCards::MacOf(card, part), 1400},
                          {-1, name + "peer", std::nullopt});
  }

  // Gives a node of a line of two nodes the physical interface `physical`, which is called `name`
  // in the node.
  static void Give(Topology* topology, int number, const std::string& physical,
                   const std::string& name) {
    Interface interface;
    interface.name = name;
    interface.physical = physical;
    topology->nodes[static_cast<size_t>(number)].interfaces.push_back(interface);
  }

  Topology WithCard(const std::string& name = "wlan0") const {
    Topology topology = Line(2);
    Give(&topology, 0, "wlan0", name);
    return topology;
  }

  void ExpectAllBack() {
    const auto wlan0 = host_->FindLink("wlan0");
    ASSERT_TRUE(wlan0);
    EXPECT_TRUE(wlan0->up);
    EXPECT_EQ(wlan0->mtu, 1400);
    EXPECT_EQ(wlan0->mac, StandInCards::MacOf(1, 0));
    const auto mon0 = host_->FindLink("mon0");
    ASSERT_TRUE(mon0);
    EXPECT_FALSE(mon0->up);
    EXPECT_EQ(mon0->mac, StandInCards::MacOf(1, 1));
  }

  StandInCards stand_in_;
  UniqueFd host_fd_;
  std::unique_ptr<sys::NamespaceScope> scope_;
  std::unique_ptr<sys::Netlink> host_;
};

TEST_F(WirelessCardRootTest, MovesWithAllItsInterfacesAndComesBack) {
  {
    Lab lab(WithCard("wan"), Options());
    EXPECT_FALSE(host_->FindLink("wlan0"));
    EXPECT_FALSE(host_->FindLink("mon0"));
    EXPECT_TRUE(host_->FindLink("wlan1"));
    const sys::LinkInfo inside = lab.NetlinkOf("n0").GetLink("wan");
    EXPECT_TRUE(inside.up);
    EXPECT_EQ(inside.mtu, 1500);
    EXPECT_FALSE(lab.NetlinkOf("n0").GetLink("mon0").up);
  }
  EXPECT_THAT(stand_in_.moves, ElementsAre(1, 1));
  ExpectAllBack();
}

TEST_F(WirelessCardRootTest, TwoInterfacesOfOneNodeAreOneMove) {
  {
    Topology topology = WithCard();
    Give(&topology, 0, "mon0", "mon0");
    Give(&topology, 1, "wlan1", "wlan1");
    Lab lab(topology, Options());
    EXPECT_TRUE(lab.NetlinkOf("n0").GetLink("mon0").up);
    EXPECT_TRUE(lab.NetlinkOf("n1").GetLink("wlan1").up);
  }
  EXPECT_THAT(stand_in_.moves, ElementsAre(1, 2, 2, 1)) << "the last comes back first";
  ExpectAllBack();
}

TEST_F(WirelessCardRootTest, TwoNodesCannotShareIt) {
  Topology topology = WithCard();
  Give(&topology, 1, "mon0", "mon0");
  EXPECT_EQ(ErrorOfBuilding<UsageError>(topology),
            "physical interface mon0 of node n1 is on the same Wi-Fi card as wlan0 of node n0; the "
            "interfaces of a card can only move together: assign both interfaces to the same node");
  EXPECT_THAT(stand_in_.moves, IsEmpty());
  EXPECT_THAT(ListRuns(root_), IsEmpty());
}

TEST_F(WirelessCardRootTest, OneWhoseOtherInterfaceIsBusyIsRefused) {
  host_->AddAddress(host_->IfIndex("mon0"), wire::IpPrefix::Parse("198.51.100.7/24"));
  EXPECT_THAT(
      ErrorOfBuilding<UsageError>(WithCard()),
      AllOf(HasSubstr("physical interface wlan0: mon0, of the same Wi-Fi card"),
            HasSubstr("is busy: this machine uses the interface with address 198.51.100.7/24")));
  EXPECT_THAT(stand_in_.moves, IsEmpty());
  ExpectAllBack();
}

TEST_F(WirelessCardRootTest, OneWhoseDriverCannotIsRefused) {
  stand_in_.movable = false;
  EXPECT_THAT(ErrorOfBuilding<EnvironmentError>(WithCard()),
              HasSubstr("physical interface wlan0: the driver of the Wi-Fi card phy1 cannot"));
  EXPECT_THAT(stand_in_.moves, IsEmpty());
}

TEST_F(WirelessCardRootTest, AnInterfaceThatCameAlongIsInUse) {
  Lab lab(WithCard(), Options());
  Topology other = Line(2);
  other.name += "b";
  Give(&other, 0, "mon0", "mon0");
  EXPECT_THAT(ErrorOfBuilding<UsageError>(other),
              HasSubstr("physical interface mon0 is in use by lab " + name_));
}

TEST_F(WirelessCardRootTest, ComesBackAfterAKilledRun) {
  int ready[2];
  ASSERT_EQ(pipe(ready), 0);
  const pid_t child = fork();
  if (child == 0) {
    Lab lab(WithCard("wan"), Options());
    if (write(ready[1], "x", 1) != 1) _exit(1);
    while (true) pause();
  }
  char byte;
  ASSERT_EQ(read(ready[0], &byte, 1), 1);
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
  EXPECT_FALSE(host_->FindLink("wlan0"));
  std::vector<std::string> problems;
  EXPECT_EQ(RemoveDeadRuns(&problems, root_, stand_in_).size(), 1U);
  EXPECT_THAT(problems, IsEmpty());
  ExpectAllBack();
}

// Simulates a process that was killed between the kernel's move of the card and the naming of its
// interfaces.
TEST_F(WirelessCardRootTest, AnInterruptedWayInIsUndone) {
  stand_in_.breaks_after_move = true;
  EXPECT_EQ(ErrorOfBuilding<Error>(WithCard("wan")), "interrupted");
  EXPECT_THAT(stand_in_.moves, ElementsAre(1, 1));
  ExpectAllBack();
}

TEST_F(WirelessCardRootTest, AnInterruptedWayBackIsCompleted) {
  Lab lab(WithCard("wan"), Options());
  stand_in_.breaks_after_move = true;
  EXPECT_THAT(lab.Remove(), ElementsAre(HasSubstr("interrupted")));
  EXPECT_TRUE(host_->FindLink("wan")) << "back, by the node's name";
  EXPECT_THAT(lab.Remove(), IsEmpty());
  EXPECT_THAT(stand_in_.moves, ElementsAre(1, 1));
  ExpectAllBack();
}

// The kernel renames a moved interface if its name is taken in the destination namespace.
TEST_F(WirelessCardRootTest, AnInterfaceWhoseNameANodeHasKeepsItOnTheHost) {
  host_->Rename(host_->IfIndex("mon0"), "eth1");
  {
    Lab lab(WithCard(), Options());
    EXPECT_EQ(lab.NetlinkOf("n0").GetLink("wlan0").mac, StandInCards::MacOf(1, 0));
    EXPECT_NE(lab.NetlinkOf("n0").GetLink("eth1").mac, StandInCards::MacOf(1, 1));
    EXPECT_FALSE(host_->FindLink("eth1"));
  }
  EXPECT_EQ(host_->GetLink("eth1").mac, StandInCards::MacOf(1, 1));
}

// The name eth1 is taken in the node, so the kernel gives the card's interface eth1 (formerly mon0)
// the name "wlan0" there, before it moves the card's interface wlan0.
TEST_F(WirelessCardRootTest, NoInterfaceKeepsANameThatAnotherOfItsCardIsToHave) {
  host_->Rename(host_->IfIndex("mon0"), "eth1");
  Lab lab(WithCard(), Options());
  EXPECT_EQ(lab.NetlinkOf("n0").GetLink("wlan0").mac, StandInCards::MacOf(1, 0));
  EXPECT_EQ(lab.NetlinkOf("n0").GetLink("moved0").mac, StandInCards::MacOf(1, 1));
}

TEST_F(WirelessCardRootTest, NoInterfaceKeepsANameThatOneOfAnotherCardIsToHave) {
  host_->SetUp(host_->IfIndex("wlan0"), false);
  host_->Rename(host_->IfIndex("wlan0"), "wlan7");
  host_->Rename(host_->IfIndex("mon0"), "eth1");
  host_->Rename(host_->IfIndex("wlan1"), "wlan0");
  Topology topology = Line(2);
  Give(&topology, 0, "wlan7", "wlan7");
  Give(&topology, 0, "wlan0", "wlan0");
  {
    Lab lab(topology, Options());
    EXPECT_EQ(lab.NetlinkOf("n0").GetLink("wlan0").mac, StandInCards::MacOf(2, 0));
    EXPECT_EQ(lab.NetlinkOf("n0").GetLink("wlan7").mac, StandInCards::MacOf(1, 0));
    EXPECT_EQ(lab.NetlinkOf("n0").GetLink("moved0").mac, StandInCards::MacOf(1, 1));
  }
  EXPECT_EQ(host_->GetLink("eth1").mac, StandInCards::MacOf(1, 1));
  EXPECT_EQ(host_->GetLink("wlan7").mac, StandInCards::MacOf(1, 0));
  EXPECT_EQ(host_->GetLink("wlan0").mac, StandInCards::MacOf(2, 0));
}

TEST_F(WirelessCardRootTest, StaysRecordedWhileItCannotComeBack) {
  Lab lab(WithCard(), Options());
  host_->CreateBridge("mon0", 1500);  // another interface of the host has taken the name
  EXPECT_THAT(lab.Remove(),
              ElementsAre(HasSubstr(
                  "physical interface mon0 cannot return to the machine from namespace ")));
  EXPECT_EQ(ListRuns(root_).size(), 1U);
  host_->DeleteLink(host_->IfIndex("mon0"));
  EXPECT_THAT(lab.Remove(), IsEmpty());
  ExpectAllBack();
}

// An interface that a node's program added to the card moves with the card.
TEST_F(WirelessCardRootTest, AnInterfaceThatANodeAddedComesAlong) {
  {
    Lab lab(WithCard(), Options());
    lab.NetlinkOf("n0").CreateVethPair({-1, "mesh0", StandInCards::MacOf(1, 2)},
                                       {-1, "mesh0peer", std::nullopt});
  }
  EXPECT_TRUE(host_->FindLink("mesh0"));
  ExpectAllBack();
}

// A bridge is not a Wi-Fi card, and the kernel does not move it to another namespace.
TEST_F(WirelessCardRootTest, ABridgeIsRefusedAndStaysUp) {
  host_->CreateBridge("br0", 1500);
  host_->SetUp(host_->IfIndex("br0"), true);
  Topology topology = Line(2);
  Give(&topology, 0, "br0", "br0");
  EXPECT_THAT(
      ErrorOfBuilding<EnvironmentError>(topology),
      HasSubstr(
          "physical interface br0: the kernel cannot move this kind of interface into a node"));
  EXPECT_TRUE(host_->GetLink("br0").up);
}

}  // namespace
}  // namespace viaduct::lab
