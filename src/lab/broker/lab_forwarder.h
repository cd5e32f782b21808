// The forwarder of a lab: a process of its own that forwards for the nodes whose data plane is
// `userspace`.
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

// Forked from the broker; it inherits packet sockets, raw sockets and tables, and no other
// descriptors. It runs as the invoking user without capabilities and ends with the broker. When it
// ends before that, Restart() starts another, which finds the tables as they were. For use by one
// thread.
class LabForwarder {
 public:
  using Nodes = std::map<std::string, forward::SharedWith>;

  // Returns when the forwarder forwards, or `asker` (a socket, or -1) is closed by its other end:
  // nobody wants it then. The lab must outlive this. Throws Error.
  LabForwarder(lab::Lab& lab, const sys::Identity& owner, Nodes nodes, int asker);

  int pid() const { return pid_; }
  int restarts() const { return restarts_; }
  // Throws Error; then there is none.
  void Restart();
  // The node's own addresses have changed: the forwarder shall not receive what is for them. Throws
  // Error.
  void Refilter(const std::string& node);

  // Why the last one ended of those that did; empty: none did.
  std::string LastWords();

  // Its wait status (waitpid(2)); empty while it runs.
  std::optional<int> ended;

 private:
  // The broker's copy of a packet socket of the forwarder.
  struct Port {
    wire::MacAddress mac;
    UniqueFd socket;
  };
  void Start(int asker);
  void Record(bool absent);
  void Keep(const forward::Equipment& equipment);

  lab::Lab& lab_;
  UniqueFd words_;          // a pipe, which no process can fill without limit
  std::string last_words_;  // of the one before
  sys::Identity owner_;
  Nodes nodes_;
  using Ports = std::map<std::string, std::vector<Port>>;  // by node
  Ports ports_;
  std::jthread closing_;  // the ports of the one before
  int pid_ = 0;
  int restarts_ = 0;
};

}  // namespace viaduct::broker
