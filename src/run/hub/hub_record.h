// The records of running hubs: a registry (sys/machine/registry.h) whose entries contain
// record.json and the hub's control socket. The socket's protocol is that of
// path/engine/control_protocol.h; the answer to `stats` is a result::HubResult. A hub needs no
// root, so its record is in the folder of its user's processes (sys::UserPlaces("hubs")), which no
// other user can read, except root.
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
  // The scenario's name. The entry has the same name, unless another hub's entry has it already.
  std::string scenario;
  uint16_t port = 0;               // UDP port
  std::vector<std::string> nodes;  // the remote nodes

  void Read(const sys::RecordLines& lines);
};

// Returns the running hubs of this user and, if they are visible to this user, those of root,
// ordered by name.
std::vector<HubInfo> ListHubs();
// Requests the hub's statistics. Throws Error if the hub has ended, does not answer within
// `timeout`, or belongs to another user.
result::HubResult AskHub(const HubInfo& hub, Duration timeout);
// Removes the records of hubs that were killed; returns the removed records. Appends problems to
// `problems`.
std::vector<HubInfo> RemoveDeadHubs(std::vector<std::string>* problems);

// The record and the control socket of a hub of this process; removed when this object is
// destroyed.
class HubRecord {
 public:
  // `complete` adds the statistics of this process to those of the simulator. All arguments must
  // outlive this object. Throws SystemError, EnvironmentError.
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
