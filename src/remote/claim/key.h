// The secret that a hub and its clients share.
#pragma once

#include <array>
#include <cstdint>
#include <string>

namespace viaduct::claim {

struct Key {
  std::array<uint8_t, 32> secret{};

  // Returns an identifier that distinguishes keys and reveals nothing about the secret: 16
  // hexadecimal digits, the first of HMAC-SHA-256(secret, "viaduct key id").
  std::string Id() const;

  bool operator==(const Key&) const = default;
};

// Returns the path $XDG_CONFIG_HOME/viaduct/hub.key; the default folder is ~/.config.
std::string DefaultKeyFile();

// Reads a key from a file of 64 hexadecimal digits that only its owner, this user or root, can read
// or write. Otherwise throws UsageError, which names the file and the remedy.
Key ReadKey(const std::string& file);
// Reads a key like ReadKey(), but makes a new key file (mode 0600) and the folders (0700) if there
// is no file. If several processes make the file at once, all these processes get the same key.
Key ReadOrMakeKey(const std::string& file);

}  // namespace viaduct::claim
