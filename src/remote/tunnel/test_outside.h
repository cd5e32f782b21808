// A client of a hub, for tests.
#pragma once

#include <gtest/gtest.h>
#include <poll.h>

#include <algorithm>
#include <span>
#include <string>
#include <vector>

#include "remote/tunnel/client_hub.h"

namespace viaduct::tunnel {

// A UDP socket that takes the place of a kernel's VXLAN interface.
class Outside {
 public:
  explicit Outside(const std::string& address, uint16_t port = 0)
      : socket_({.address = address, .port = port, .max_datagram = 60000}) {}

  uint16_t port() const { return socket_.port(); }
  void SendBytes(const ClientHub& hub, const std::string& address,
                 std::span<const std::byte> bytes) {
    SendBytesTo(hub.underlay().port(), address, bytes);
  }
  void SendBytesTo(uint16_t port, const std::string& address, std::span<const std::byte> bytes) {
    const Peer to(wire::IpAddress::Parse(address), port);
    const auto room = socket_.Queue(to, bytes.size(), 0);
    ASSERT_EQ(room.size(), bytes.size());
    std::ranges::copy(bytes, room.begin());
    socket_.Flush([](uint32_t, size_t) { ADD_FAILURE() << "not sent"; });
  }
  void Send(const ClientHub& hub, const std::string& address, uint32_t vni,
            std::span<const std::byte> frame) {
    SendTo(hub.underlay().port(), address, vni, frame);
  }
  void SendTo(uint16_t port, const std::string& address, uint32_t vni,
              std::span<const std::byte> frame) {
    std::vector<std::byte> bytes(wire::VxlanHeader::kSize + frame.size());
    wire::VxlanHeader{vni}.Write(bytes);
    std::ranges::copy(frame, bytes.begin() + wire::VxlanHeader::kSize);
    SendBytesTo(port, address, bytes);
  }
  // Waits for `count` datagrams. Returns all that have arrived.
  std::vector<std::vector<std::byte>> Receive(size_t count) {
    std::vector<std::vector<std::byte>> all;
    while (all.size() < count) {
      pollfd wait{socket_.fd(), POLLIN, 0};
      if (poll(&wait, 1, 5000) != 1) break;
      socket_.Receive([&](const Underlay::Message& message) {
        for (size_t at = 0; at < message.bytes.size();) {
          const size_t left = message.bytes.size() - at;
          const auto one = message.bytes.subspan(
              at, message.segment > 0 ? std::min(left, message.segment) : left);
          all.emplace_back(one.begin(), one.end());
          at += one.size();
        }
      });
    }
    return all;
  }

 private:
  Underlay socket_;
};

}  // namespace viaduct::tunnel
