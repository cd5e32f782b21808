#include "run/hub.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "base/clock.h"
#include "base/error.h"
#include "result/table.h"
#include "run/remote_node.h"
#include "run/table.h"
#include "wire/vxlan.h"

namespace viaduct::run {
namespace {

using nlohmann::json;
using result::ClientResult;
using result::HubProgress;
using result::HubResult;

constexpr Duration kStartPatience = Duration::Seconds(120);
constexpr Duration kEndPatience = Duration::Seconds(20);

std::string Causes(const std::map<std::string, uint64_t>& drops) {
  std::string text;
  for (const auto& [cause, count] : drops) {
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", count, cause);
  }
  return text.empty() ? "0" : text;
}

std::string AddressTexts(const scenario::LinkSettings& link, const std::string& node) {
  std::string text;
  for (const wire::IpPrefix& address : AddressesOn(link, node)) {
    text += (text.empty() ? "" : " ") + address.ToString();
  }
  return text.empty() ? "-" : text;
}

}  // namespace

Hub::Hub(const scenario::Scenario& scenario, const HubOptions& options, sys::EventLoop& loop)
    : loop_(loop), progress_(stderr, options.quiet) {
  simulator_ = std::make_unique<SimulatorProcess>(
      FindSimulator(), scenario, UniqueFd(), "", std::vector<Duration>(), LabUse::kOfRun, "",
      fmt::format("{}:{}", options.address, options.port));
  simulator_->OnOutput([this](const std::string& line) { progress_.Line(line); });
  loop_.Watch(simulator_->Fd(), [this] { Read(); });
  loop_.Watch(simulator_->OutputFd(), [this] {
    if (!simulator_->ReadOutput()) loop_.Forget(simulator_->OutputFd());
  });
  if (!loop_.Run([this] { return serves_; }, MonotonicClock::Now() + kStartPatience)) {
    throw Error("the simulator hangs: it does not serve the hub's clients");
  }
}

Hub::~Hub() {
  loop_.Forget(simulator_->Fd());
  loop_.Forget(simulator_->OutputFd());
}

void Hub::Read() {
  while (const auto message = simulator_->Receive()) {
    const std::string event = message->value("event", "");
    if (event == "hub") {
      latest_ = message->get<HubProgress>();
      serves_ = true;
      if (use_) use_(latest_);
    } else if (event == "report") {
      report_ = message->at("results").get<HubResult>();
    } else if (event == "claimed" && claimed_) {
      claimed_(message->value("node", ""));
    }
  }
  if (simulator_->Ended()) loop_.Forget(simulator_->Fd());
}

void Hub::Claim(const std::string& node, const std::string& address) {
  simulator_->Tell({{"command", "claim"}, {"node", node}, {"address", address}});
}

void Hub::Release(const std::string& node) {
  simulator_->Tell({{"command", "release"}, {"node", node}});
}

HubResult Hub::Finish() {
  use_ = {};
  simulator_->Stop();
  if (!loop_.Run([this] { return report_.has_value(); }, MonotonicClock::Now() + kEndPatience)) {
    throw Error("the simulator hangs: it does not report");
  }
  return *report_;
}

std::string HubStatus(const HubProgress& now, const HubProgress& before) {
  const double seconds = std::max(now.seconds - before.seconds, 1e-3);
  const auto rate = [&](uint64_t HubProgress::*member) {
    return HumanCount(static_cast<double>(now.*member - before.*member) / seconds);
  };
  return fmt::format("{:.0f} s: {} of {} nodes have a client; {} frames/s in, {} out, {} lost",
                     now.seconds, now.claimed, now.nodes, rate(&HubProgress::rx_frames),
                     rate(&HubProgress::tx_frames), now.lost);
}

std::string HubTable(const HubResult& hub) {
  std::vector<std::vector<std::string>> rows = {
      {"node", "vni", "client", "frames in", "frames out", "wait ms mean/max", "lost"}};
  for (const ClientResult& client : hub.clients) {
    rows.push_back(
        {client.node, std::to_string(client.vni), client.client.value_or("-"),
         std::to_string(client.rx_frames), std::to_string(client.tx_frames),
         fmt::format("{:.3f}/{:.3f}", client.wait_ms.value_or(0), client.longest_wait_ms),
         Causes(client.drops)});
  }
  std::string text = result::FormatTable(rows);
  text += fmt::format(
      "{} datagrams in {:.1f} s; lost before they were anyone's: {}\n"
      "socket buffers: {} kB for receiving, {} kB for sending\n",
      hub.datagrams, hub.seconds, Causes(hub.drops), hub.receive_buffer / 1024,
      hub.send_buffer / 1024);
  if (hub.refused) {
    text += fmt::format("{} claims of nodes, {} of them by clients that returned; refused: {}\n",
                        hub.claims.value_or(0), hub.returns.value_or(0), Causes(*hub.refused));
  }
  text += TimingLine(hub.events) + TimingLine(hub.frames, "frames ");
  return text;
}

std::string HubIntroduction(const scenario::Scenario& scenario, uint16_t port) {
  std::vector<std::vector<std::string>> rows = {
      {"node", "vni", "addresses", "gateway", "mtu", "client"}};
  bool has_key = false;
  for (const scenario::NodeSettings& node : scenario.nodes) {
    if (!node.remote) continue;
    has_key = has_key || (!node.remote->address && !node.remote->anyone);
    const scenario::LinkSettings& link = LinkOf(scenario, node.name);
    rows.push_back({node.name, std::to_string(node.remote->vni), AddressTexts(link, node.name),
                    AddressTexts(link, node.gateway), std::to_string(link.mtu),
                    node.remote->address  ? node.remote->address->ToString()
                    : node.remote->anyone ? "the first that sends"
                                          : "who has the key"});
  }
  return fmt::format("hub {}: UDP port {}; seed {}\n{}", scenario.name, port, scenario.seed,
                     result::FormatTable(rows)) +
         fmt::format(
             "a client without Viaduct: ip link add eth0 type vxlan id VNI remote THIS-HOST "
             "dstport "
             "{}; ip addr add ADDRESS dev eth0; ip link set eth0 mtu MTU up\n",
             port) +
         (has_key ? fmt::format("with it: viaduct join THIS-HOST{} --node NODE -- PROGRAM\n",
                                port == wire::kVxlanPort ? "" : fmt::format(":{}", port))
                  : "");
}

}  // namespace viaduct::run
