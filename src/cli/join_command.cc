// viaduct join: makes a program of this machine, or a namespace, a node of a hub.
#include <fmt/format.h>

#include <cstdio>
#include <functional>
#include <memory>
#include <optional>

#include "base/clock.h"
#include "base/text/terminal_text.h"
#include "base/units.h"
#include "base/wire/address_scope.h"
#include "base/within.h"
#include "cli/arguments.h"
#include "cli/command.h"
#include "cli/foreground.h"
#include "cli/privilege.h"
#include "remote/claim/control_client.h"
#include "remote/claim/key_pair.h"
#include "remote/join/join.h"
#include "sys/machine/container.h"

namespace viaduct::cli {
namespace {

struct JoinOptions {
  std::string hub, node, key, into;
  std::string wait = "0s";
  std::vector<std::string> words;
  bool new_privileges = false;
};

void NoteJoin(const std::string& text) {
  std::fprintf(stderr, "viaduct join: %s\n", TerminalText(text).c_str());
}

// Keeps the node that the hub has assigned to this machine until this object is destroyed, even if
// the connection to the hub is lost for a while.
class Membership {
 public:
  Membership(sys::EventLoop& loop, const JoinOptions& options, const claim::Key& key)
      : hub_name_(claim::HubName::Parse(options.hub)),
        keys_(claim::KeyPair::Fresh()),
        first_until_(MonotonicClock::Now() +
                     Within("--wait", [&] { return ParseDuration(options.wait); })) {
    claim::ClientOptions client;
    client.key = key;
    client.hub = hub_name_;
    if (!options.node.empty()) client.node = options.node;
    client.wireguard = keys_.open;
    client.claimed = [this](const claim::Offer& offer, const wire::IpAddress& hub) {
      Take(offer, hub);
    };
    client.trouble = [this](const std::string& why, bool) { Bear(why); };
    control_.emplace(loop, std::move(client));
    loop.Run([this] { return offer_.has_value(); });
  }

  const claim::Offer& offer() const { return *offer_; }
  const wire::IpAddress& hub() const { return hub_; }
  const claim::TunnelKey& secret() const { return keys_.secret; }
  // Sets the function that is called when an encrypted hub has accepted this client again, with the
  // parameters of the hub's tunnel.
  void OnReturn(std::function<void(const claim::EncryptedTunnel&)> use) {
    returned_ = std::move(use);
  }
  // Records that this machine cannot be the node; the destructor informs the hub.
  void NoteFailure() { control_->NoteFailure(); }

 private:
  void Take(claim::Offer offer, const wire::IpAddress& hub) {
    if (offer_) {
      offer.session = offer_->session;
      const std::optional<claim::EncryptedTunnel> tunnel = offer.wireguard;
      if (tunnel && offer_->wireguard) {  // a hub that was restarted has another key
        offer.wireguard->key = offer_->wireguard->key;
        offer.wireguard->port = offer_->wireguard->port;
      }
      if (offer != *offer_ || hub != hub_) {
        throw Error(fmt::format("the hub changed node {} while the hub was unreachable; join again",
                                offer_->node));
      }
      if (tunnel && returned_) returned_(*tunnel);
      NoteJoin(fmt::format("node {} is connected to the hub again", offer.node));
      trouble_.clear();
      return;
    }
    if (wire::IsLinkLocal(hub)) {
      throw UsageError(fmt::format(
          "hub {}: {} is a link-local address, which VXLAN cannot use; specify another address of "
          "the hub",
          hub_name_.ToString(), hub.ToString()));
    }
    hub_ = hub;
    offer_ = std::move(offer);
  }

  // Reports a problem only once, and not again after each attempt to connect.
  void Bear(const std::string& why) {
    const std::string text = fmt::format("hub {}: {}", hub_name_.ToString(), why);
    if (!offer_ && MonotonicClock::Now() >= first_until_) throw Error(text);
    if (text != trouble_) NoteJoin(text + "; retrying");
    trouble_ = text;
  }

  const claim::HubName hub_name_;
  const claim::KeyPair keys_;  // used if the hub encrypts
  const Instant first_until_;
  std::optional<claim::Offer> offer_;
  wire::IpAddress hub_;
  std::string trouble_;
  std::function<void(const claim::EncryptedTunnel&)> returned_;
  std::optional<claim::ControlClient> control_;
};

remote::Join Become(const remote::JoinRequest& request, Membership& member) {
  try {
    return remote::Join(request);
  } catch (const Error&) {
    member.NoteFailure();
    throw;
  }
}

int RunJoin(const JoinOptions& options) {
  const claim::Key key =
      claim::ReadKey(options.key.empty() ? claim::DefaultKeyFile() : options.key);
  const std::string into = sys::ResolveContainer(options.into, "--into");
  NeedRoot();
  // Constructed first: it blocks signals, which could end the process half-way.
  Foreground foreground;
  Membership member(foreground.loop(), options, key);
  remote::Join join = Become({member.offer(), member.hub(), into, member.secret()}, member);
  member.OnReturn([&](const claim::EncryptedTunnel& tunnel) { join.ChangeHub(tunnel); });
  if (!options.into.empty() && options.words.empty()) {
    NoteJoin(fmt::format("node {} is interface {} in {}, until this command ends",
                         member.offer().node, join.interface(), options.into));
    foreground.loop().Watch(
        join.fd(), [] { throw Error("the privileged process of the node exited unexpectedly"); });
    foreground.loop().Run([] { return false; });
  }
  privilege::ProgramOptions program = join.Program(options.words);
  program.new_privileges = options.new_privileges;
  foreground.Lend(&program);
  const UniqueFd exit_status = StartAsShell([&] { return join.StartProgram(program); });
  return foreground.Follow(exit_status.get(), [&](int number) { join.Signal(number); });
}

}  // namespace

void AddJoin(CLI::App& app, Invocation& invocation) {
  auto options = std::make_shared<JoinOptions>();
  CLI::App* command = app.add_subcommand("join", "become a node of a hub on another machine");
  command
      ->add_option("HUB", options->hub,
                   "the name or address of the hub; with a port: NAME:PORT or [ADDRESS]:PORT")
      ->required();
  command->add_option("--node", options->node, "the node; default: any free node");
  command->add_option("--key", options->key,
                      "the file with the hub's key; default: ~/.config/viaduct/hub.key");
  command->add_option("--into", options->into,
                      "put the interface into this network namespace instead of a new namespace: a "
                      "name of ip netns, the name of a docker or podman container, or a pid");
  command->add_option("--wait", options->wait, "how long to retry until the hub assigns the node")
      ->capture_default_str();
  AddNewPrivilegesFlag(*command, options->new_privileges);
  command->add_option("COMMAND", options->words,
                      "the program and its arguments, after --; default: your login shell");
  command->footer(
      "The program runs as you in a network namespace that has the node's addresses, routes, MTU\n"
      "and names; $VIADUCT_NODE is the node. With --into and without a program, the command only\n"
      "keeps the interface in that namespace until you interrupt it. The exit status is the\n"
      "program's: 127 if it does not exist, 126 if it cannot be executed. See docs/remote.md.\n"
      "Examples:\n"
      "  viaduct join hub.example.org --node n17 -- ping -c 3 n0\n"
      "  viaduct join 192.0.2.1:4790 --into web");
  command->callback([options, &invocation] { invocation.status = RunJoin(*options); });
}

}  // namespace viaduct::cli
