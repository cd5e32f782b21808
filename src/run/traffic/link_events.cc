#include "run/traffic/link_events.h"

#include <algorithm>
#include <vector>

#include "path/packet/pipeline_name.h"

namespace viaduct::run {

void LinkEvents::Apply(const scenario::LinkEvent& event) {
  switch (event.kind) {
    case scenario::LinkEvent::Kind::kState: {
      std::vector<lab::Endpoint> ends = EndpointsOf(scenario_, event.link, remotes_);
      std::erase_if(ends, [&](const lab::Endpoint& end) { return !machines_.IsLocal(end.node); });
      return client_.SetEndsUp(ends, event.on);
    }
    case scenario::LinkEvent::Kind::kSpec:
      return SetSpec(event);
    case scenario::LinkEvent::Kind::kCapture:
      return event.on ? captures_->Start(event.link) : captures_->Stop(event.link);
  }
}

void LinkEvents::SetSpec(const scenario::LinkEvent& event) {
  const auto link = std::ranges::find(scenario_.links, event.link, &scenario::LinkSettings::name);
  if (link->kind == lab::Link::Kind::kPair) {
    const auto of = [&](const std::string& sender, const std::string& own) {
      return machines_.IsLocal(sender) ? event.set + own : "";
    };
    return engine_->Set(link->name, of(link->nodes[0], event.up), of(link->nodes[1], event.down));
  }
  // Changes only the direction `up` of each node's pair. The engine is between each node and the
  // bridge, and `up` is the direction of the frames that the node sends.
  for (const std::string& node : link->nodes) {
    engine_->Set(path::SharedPairName(link->name, node, 0), event.set, "");
  }
}

}  // namespace viaduct::run
