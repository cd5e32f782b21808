// viaduct link: sets a link of a lab that is up, or of a paused simulation, down or up.
#include <algorithm>
#include <memory>
#include <optional>
#include <vector>

#include "base/error.h"
#include "base/text/edit_distance.h"
#include "cli/arguments.h"
#include "cli/command.h"
#include "cli/labs.h"
#include "guest/shell/shell_client.h"
#include "lab/broker/client.h"
#include "lab/topology.h"

namespace viaduct::cli {
namespace {

// Returns the ends of the link that are in namespaces, which the lab's description gives. Returns
// nothing if the lab has no such link. Adds the names of the links that it compares to `known`.
std::optional<std::vector<lab::Endpoint>> FindEnds(const nlohmann::json& lab,
                                                   const std::string& name,
                                                   std::vector<std::string>& known) {
  std::vector<lab::Endpoint> ends;
  for (const nlohmann::json& link : lab.at("links")) {
    known.push_back(link.at("name").get<std::string>());
    if (known.back() != name) continue;
    for (const nlohmann::json& end : link.at("endpoints")) {
      lab::Endpoint endpoint{end.at("node").get<std::string>(),
                             end.at("interface").get<std::string>()};
      // Leaves out the end of a remote node, which is on the client's machine.
      if (lab.at("namespaces").contains(endpoint.node)) ends.push_back(std::move(endpoint));
    }
    return ends;
  }
  for (const nlohmann::json& node : lab.at("nodes")) {
    for (const nlohmann::json& interface : node.at("interfaces")) {
      if (!interface.contains("link")) continue;
      known.push_back(interface.at("link").get<std::string>());
      if (known.back() != name) continue;
      return {{{node.at("name").get<std::string>(), interface.at("name").get<std::string>()}}};
    }
  }
  return std::nullopt;
}

// Sets both ends of the link up or down, as an event of a scenario does: when the link is up again,
// the routes that the kernel has dropped are restored.
void SetLink(const std::string& target, bool up) {
  const NodeName name(target);
  if (const auto paused = PausedUnlessLab(name.place)) {
    guest::Ask(*paused, {{"link", name.node}, {"up", up}});
    return;
  }
  broker::Client client = broker::Client::ConnectToLab(ChooseLab(name.place));
  const nlohmann::json lab = client.Describe();
  std::vector<std::string> known;
  const auto ends = FindEnds(lab, name.node, known);
  if (!ends) {
    throw UsageError("lab " + lab.at("name").get<std::string>() + " has no link '" + name.node +
                     "'" + DidYouMean(name.node, known));
  }
  client.SetEndsUp(*ends, up);
}

}  // namespace

void AddLink(CLI::App& app, Invocation&) {
  struct Options {
    std::string link, state;
  };
  auto options = std::make_shared<Options>();
  CLI::App* command = app.add_subcommand(
      "link", "take a link of a lab or of a paused simulation down, or up again");
  command
      ->add_option(
          "LINK", options->link,
          "the link; LAB:LINK if several labs are up, SIMULATION:LINK for a paused simulation")
      ->required();
  command->add_option("STATE", options->state, "the new state: up or down")
      ->required()
      ->check(CLI::IsMember({"up", "down"}));
  command->footer(
      "The interfaces at both ends change, which the routing protocol notices. To change links "
      "during\na run, use the scenario's key `events`. To change SPECs, use viaduct path "
      "set.\nExample:\n  viaduct link n0-n1 down");
  command->callback([options] { SetLink(options->link, options->state == "up"); });
}

}  // namespace viaduct::cli
