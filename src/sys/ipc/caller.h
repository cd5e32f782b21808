// The client's end of a connection to a service.
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

// DecodeAnswer() returns the JSON value of an answer, AnswerMember() one member of it. Both throw
// ProtocolError if the value is malformed: that is the service's fault, not wrong usage by the
// client.
nlohmann::json DecodeAnswer(const Service& service, const Message& answer);
template <class T>
T AnswerMember(const Service& service, const nlohmann::json& value, const char* name) {
  try {
    return Member<T>(value, name);
  } catch (const UsageError& error) {
    throw ProtocolError(service, error.what());
  }
}

// The client's end of a connection. The destructor waits until the service has closed the
// connection, which the service does at once, or, if this was its last connection, after its
// clean-up. The destructor waits at most 2 s after a missing answer, or if a signal as in
// LimitWaiting() is pending.
class Caller {
 public:
  // The value to pass to LimitWaiting() as `grace` for a service that may be stopped (SIGSTOP).
  static constexpr auto kGrace = Duration::Seconds(5);

  // `pid`: the service's process, for which the destructor waits if it is a child of this process;
  // 0: not known. `service` must outlive this object. `ended`: the text of the error if the service
  // has closed the connection.
  Caller(UniqueFd connection, int pid, const Service& service, std::string ended);
  ~Caller();
  Caller(const Caller&) = delete;
  Caller& operator=(const Caller&) = delete;

  int fd() const { return connection_.fd(); }
  // Sends a request and returns the answer. Throws the service's error, with its status, or Error
  // if the service has closed the connection.
  Message Call(Code code, std::string_view payload, const std::vector<int>& descriptors = {});
  nlohmann::json CallJson(Code code, const nlohmann::json& arguments = nlohmann::json::object());
  // Throws Error if the service has closed the connection.
  void CheckAlive() const;
  // Limits the time that each later Call() waits to `timeout` (none: no limit). If SIGINT, SIGTERM
  // or SIGHUP is blocked and arrives while Call() waits, Call() throws sys::Interrupted, unless the
  // answer arrives within `grace` after the signal. After a timeout or a signal no further request
  // can be sent.
  void LimitWaiting(std::optional<Duration> timeout, Duration grace = Duration());

 private:
  void AwaitEnd();
  void AwaitAnswer(Instant deadline);

  Connection connection_;
  const std::string ended_;
  const int service_pid_;  // 0: the pid is not known
  const int owner_pid_;
  uint32_t sequence_ = 0;
  bool is_limited_ = false;  // whether LimitWaiting() was called
  std::optional<Duration> timeout_;
  Duration grace_;
  // Whether an answer is missing, which would be taken for the answer to the next request.
  bool is_lost_ = false;
};

}  // namespace viaduct::ipc
