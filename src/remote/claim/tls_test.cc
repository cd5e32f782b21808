#include "remote/claim/tls.h"

#include <gtest/gtest.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>

#include <optional>

namespace viaduct::claim {
namespace {

using Role = TlsContext::Role;

Key SomeKey(uint8_t number) {
  Key key;
  key.secret.fill(number);
  return key;
}

struct Ends {
  explicit Ends(const Key& hubs, const Key& clients)
      : hub_context(Role::kHub, hubs),
        client_context(Role::kClient, clients),
        hub(hub_context),
        client(client_context) {}

  void Exchange() {
    for (int i = 0; i < 6; ++i) {
      const std::string up = client.Output();
      sent += up;
      said_to_hub += hub.Take(up);
      said_to_client += client.Take(hub.Output());
    }
  }

  TlsContext hub_context, client_context;
  TlsSession hub, client;
  std::string sent, said_to_hub, said_to_client;
};

TEST(ClaimTls, WhoHasTheKeyIsHeard) {
  Ends ends(SomeKey(1), SomeKey(1));
  ends.Exchange();
  ASSERT_TRUE(ends.hub.IsOpen() && ends.client.IsOpen());
  ends.client.Send("from the client");
  ends.hub.Send("from the hub");
  ends.Exchange();
  EXPECT_EQ(ends.said_to_hub, "from the client");
  EXPECT_EQ(ends.said_to_client, "from the hub");
  EXPECT_EQ(ends.sent.find("from the client"), std::string::npos) << "it is encrypted";
  ends.client.End();
  ends.Exchange();
  EXPECT_TRUE(ends.hub.HasEnded());
}

// Passes the bytes `wire` to a session. Returns the session's error, or an empty string if the
// session reports no error.
std::optional<TlsError> ErrorOf(TlsSession& session, const std::string& wire) {
  try {
    session.Take(wire);
    return std::nullopt;
  } catch (const TlsError& error) {
    return error;
  }
}

TEST(ClaimTls, AnotherKeyIsRefusedAndBothEndsKnowWhy) {
  Ends ends(SomeKey(1), SomeKey(2));
  const auto at_hub = ErrorOf(ends.hub, ends.client.Output());
  ASSERT_TRUE(at_hub && at_hub->is_key());
  const auto at_client = ErrorOf(ends.client, ends.hub.Output());
  ASSERT_TRUE(at_client && at_client->is_key()) << at_client->what();
  EXPECT_FALSE(ends.hub.IsOpen() || ends.client.IsOpen());
}

TEST(ClaimTls, WhatIsNotTlsIsRefused) {
  const TlsContext context(Role::kHub, SomeKey(1));
  const std::string record("\x16\x03\x01\x02\x00", 5);  // header of a TLS handshake record
  for (const std::string& text :
       {std::string("GET / HTTP/1.1\r\n\r\n"), record, std::string("{\"claim\":null}\n")}) {
    TlsSession session(context);
    const auto error = ErrorOf(session, text + std::string(600, 'x'));
    ASSERT_TRUE(error);
    EXPECT_FALSE(error->is_key());
    EXPECT_FALSE(session.IsOpen());
  }
}

// The hub's part of the handshake differs each time, so that replayed bytes of a client fail.
TEST(ClaimTls, ReplayedBytesOpenNothing) {
  Ends ends(SomeKey(1), SomeKey(1));
  ends.Exchange();
  ends.client.Send("claim");
  ends.Exchange();
  ASSERT_EQ(ends.said_to_hub, "claim");
  TlsSession another(ends.hub_context);
  const auto error = ErrorOf(another, ends.sent);
  ASSERT_TRUE(error);
  EXPECT_FALSE(another.IsOpen());
}

// A TLS server with a self-signed certificate.
struct Impostor {
  Impostor() : context(SSL_CTX_new(TLS_server_method())) {
    EVP_PKEY* const key = EVP_EC_gen("P-256");
    X509* const certificate = X509_new();
    ASN1_INTEGER_set(X509_get_serialNumber(certificate), 1);
    X509_gmtime_adj(X509_getm_notBefore(certificate), 0);
    X509_gmtime_adj(X509_getm_notAfter(certificate), 3600);
    X509_set_pubkey(certificate, key);
    X509_sign(certificate, key, EVP_sha256());
    SSL_CTX_use_certificate(context, certificate);
    SSL_CTX_use_PrivateKey(context, key);
    X509_free(certificate);
    EVP_PKEY_free(key);
    session = SSL_new(context);
    SSL_set_bio(session, BIO_new(BIO_s_mem()), BIO_new(BIO_s_mem()));
    SSL_set_accept_state(session);
  }
  ~Impostor() {
    SSL_free(session);
    SSL_CTX_free(context);
  }
  std::string Answer(const std::string& wire) const {
    BIO_write(SSL_get_rbio(session), wire.data(), static_cast<int>(wire.size()));
    SSL_do_handshake(session);
    std::string answer(BIO_ctrl_pending(SSL_get_wbio(session)), '\0');
    BIO_read(SSL_get_wbio(session), answer.data(), static_cast<int>(answer.size()));
    return answer;
  }

  SSL_CTX* context;
  SSL* session = nullptr;
};

TEST(ClaimTls, ACertificateIsNoKey) {
  const Impostor impostor;
  const TlsContext context(Role::kClient, SomeKey(1));
  TlsSession client(context);
  const std::string answer = impostor.Answer(client.Output());
  ASSERT_GT(answer.size(), 300u) << "it has a certificate to show";
  EXPECT_TRUE(ErrorOf(client, answer));
  EXPECT_FALSE(client.IsOpen());
}

}  // namespace
}  // namespace viaduct::claim
