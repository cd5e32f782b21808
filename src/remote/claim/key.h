// The secret that a hub and its clients share.
#pragma once

#include <array>
#include <cstdint>
#include <string>

namespace viaduct::claim {

struct Key {
  std::array<uint8_t, 32> secret{};

  // Tells keys apart and says nothing about the secret: 16 hexadecimal digits, the first of
  // HMAC-SHA-256(secret, "viaduct key id").
  std::string Id() const;

  bool operator==(const Key&) const = default;
};

// $XDG_CONFIG_HOME/viaduct/hub.key, by default in ~/.config.
std::string DefaultKeyFile();

// A file of 64 hexadecimal digits that nobody but its owner, this user or root, can read or write.
// Throws UsageError that names the file and what to do, where it is not so.
Key ReadKey(const std::string& file);
// The same, but makes a new key (mode 0600) and the folders (0700) where there is none. Of several
// processes that do so at once all get the same key.
Key ReadOrMakeKey(const std::string& file);

}  // namespace viaduct::claim
