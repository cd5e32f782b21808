// The answering end of a connection, for the process that runs a service.
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

// Receives one packet. If the packet completes a request, answers the request with the result of
// `perform`, or with the error that `perform` throws. Never waits. Returns false if the connection
// has ended, or the client violates the protocol.
bool AnswerNext(Connection& connection, const std::function<Reply(Message&)>& perform);

// Enlarges the send buffer, so that answers of the maximum size are sent without waiting.
void AllowLongAnswers(int socket);

// Answers requests with the number `code` until the connection ends. For a service that has only
// one kind of request.
void AnswerOnly(UniqueFd connection, const Service& service, Code code,
                const std::function<nlohmann::json(const nlohmann::json&)>& perform);

}  // namespace viaduct::ipc
