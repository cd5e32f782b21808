// X25519 keys (RFC 7748), by which WireGuard identifies peers.
#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <string>
#include <string_view>

namespace viaduct::claim {

// A public or secret key.
struct TunnelKey {
  std::array<uint8_t, 32> bytes{};

  // Parses base64 (RFC 4648, section 4), as wg(8) writes it: 44 characters. Throws UsageError.
  static TunnelKey Parse(std::string_view text);
  std::string ToString() const;
  friend auto operator<=>(const TunnelKey&, const TunnelKey&) = default;
};

struct KeyPair {
  TunnelKey secret;
  TunnelKey open;  // the public key

  static KeyPair Fresh();
};

}  // namespace viaduct::claim
