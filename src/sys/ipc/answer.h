// Answering: how the process of a service uses a connection.
#pragma once

#include <functional>
#include <nlohmann/json.hpp>
#include <vector>

#include "base/fd.h"
#include "sys/ipc/connection.h"

namespace viaduct::ipc {

struct Reply {
  nlohmann::json value = nlohmann::json::object();
  std::vector<UniqueFd> descriptors;
};

// Takes one packet, and answers the request that it completes with what `perform` returns, or with
// the error that it throws. Never waits. Returns false if the connection has ended, or the client
// does not keep to the protocol.
bool AnswerNext(Connection& connection, const std::function<Reply(Message&)>& perform);

// Lets a connection have answers of the largest size, which are sent without waiting.
void AllowLongAnswers(int socket);

// Answers one kind of request until the connection ends.
void AnswerOnly(UniqueFd connection, const Service& service, Code code,
                const std::function<nlohmann::json(const nlohmann::json&)>& perform);

}  // namespace viaduct::ipc
