// Applies the events of a scenario to the links of a lab.
#pragma once

#include "lab/broker/client.h"
#include "run/simulator/engine_watch.h"
#include "run/simulator/machines.h"
#include "run/traffic/captures.h"
#include "run/traffic/traffic.h"
#include "scenario/scenario.h"

namespace viaduct::run {

class LinkEvents {
 public:
  // All arguments must outlive this object. Of links between machines (`machines`) each machine
  // changes only the end in its part of the lab. `engine` and `captures` may be null if no event
  // needs them.
  LinkEvents(const scenario::Scenario& scenario, broker::Client& client, EngineWatch* engine,
             Captures* captures, Machines& machines = Machines::Alone(),
             RemoteHosts remotes = RemoteHosts::kAreNodes)
      : scenario_(scenario),
        client_(client),
        engine_(engine),
        captures_(captures),
        machines_(machines),
        remotes_(remotes) {}

  // Applies the event to its link. Throws Error.
  void Apply(const scenario::LinkEvent& event);

 private:
  void SetSpec(const scenario::LinkEvent& event);

  const scenario::Scenario& scenario_;
  broker::Client& client_;
  EngineWatch* engine_;
  Captures* captures_;
  Machines& machines_;
  const RemoteHosts remotes_;
};

}  // namespace viaduct::run
