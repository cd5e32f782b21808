// The broker's loop: one thread, any number of connections, one lab.
#pragma once

#include <list>
#include <set>

#include "base/fd.h"
#include "lab/broker/operations.h"
#include "sys/ipc/answer.h"

namespace viaduct::broker {

class Server {
 public:
  // `operations` must outlive the server.
  explicit Server(Operations& operations) : operations_(operations) {}

  ipc::Connection& AddConnection(UniqueFd socket);

  // Serves until the last connection ends (a detached lab: until it is destroyed and then the last
  // connection ends) or until the operations request the end. The last connection stays open until
  // the server is destroyed, so that its client can wait for the clean-up.
  void Run();

 private:
  ipc::Reply Perform(ipc::Message& request, const ipc::Connection& from);
  void NoteEnd(const ipc::Connection& connection);
  bool ServeRound();
  void Accept();

  Operations& operations_;
  std::list<ipc::Connection> connections_;
  std::set<const ipc::Connection*> further_;  // kNewConnection: of processes that a client starts
  UniqueFd listener_;                         // while the lab is detached
  const ipc::Connection* keeper_ = nullptr;   // the connection that detached it, until that ends
};

}  // namespace viaduct::broker
