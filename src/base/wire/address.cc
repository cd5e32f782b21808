#include "base/wire/address.h"

#include <arpa/inet.h>
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstring>

#include "base/error.h"

namespace viaduct::wire {
namespace {

[[noreturn]] void Fail(std::string_view text, std::string_view what) {
  throw UsageError(fmt::format("\"{}\" is not {}", text, what));
}

int HexDigit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

}  // namespace

MacAddress MacAddress::Parse(std::string_view text) {
  constexpr std::string_view kWhat = "a MAC address; expected six bytes, as in 02:00:00:00:00:01";
  if (text.size() != 17) Fail(text, kWhat);
  MacAddress mac;
  for (size_t i = 0; i < 6; ++i) {
    const int high = HexDigit(text[3 * i]);
    const int low = HexDigit(text[3 * i + 1]);
    if (high < 0 || low < 0 || (i < 5 && text[3 * i + 2] != ':')) Fail(text, kWhat);
    mac.bytes[i] = static_cast<uint8_t>(high << 4 | low);
  }
  return mac;
}

std::string MacAddress::ToString() const { return fmt::format("{:02x}", fmt::join(bytes, ":")); }

IpAddress IpAddress::Parse(std::string_view text) {
  char terminated[INET6_ADDRSTRLEN + 1] = {};
  IpAddress address;
  if (text.size() < sizeof(terminated)) {
    std::copy(text.begin(), text.end(), terminated);
    if (text.find('\0') == std::string_view::npos) {
      if (inet_pton(AF_INET, terminated, address.bytes.data()) == 1) return address;
      address.family = Family::kIpv6;
      if (inet_pton(AF_INET6, terminated, address.bytes.data()) == 1) return address;
    }
  }
  Fail(text, "an IP address; expected an address such as 10.0.0.1 or 2001:db8::1");
}

IpAddress IpAddress::FromIpv4(uint32_t host_order) {
  IpAddress address;
  const uint32_t network_order = htonl(host_order);
  std::memcpy(address.bytes.data(), &network_order, sizeof(network_order));
  return address;
}

std::string IpAddress::ToString() const {
  char text[INET6_ADDRSTRLEN];
  inet_ntop(family == Family::kIpv4 ? AF_INET : AF_INET6, bytes.data(), text, sizeof(text));
  return text;
}

bool IpAddress::IsMulticast() const {
  return family == Family::kIpv4 ? (bytes[0] & 0xf0) == 0xe0 : bytes[0] == 0xff;
}

bool IpAddress::IsUnspecified() const {
  return std::all_of(bytes.begin(), bytes.end(), [](uint8_t b) { return b == 0; });
}

IpPrefix IpPrefix::Parse(std::string_view text) {
  const size_t slash = text.find('/');
  IpPrefix prefix{IpAddress::Parse(text.substr(0, slash)), 0};
  const int bits = prefix.address.Length() * 8;
  prefix.length = bits;
  if (slash == std::string_view::npos) return prefix;
  const std::string_view length = text.substr(slash + 1);
  const char* const end = length.data() + length.size();
  const auto parsed = std::from_chars(length.data(), end, prefix.length);
  if (parsed.ec != std::errc() || parsed.ptr != end || prefix.length < 0 || prefix.length > bits) {
    Fail(text,
         fmt::format("an address with a prefix length; the length must be from 0 to {}", bits));
  }
  return prefix;
}

std::string IpPrefix::ToString() const { return fmt::format("{}/{}", address.ToString(), length); }

IpPrefix IpPrefix::Network() const {
  IpPrefix network = *this;
  for (int i = 0; i < 16; ++i) {
    const int kept = std::clamp(length - 8 * i, 0, 8);
    network.address.bytes[i] &= static_cast<uint8_t>(0xff00 >> kept);
  }
  return network;
}

bool IpPrefix::Contains(const IpAddress& other) const {
  return other.family == address.family &&
         IpPrefix{other, length}.Network().address == Network().address;
}

}  // namespace viaduct::wire
