#include "guest/agent/socket_address.h"

#include <arpa/inet.h>

#include <cstring>

namespace viaduct::guest::agent {
namespace {

template <class T>
T& As(SocketAddress& address) {
  return *reinterpret_cast<T*>(&address.storage);
}
template <class T>
const T& As(const SocketAddress& address) {
  return *reinterpret_cast<const T*>(&address.storage);
}

}  // namespace

SocketAddress ToSocketAddress(const Endpoint& endpoint) {
  SocketAddress address;
  address.storage.ss_family = endpoint.family;
  if (endpoint.family == AF_INET) {
    auto& ipv4 = As<sockaddr_in>(address);
    ipv4.sin_port = htons(endpoint.port);
    std::memcpy(&ipv4.sin_addr, endpoint.address, sizeof ipv4.sin_addr);
    address.length = sizeof ipv4;
  } else if (endpoint.family == AF_INET6) {
    auto& ipv6 = As<sockaddr_in6>(address);
    ipv6.sin6_port = htons(endpoint.port);
    ipv6.sin6_scope_id = endpoint.scope;
    std::memcpy(&ipv6.sin6_addr, endpoint.address, sizeof ipv6.sin6_addr);
    address.length = sizeof ipv6;
  } else {
    throw ProtocolError("socket address of unknown family");
  }
  return address;
}

Endpoint FromSocketAddress(const SocketAddress& address) {
  Endpoint endpoint{};
  if (address.length >= sizeof(sockaddr_in) && address.storage.ss_family == AF_INET) {
    const auto& ipv4 = As<sockaddr_in>(address);
    endpoint.family = AF_INET;
    endpoint.port = ntohs(ipv4.sin_port);
    std::memcpy(endpoint.address, &ipv4.sin_addr, sizeof ipv4.sin_addr);
  } else if (address.length >= sizeof(sockaddr_in6) && address.storage.ss_family == AF_INET6) {
    const auto& ipv6 = As<sockaddr_in6>(address);
    endpoint.family = AF_INET6;
    endpoint.port = ntohs(ipv6.sin6_port);
    endpoint.scope = ipv6.sin6_scope_id;
    std::memcpy(endpoint.address, &ipv6.sin6_addr, sizeof ipv6.sin6_addr);
  }
  return endpoint;
}

}  // namespace viaduct::guest::agent
