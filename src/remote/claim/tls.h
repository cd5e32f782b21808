// TLS 1.3 (RFC 8446) with a key that both ends have (external PSK, section 4.2.11, psk_dhe_ke): no
// certificates, no early data, no tickets. Bytes in, bytes out: it has no socket.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "base/error.h"
#include "remote/claim/key.h"

struct ssl_ctx_st;
struct ssl_st;

namespace viaduct::claim {

// The other end does not speak TLS as it should, or has another key.
class TlsError : public Error {
 public:
  TlsError(const std::string& message, bool is_key) : Error(message), is_key_(is_key) {}
  bool is_key() const { return is_key_; }  // the keys differ

 private:
  bool is_key_;
};

// What all connections of one end share.
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
  const std::string identity_;  // of the key, in the clear on the wire
  ssl_ctx_st* context_;
};

// One connection.
class TlsSession {
 public:
  explicit TlsSession(const TlsContext& context);  // which must outlive it
  ~TlsSession();
  TlsSession(const TlsSession&) = delete;
  TlsSession& operator=(const TlsSession&) = delete;

  // Takes bytes of the wire, and returns those that they say. Throws TlsError; what Output() has
  // then tells the other end so.
  std::string Take(std::string_view wire);
  // Both ends have shown that they have the key.
  bool IsOpen() const { return is_open_; }
  // The other end says that it has ended.
  bool HasEnded() const { return has_ended_; }
  // For an open one.
  void Send(std::string_view text);
  // Says that this end ends.
  void End();
  // Bytes for the wire.
  std::string Output();

  // By the callbacks of OpenSSL: the other end named a key that this one has not.
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
