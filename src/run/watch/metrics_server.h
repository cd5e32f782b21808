// Serves a text to Prometheus: only GET /metrics over HTTP/1.1 (RFC 9112).
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "base/fd.h"
#include "base/wire/address.h"
#include "sys/event_loop.h"

namespace viaduct::watch {

// Returns the answer to a request, whose head (request line and fields) ends with an empty line.
// `metrics` is called only for a GET of /metrics; if it throws, the answer has status 500.
// `is_loopback`: the request was sent to a loopback address, so its field Host must be a loopback
// address or localhost. Otherwise a page of another site, whose name was changed to this address
// (DNS rebinding), could read the answer.
std::string Respond(std::string_view head, bool is_loopback,
                    const std::function<std::string()>& metrics);

// Answers any client that can connect; from this machine's browsers only the user's pages can read
// the answers. Each connection has one request of at most 8 kB, which must arrive within 5 s; there
// are at most 32 connections. Silent clients cannot exclude other clients: the oldest silent
// connection is closed.
class MetricsServer {
 public:
  // Listens at once; port 0: the kernel chooses the port. The loop must outlive this object. Throws
  // SystemError.
  MetricsServer(sys::EventLoop& loop, const wire::IpAddress& address, uint16_t port,
                std::function<std::string()> metrics);
  ~MetricsServer();
  MetricsServer(const MetricsServer&) = delete;
  MetricsServer& operator=(const MetricsServer&) = delete;

  uint16_t port() const { return port_; }

 private:
  struct Connection {
    UniqueFd socket;
    uint64_t number = 0;
    std::string request, answer;
  };

  void Accept();
  bool MakeRoom();
  void Read(int fd);
  void Write(int fd);
  void Drop(int fd);

  sys::EventLoop& loop_;
  const bool is_loopback_;
  const std::function<std::string()> metrics_;
  UniqueFd listener_;
  uint16_t port_ = 0;
  std::map<int, Connection> connections_;  // the key is the descriptor
  uint64_t last_number_ = 0;
  std::shared_ptr<bool> alive_;  // for actions in the loop, which cannot be cancelled
};

}  // namespace viaduct::watch
