// The forwarder of a lab: a separate process that forwards for the nodes whose data plane is
// `userspace` or `program`.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "lab/builder.h"
#include "plane/forward/equipment.h"
#include "sys/process/invoking_user.h"

namespace viaduct::broker {

// Runs the forwarder in a process that is forked from the broker and inherits packet sockets, raw
// sockets and tables, and no other descriptors. The forwarder runs as the invoking user without
// capabilities and ends with the broker. When it ends earlier, Restart() starts another forwarder,
// which finds the tables unchanged. For use by one thread.
class LabForwarder {
 public:
  using Nodes = std::map<std::string, forward::SharedWith>;

  // Returns when the forwarder forwards. Throws Error if it cannot start, or if the client closes
  // its connection `asker` (a socket, or -1) and so no longer waits for the forwarder. `lab` must
  // outlive this object.
  LabForwarder(lab::Lab& lab, const sys::Identity& owner, Nodes nodes, int asker);

  int pid() const { return pid_; }
  int restarts() const { return restarts_; }
  // Starts a new forwarder in place of an ended one. Throws Error; no forwarder runs then.
  void Restart();
  // Must be called when the node's own addresses have changed: the forwarder must not receive
  // packets for these addresses. Throws Error.
  void Refilter(const std::string& node);

  // Returns the reason why the previous forwarder ended; empty if none has ended.
  std::string LastWords();

  // The forwarder's wait status (waitpid(2)); empty while it runs.
  std::optional<int> ended;

 private:
  // The broker's copy of the descriptor of a packet socket that the forwarder uses.
  struct Port {
    wire::MacAddress mac;
    UniqueFd socket;
  };
  void Start(int asker);
  void Record(bool absent);
  void Keep(const forward::Equipment& equipment);

  lab::Lab& lab_;
  // The reading end of the forwarder's pipe for error messages; a pipe has a limited size.
  UniqueFd words_;
  std::string last_words_;  // the reason for the end of the previous forwarder
  sys::Identity owner_;
  Nodes nodes_;
  using Ports = std::map<std::string, std::vector<Port>>;  // the key is the node's name
  Ports ports_;
  std::jthread closing_;  // closes the ports of the previous forwarder
  int pid_ = 0;
  int restarts_ = 0;
};

}  // namespace viaduct::broker
