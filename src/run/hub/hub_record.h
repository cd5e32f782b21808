// The records of running hubs: a registry (sys/machine/registry.h), whose entries hold record.json
// and the hub's control socket, which speaks the protocol of path/engine/control_protocol.h:
// `stats` is answered with a result::HubResult. A hub needs no root, so its record is where its
// user's processes keep theirs (sys::UserPlaces("hubs")): no other user sees it, except root.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "path/engine/control.h"
#include "run/hub/hub.h"
#include "scenario/scenario.h"
#include "sys/event_loop.h"
#include "sys/machine/registry.h"

namespace viaduct::run {

struct HubInfo : sys::RegistryEntry {
  std::string scenario;            // the scenario's name; also the entry's if no other hub has it
  uint16_t port = 0;               // UDP
  std::vector<std::string> nodes;  // the remote ones

  void Read(const sys::RecordLines& lines);
};

// Returns the hubs of this user and, where they are visible, root's, ordered by name.
std::vector<HubInfo> ListHubs();
// Asks the hub for its statistics. Throws Error: it has ended, does not answer within `timeout`,
// or is another user's.
result::HubResult AskHub(const HubInfo& hub, Duration timeout);
// Removes the records of hubs that were killed; returns those. Problems are appended to `problems`.
std::vector<HubInfo> RemoveDeadHubs(std::vector<std::string>* problems);

// The record and the control socket of a hub of this process, as long as this object exists.
class HubRecord {
 public:
  // `complete` adds this process's part to the statistics of the simulator. All must outlive this.
  // Throws SystemError, EnvironmentError.
  HubRecord(const scenario::Scenario& scenario, Hub& hub, sys::EventLoop& loop,
            std::function<void(result::HubResult*)> complete);
  ~HubRecord();
  HubRecord(const HubRecord&) = delete;
  HubRecord& operator=(const HubRecord&) = delete;

 private:
  nlohmann::json Serve(const engine::ControlRequest& request);

  Hub& hub_;
  sys::EventLoop& loop_;
  const std::function<void(result::HubResult*)> complete_;
  sys::Registry registry_;
  sys::RegistryEntry entry_;
  std::unique_ptr<engine::ControlServer> server_;
};

}  // namespace viaduct::run
