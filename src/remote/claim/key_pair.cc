#include "remote/claim/key_pair.h"

#include <openssl/evp.h>

#include <algorithm>
#include <memory>

#include "base/error.h"

namespace viaduct::claim {
namespace {

constexpr size_t kBase64Length = 44;  // characters for 32 bytes

void Check(int result) {
  if (result != 1) throw Error("OpenSSL cannot create an X25519 key");
}

}  // namespace

TunnelKey TunnelKey::Parse(std::string_view text) {
  TunnelKey key;
  std::array<uint8_t, 33> decoded;  // 32 bytes of the key, and one byte for the padding
  const bool is_key =
      text.size() == kBase64Length && text.ends_with('=') && text[kBase64Length - 2] != '=' &&
      EVP_DecodeBlock(decoded.data(), reinterpret_cast<const uint8_t*>(text.data()),
                      static_cast<int>(text.size())) == static_cast<int>(decoded.size());
  if (is_key) std::copy_n(decoded.begin(), key.bytes.size(), key.bytes.begin());
  if (!is_key || key.ToString() != text) {
    throw UsageError("not a WireGuard key, which consists of 32 bytes in base64");
  }
  return key;
}

std::string TunnelKey::ToString() const {
  std::array<uint8_t, kBase64Length + 1> text;
  const int length = EVP_EncodeBlock(text.data(), bytes.data(), static_cast<int>(bytes.size()));
  return {reinterpret_cast<const char*>(text.data()), static_cast<size_t>(length)};
}

KeyPair KeyPair::Fresh() {
  const std::unique_ptr<EVP_PKEY, void (*)(EVP_PKEY*)> made(
      EVP_PKEY_Q_keygen(nullptr, nullptr, "X25519"), EVP_PKEY_free);
  if (!made) Check(0);
  KeyPair pair;
  size_t length = pair.secret.bytes.size();
  Check(EVP_PKEY_get_raw_private_key(made.get(), pair.secret.bytes.data(), &length));
  length = pair.open.bytes.size();
  Check(EVP_PKEY_get_raw_public_key(made.get(), pair.open.bytes.data(), &length));
  return pair;
}

}  // namespace viaduct::claim
