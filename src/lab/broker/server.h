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
  // Connections made by kNewConnection, for processes that a client starts.
  std::set<const ipc::Connection*> further_;
  UniqueFd listener_;  // accepts further clients while the lab is detached
  // The connection that detached the lab; null when that connection has ended.
  const ipc::Connection* keeper_ = nullptr;
};

}  // namespace viaduct::broker
