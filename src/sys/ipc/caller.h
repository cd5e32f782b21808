// The asking end of a connection, for the client of a service.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/fd.h"
#include "base/time.h"
#include "sys/ipc/connection.h"

namespace viaduct::ipc {

// The value of an answer, and one of its members. Both throw ProtocolError if it is malformed: that
// is the service's fault, not wrong usage by the client.
nlohmann::json DecodeAnswer(const Service& service, const Message& answer);
template <class T>
T AnswerMember(const Service& service, const nlohmann::json& value, const char* name) {
  try {
    return Member<T>(value, name);
  } catch (const UsageError& error) {
    throw ProtocolError(service, error.what());
  }
}

// The asking end. The destructor waits until the service has closed the connection: it does so at
// once, or, if this was its last connection, after it has cleaned up. After a missing answer, or a
// signal as below, waits 2 s at most.
class Caller {
 public:
  // The grace of LimitWaiting() for a service that may be stopped (SIGSTOP).
  static constexpr auto kGrace = Duration::Seconds(5);

  // `pid`: the service's process, which is waited for if it is a child; 0: not known. `service`
  // must outlive this object. `ended`: the text of the error if the service has closed.
  Caller(UniqueFd connection, int pid, const Service& service, std::string ended);
  ~Caller();
  Caller(const Caller&) = delete;
  Caller& operator=(const Caller&) = delete;

  int fd() const { return connection_.fd(); }
  // Sends a request and returns the answer. Throws the service's error, with its status, and Error
  // if the service has closed.
  Message Call(Code code, std::string_view payload, const std::vector<int>& descriptors = {});
  nlohmann::json CallJson(Code code, const nlohmann::json& arguments = nlohmann::json::object());
  // Throws Error if the service has closed.
  void CheckAlive() const;
  // Limits the waiting of Call() from now on to `timeout` (none: no limit). If SIGINT, SIGTERM or
  // SIGHUP is blocked and arrives meanwhile, Call() throws sys::Interrupted unless the answer
  // arrives within `grace` of the signal. After either no further request can be sent.
  void LimitWaiting(std::optional<Duration> timeout, Duration grace = Duration());

 private:
  void AwaitEnd();
  void AwaitAnswer(Instant deadline);

  Connection connection_;
  const std::string ended_;
  const int service_pid_;  // 0: not known
  const int owner_pid_;
  uint32_t sequence_ = 0;
  bool is_limited_ = false;  // LimitWaiting() was called
  std::optional<Duration> timeout_;
  Duration grace_;
  bool is_lost_ = false;  // an answer is missing, and would be taken for the next one
};

}  // namespace viaduct::ipc
