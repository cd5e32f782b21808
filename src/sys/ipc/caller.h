// Asking: how a client uses a connection to a service.
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
// is the service's fault, not the wrong usage of whoever asked.
nlohmann::json DecodeAnswer(const Service& service, const Message& answer);
template <class T>
T AnswerMember(const Service& service, const nlohmann::json& value, const char* name) {
  try {
    return Member<T>(value, name);
  } catch (const UsageError& error) {
    throw ProtocolError(service, error.what());
  }
}

// The asking end. Its destructor waits until the service has closed the connection: at once, unless
// this was its last connection; then after the service has cleaned up. After an answer that did not
// come, or a signal as below, it waits 2 s at most.
class Caller {
 public:
  // Grace for LimitWaiting() of a service that may be stopped.
  static constexpr auto kGrace = Duration::Seconds(5);

  // `pid`: of the service's process, which is waited for if it is a child; 0: not known.
  // `service` must outlive this. `ended`: the text of an error if the service has closed.
  Caller(UniqueFd connection, int pid, const Service& service, std::string ended);
  ~Caller();
  Caller(const Caller&) = delete;
  Caller& operator=(const Caller&) = delete;

  int fd() const { return connection_.fd(); }
  // Sends a request and returns its answer. Throws the service's error, with its status, and
  // Error if the service has closed.
  Message Call(Code code, std::string_view payload, const std::vector<int>& descriptors = {});
  nlohmann::json CallJson(Code code, const nlohmann::json& arguments = nlohmann::json::object());
  // Throws Error if the service has closed.
  void CheckAlive() const;
  // After this call Call() waits no longer than `timeout` (none: without limit), and throws
  // sys::Interrupted where SIGINT, SIGTERM or SIGHUP is blocked and arrives meanwhile, and there is
  // no answer within `grace` of it. After either nothing can be asked any more.
  void LimitWaiting(std::optional<Duration> timeout, Duration grace = Duration());

 private:
  void AwaitEnd();
  void AwaitAnswer(Instant deadline);

  Connection connection_;
  const std::string ended_;
  const int service_pid_;  // 0: not known
  const int owner_pid_;
  uint32_t sequence_ = 0;
  bool is_limited_ = false;  // by LimitWaiting()
  std::optional<Duration> timeout_;
  Duration grace_;
  bool is_lost_ = false;  // an answer did not come, and would be taken for that of the next request
};

}  // namespace viaduct::ipc
