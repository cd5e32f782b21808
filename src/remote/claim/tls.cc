#include "remote/claim/tls.h"

#include <openssl/err.h>
#include <openssl/ssl.h>

#include <array>

namespace viaduct::claim {
namespace {

// Cipher suite TLS_AES_128_GCM_SHA256 (RFC 8446, B.4): a PSK is bound to one hash function.
constexpr unsigned char kSuite[] = {0x13, 0x01};
constexpr char kSuiteName[] = "TLS_AES_128_GCM_SHA256";

void Check(bool is_good, const char* what) {
  if (!is_good) throw Error(std::string("OpenSSL cannot ") + what);
}

// Returns a "session" with the key, which is the form in which OpenSSL takes external PSKs. The
// caller owns the session.
SSL_SESSION* SessionOf(SSL* connection, const Key& key) {
  SSL_SESSION* session = SSL_SESSION_new();
  const SSL_CIPHER* suite = SSL_CIPHER_find(connection, kSuite);
  if (session != nullptr && suite != nullptr &&
      SSL_SESSION_set1_master_key(session, key.secret.data(), key.secret.size()) == 1 &&
      SSL_SESSION_set_cipher(session, suite) == 1 &&
      SSL_SESSION_set_protocol_version(session, TLS1_3_VERSION) == 1) {
    return session;
  }
  SSL_SESSION_free(session);
  return nullptr;
}

const TlsContext& ContextOf(SSL* connection) {
  return *static_cast<const TlsContext*>(SSL_CTX_get_app_data(SSL_get_SSL_CTX(connection)));
}

// The hub's callback that looks up the client's key. If the callback sets no session, the handshake
// continues with certificates. Then it fails, because the hub has no certificate.
int FindKey(SSL* connection, const unsigned char* identity, size_t length, SSL_SESSION** session) {
  const TlsContext& context = ContextOf(connection);
  *session = nullptr;
  if (std::string_view(reinterpret_cast<const char*>(identity), length) != context.identity()) {
    static_cast<TlsSession*>(SSL_get_app_data(connection))->NoteUnknownKey();
    return 1;
  }
  *session = SessionOf(connection, context.key());
  return *session != nullptr ? 1 : 0;
}

// The client's callback that sets the client's key.
int UseKey(SSL* connection, const EVP_MD*, const unsigned char** identity, size_t* length,
           SSL_SESSION** session) {
  const TlsContext& context = ContextOf(connection);
  *session = SessionOf(connection, context.key());
  *identity = reinterpret_cast<const unsigned char*>(context.identity().data());
  *length = context.identity().size();
  return *session != nullptr ? 1 : 0;
}

}  // namespace

TlsContext::TlsContext(Role role, const Key& key)
    : role_(role),
      key_(key),
      identity_("viaduct-1-" + key.Id()),
      context_(SSL_CTX_new(role == Role::kHub ? TLS_server_method() : TLS_client_method())) {
  Check(context_ != nullptr, "create a TLS context");
  Check(SSL_CTX_set_min_proto_version(context_, TLS1_3_VERSION) == 1 &&
            SSL_CTX_set_max_proto_version(context_, TLS1_3_VERSION) == 1 &&
            SSL_CTX_set_ciphersuites(context_, kSuiteName) == 1,
        "enable TLS 1.3");
  SSL_CTX_set_app_data(context_, this);
  SSL_CTX_set_session_cache_mode(context_, SSL_SESS_CACHE_OFF);
  SSL_CTX_set_options(context_, SSL_OP_NO_TICKET | SSL_OP_NO_COMPRESSION);
  SSL_CTX_set_num_tickets(context_, 0);
  SSL_CTX_set_mode(context_, SSL_MODE_RELEASE_BUFFERS);
  if (role == Role::kHub) {
    SSL_CTX_set_psk_find_session_callback(context_, FindKey);
  } else {
    SSL_CTX_set_psk_use_session_callback(context_, UseKey);
    // No certificate is trusted: a server might show one instead of the key.
    SSL_CTX_set_verify(context_, SSL_VERIFY_PEER, nullptr);
  }
}

TlsContext::~TlsContext() { SSL_CTX_free(context_); }

TlsSession::TlsSession(const TlsContext& context)
    : context_(context), session_(SSL_new(context.get())) {
  Check(session_ != nullptr, "create a TLS session");
  BIO* const in = BIO_new(BIO_s_mem());
  BIO* const out = BIO_new(BIO_s_mem());
  SSL_set_bio(session_, in, out);  // the session takes ownership of `in` and `out`
  SSL_set_app_data(session_, this);
  if (context.role() == TlsContext::Role::kHub) {
    SSL_set_accept_state(session_);
  } else {
    SSL_set_connect_state(session_);
    Advance();  // produces the client's first bytes
  }
}

TlsSession::~TlsSession() { SSL_free(session_); }

std::string TlsSession::Take(std::string_view wire) {
  if (!wire.empty()) {
    Check(BIO_write(SSL_get_rbio(session_), wire.data(), static_cast<int>(wire.size())) ==
              static_cast<int>(wire.size()),
          "store received data");
  }
  return is_open_ || Advance() ? Decrypt() : "";
}

// Continues the handshake. Returns whether the handshake is complete.
bool TlsSession::Advance() {
  ERR_clear_error();
  const int result = SSL_do_handshake(session_);
  if (result != 1) {
    if (SSL_get_error(session_, result) != SSL_ERROR_WANT_READ) Fail(result);
    return false;
  }
  // OpenSSL reports a session with the key as "reused". In any other session the hub has shown a
  // certificate instead of the key.
  if (SSL_session_reused(session_) != 1)
    throw TlsError("the hub did not prove that it has the key", true);
  is_open_ = true;
  return true;
}

std::string TlsSession::Decrypt() {
  std::string text;
  std::array<char, 16384> piece;
  for (;;) {
    ERR_clear_error();
    const int got = SSL_read(session_, piece.data(), static_cast<int>(piece.size()));
    if (got > 0) {
      text.append(piece.data(), static_cast<size_t>(got));
      continue;
    }
    const int why = SSL_get_error(session_, got);
    if (why == SSL_ERROR_ZERO_RETURN) has_ended_ = true;
    if (why == SSL_ERROR_ZERO_RETURN || why == SSL_ERROR_WANT_READ) return text;
    Fail(got);
  }
}

void TlsSession::Fail(int result) {
  const unsigned long error = ERR_peek_error();
  const int reason = SSL_get_error(session_, result) == SSL_ERROR_SSL ? ERR_GET_REASON(error) : 0;
  ERR_clear_error();
  // The alerts of a hub with another key: a hub that does not know the key's identity cannot
  // continue the handshake, and a hub with another key of the same identity finds a wrong binder.
  const bool says_so = reason == SSL_R_SSLV3_ALERT_HANDSHAKE_FAILURE ||
                       reason == SSL_R_TLSV1_ALERT_DECRYPT_ERROR ||
                       reason == SSL_R_SSLV3_ALERT_ILLEGAL_PARAMETER;
  const bool is_hub = context_.role() == TlsContext::Role::kHub;
  if (knows_other_key_ || reason == SSL_R_BINDER_DOES_NOT_VERIFY) {
    throw TlsError("the other end has another key", true);
  }
  if (!is_hub && !is_open_ && says_so) throw TlsError("the hub has another key", true);
  const char* const text = error == 0 ? nullptr : ERR_reason_error_string(error);
  throw TlsError(std::string("TLS: ") + (text == nullptr ? "broken connection" : text), false);
}

void TlsSession::Send(std::string_view text) {
  ERR_clear_error();
  const int sent = SSL_write(session_, text.data(), static_cast<int>(text.size()));
  if (sent <= 0) Fail(sent);
}

void TlsSession::End() {
  ERR_clear_error();
  SSL_shutdown(session_);
  ERR_clear_error();
}

std::string TlsSession::Output() {
  BIO* const out = SSL_get_wbio(session_);
  std::string bytes(BIO_ctrl_pending(out), '\0');
  if (!bytes.empty()) BIO_read(out, bytes.data(), static_cast<int>(bytes.size()));
  return bytes;
}

}  // namespace viaduct::claim
