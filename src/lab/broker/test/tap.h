// A tap on an interface of a lab's node: sends frames from the interface, and reads frames that
// arrive there.
#pragma once

#include <functional>
#include <string>

#include "base/wire/bytes.h"
#include "lab/broker/client.h"

namespace viaduct::broker::test {

class Tap {
 public:
  Tap(Client& client, const std::string& node, const std::string& interface);

  void Send(wire::ConstBytes frame) const;
  // Calls `take` with each frame that has arrived at the interface; does not wait.
  void Take(const std::function<void(wire::ConstBytes)>& take) const;

 private:
  NodeSocket socket_;
};

}  // namespace viaduct::broker::test
