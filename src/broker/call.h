// Asking and answering: how a client and a process of root's half use a connection.
#pragma once

#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/fd.h"
#include "base/time.h"
#include "broker/connection.h"
#include "privilege/halves.h"

namespace viaduct::broker {

// The asking end. Its destructor waits until the other end has closed: at once, unless this was the
// last connection; then after the other has cleaned up. After an answer that did not come, or a
// signal as below, it waits 2 s at most.
class Caller {
 public:
  // `ended`: what an error says if the other end has closed.
  Caller(privilege::ServiceProcess service, std::string ended);
  ~Caller();
  Caller(const Caller&) = delete;
  Caller& operator=(const Caller&) = delete;

  int Fd() const { return connection_.Fd(); }
  // Sends a request and returns its answer. Throws the other end's error, with its status, and
  // Error if it has closed.
  Message Call(MessageType type, std::string_view payload,
               const std::vector<int>& descriptors = {});
  nlohmann::json CallJson(MessageType type, const nlohmann::json& arguments);
  // Throws Error if the other end has closed.
  void CheckAlive() const;
  // From now on Call() waits no longer than this (none: for ever), and throws sys::Interrupted
  // where SIGINT, SIGTERM or SIGHUP is blocked and comes meanwhile, and there is no answer within
  // `grace` of it. After either nothing can be asked any more.
  void LimitWaiting(std::optional<Duration> patience, Duration grace = Duration());

 private:
  void AwaitEnd();
  void AwaitAnswer(Instant deadline);

  Connection connection_;
  const std::string ended_;
  const int service_pid_;  // 0: not known
  const int owner_pid_;
  uint32_t sequence_ = 0;
  bool is_limited_ = false;  // as LimitWaiting() says
  std::optional<Duration> patience_;
  Duration grace_;
  bool is_lost_ = false;  // an answer did not come, and would be taken for the next one's
};

// Has a program started, with the variables, mask and folder of this process where the options say
// nothing else. Throws as Call() does.
Message CallSpawn(Caller& caller, ProgramOptions program);

struct Reply {
  nlohmann::json value = nlohmann::json::object();
  std::vector<UniqueFd> descriptors;
};

// The answering end: takes one packet, and answers the request that it completes with what
// `perform` returns, or with the error that it throws. Never waits. Returns false if the connection
// has ended, or the client does not keep to the protocol.
bool AnswerNext(Connection& connection, const std::function<Reply(Message&)>& perform);
// Lets a connection have answers of the largest size, which are sent without waiting.
void AllowLongAnswers(int socket);

// A service that is asked one thing: the asking end, and the answering one.
nlohmann::json AskOnce(privilege::Service service, MessageType type,
                       const nlohmann::json& arguments);
void AnswerOnce(UniqueFd connection, MessageType type,
                const std::function<nlohmann::json(const nlohmann::json&)>& perform);

}  // namespace viaduct::broker
