// TLS 1.3 (RFC 8446) with a key that both ends have (external PSK, section 4.2.11, psk_dhe_ke): no
// certificates, no early data, no tickets. A session converts bytes and has no socket.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "base/error.h"
#include "remote/claim/key.h"

struct ssl_ctx_st;
struct ssl_st;

namespace viaduct::claim {

// Thrown if the peer violates the TLS protocol, or has another key.
class TlsError : public Error {
 public:
  TlsError(const std::string& message, bool is_key) : Error(message), is_key_(is_key) {}
  bool is_key() const { return is_key_; }  // whether the peer has another key

 private:
  bool is_key_;
};

// The state that all connections of one end share.
class TlsContext {
 public:
  enum class Role { kHub, kClient };
  TlsContext(Role role, const Key& key);
  ~TlsContext();
  TlsContext(const TlsContext&) = delete;
  TlsContext& operator=(const TlsContext&) = delete;

  Role role() const { return role_; }
  const Key& key() const { return key_; }
  const std::string& identity() const { return identity_; }
  ssl_ctx_st* get() const { return context_; }

 private:
  const Role role_;
  const Key key_;
  const std::string identity_;  // the key's identity, which is sent unencrypted
  ssl_ctx_st* context_;
};

// The TLS session of one connection.
class TlsSession {
 public:
  explicit TlsSession(const TlsContext& context);  // `context` must outlive this object
  ~TlsSession();
  TlsSession(const TlsSession&) = delete;
  TlsSession& operator=(const TlsSession&) = delete;

  // Takes bytes that have arrived, and returns the decrypted bytes. Throws TlsError; Output() then
  // returns the alert for the peer.
  std::string Take(std::string_view wire);
  // Whether both ends have shown that they have the key.
  bool IsOpen() const { return is_open_; }
  // Whether the peer has ended the session.
  bool HasEnded() const { return has_ended_; }
  // Encrypts bytes; the session must be open.
  void Send(std::string_view text);
  // Ends the sending direction of this end.
  void End();
  // Returns the encrypted bytes that must be sent to the peer.
  std::string Output();

  // Called by the callbacks of OpenSSL if the peer names a key that this end does not have.
  void NoteUnknownKey() { knows_other_key_ = true; }

 private:
  bool Advance();
  std::string Decrypt();
  [[noreturn]] void Fail(int result);

  const TlsContext& context_;
  ssl_st* session_;
  bool is_open_ = false, has_ended_ = false, knows_other_key_ = false;
};

}  // namespace viaduct::claim
