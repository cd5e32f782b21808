// viaduct link: takes a link of a lab that is up, or of a paused simulation, down, and up again.
#include <algorithm>
#include <memory>
#include <vector>

#include "base/edit_distance.h"
#include "base/error.h"
#include "broker/client.h"
#include "cli/arguments.h"
#include "cli/command.h"
#include "cli/labs.h"
#include "guest/shell/shell_client.h"
#include "lab/topology.h"

namespace viaduct::cli {
namespace {

// Both ends, as an event of a scenario does: routes that the kernel dropped come back with it.
void SetLink(const std::string& target, bool up) {
  const NodeName name(target);
  if (const auto paused = PausedUnlessLab(name.place)) {
    guest::Ask(*paused, {{"link", name.node}, {"up", up}});
    return;
  }
  broker::Client client = broker::Client::ConnectToLab(ChooseLab(name.place));
  const nlohmann::json lab = client.Describe();
  std::vector<std::string> known;
  for (const nlohmann::json& link : lab.at("links")) {
    known.push_back(link.at("name").get<std::string>());
    if (known.back() != name.node) continue;
    for (const nlohmann::json& end : link.at("endpoints")) {
      const lab::Endpoint endpoint{end.at("node").get<std::string>(),
                                   end.at("interface").get<std::string>()};
      // A remote node's end is its client's.
      if (lab.at("namespaces").contains(endpoint.node)) client.SetLinkUp(endpoint, up);
    }
    return;
  }
  throw UsageError("lab " + lab.at("name").get<std::string>() + " has no link '" + name.node + "'" +
                   DidYouMean(name.node, known));
}

}  // namespace

void AddLink(CLI::App& app, Invocation&) {
  struct Options {
    std::string link, state;
  };
  auto options = std::make_shared<Options>();
  CLI::App* command = app.add_subcommand(
      "link", "take a link of a lab, or of a paused simulation, down, or up again");
  command
      ->add_option(
          "LINK", options->link,
          "the link; LAB:LINK when several labs are up, SIMULATION:LINK of a paused simulation")
      ->required();
  command->add_option("STATE", options->state, "up or down")
      ->required()
      ->check(CLI::IsMember({"up", "down"}));
  command->footer(
      "Both ends change, and the protocol sees it. In a run, links change by `events`. SPECs: "
      "viaduct "
      "path set.\nExample:\n  viaduct link n0-n1 down");
  command->callback([options] { SetLink(options->link, options->state == "up"); });
}

}  // namespace viaduct::cli
