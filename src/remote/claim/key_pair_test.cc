#include "remote/claim/key_pair.h"

#include <gtest/gtest.h>
#include <openssl/evp.h>

#include "base/error.h"

namespace viaduct::claim {
namespace {

TEST(KeyPairTest, ATunnelKeyBelongsToItsSecret) {
  const KeyPair pair = KeyPair::Fresh();
  EXPECT_NE(pair.secret, KeyPair::Fresh().secret);
  EVP_PKEY* const again =
      EVP_PKEY_new_raw_private_key(EVP_PKEY_X25519, nullptr, pair.secret.bytes.data(), 32);
  ASSERT_NE(again, nullptr);
  TunnelKey open;
  size_t length = open.bytes.size();
  EXPECT_EQ(EVP_PKEY_get_raw_public_key(again, open.bytes.data(), &length), 1);
  EVP_PKEY_free(again);
  EXPECT_EQ(open, pair.open);
}

TEST(KeyPairTest, IsWrittenAsWgDoes) {
  // Alice's public key of RFC 7748, section 6.1, and its base64 text as wg(8) writes it.
  TunnelKey alice;
  alice.bytes = {0x85, 0x20, 0xf0, 0x09, 0x89, 0x30, 0xa7, 0x54, 0x74, 0x8b, 0x7d,
                 0xdc, 0xb4, 0x3e, 0xf7, 0x5a, 0x0d, 0xbf, 0x3a, 0x0d, 0x26, 0x38,
                 0x1a, 0xf4, 0xeb, 0xa4, 0xa9, 0x8e, 0xaa, 0x9b, 0x4e, 0x6a};
  EXPECT_EQ(alice.ToString(), "hSDwCYkwp1R0i33ctD73Wg2/Og0mOBr066SpjqqbTmo=");
  EXPECT_EQ(TunnelKey::Parse(alice.ToString()), alice);
}

TEST(KeyPairTest, WhatIsNoTunnelKey) {
  const std::string good = "hSDwCYkwp1R0i33ctD73Wg2/Og0mOBr066SpjqqbTmo=";
  for (const std::string& bad :
       {std::string(), good.substr(1), good + "=", good.substr(0, 43) + "A",
        good.substr(0, 42) + "==", std::string("\n") + good.substr(1), "*" + good.substr(1),
        // The last character of the text has bits that are not part of any byte.
        good.substr(0, 42) + "p="}) {
    EXPECT_THROW(TunnelKey::Parse(bad), UsageError) << bad;
  }
}

}  // namespace
}  // namespace viaduct::claim
