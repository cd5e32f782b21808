// A link that several pipelines share: their packets wait in one queue and contend for one rate.
#pragma once

#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "path/queue/bottleneck.h"
#include "path/queue/queue_spec.h"

namespace viaduct::path {

// All users, and all calls, are in one thread; `now` must not decrease from one call to the next,
// regardless of the user. A user defines the rate and the queue; before a definition, there is no
// limit. Other users may give the same definition, but then it cannot be changed any more.
class SharedLink final : private DropSink {
 public:
  // The functions of a pipeline with which it receives its packets from the link.
  class User {
   public:
    virtual ~User() = default;
    // Receives a packet whose last bit has left, at packet.ready.
    virtual void Left(const Packet& packet) = 0;
    virtual void Dropped(const Packet& packet, Fate cause, Instant at) = 0;
  };

  explicit SharedLink(std::string name);

  // Adds a user, which must exist until the last call to the link; returns the user's number.
  uint32_t Join(User* user);
  // Throws UsageError if the user may not give this definition. A link without a rate is not a
  // definition.
  void Check(uint32_t user, const LinkSpec& link, const QueueSpec& queue) const;
  // Installs the user's definition, made of `server` and `discipline` (null: unchanged); the first
  // definition needs both. Packets that already wait leave at the new rate.
  void Define(uint32_t user, const LinkSpec& link, const QueueSpec& queue,
              std::unique_ptr<RateServer> server, std::unique_ptr<QueueDiscipline> discipline,
              Instant now);
  // Withdraws the user's definition: if the user had given one, waiting packets leave at once.
  void Undefine(uint32_t user, Instant now);
  bool IsDefined() const { return !definers_.empty(); }

  // Sets the instant at which the path begins to exist (Bottleneck::Begin).
  void Begin(Instant now);
  // Takes a packet of this user; Advance(now) must have been called before.
  void Push(uint32_t user, Packet packet, Instant now);
  // Performs all events until `now`.
  void Advance(uint32_t user, Instant now);
  // Returns the instant at which Advance() has something to do, for the user that called last;
  // Never for all other users.
  Instant NextEventOf(uint32_t user) const {
    return user == caller_ ? bottleneck_.NextEvent() : Instant::Never();
  }
  Instant NextEvent() const { return bottleneck_.NextEvent(); }
  bool Stalled() const { return bottleneck_.Stalled(); }

 private:
  static constexpr uint32_t kNobody = UINT32_MAX;
  void Drop(const Packet& packet, Fate cause, Instant at) override;
  void Install(std::unique_ptr<RateServer> server, std::unique_ptr<QueueDiscipline> discipline,
               Instant now);

  std::string name_;
  std::vector<User*> users_;
  Bottleneck bottleneck_;
  std::set<uint32_t> definers_;
  LinkSpec link_;  // the link that the users in definers_ defined
  QueueSpec queue_;
  uint32_t caller_ = kNobody;
  bool begun_ = false;
};

// The shared links of one thread, by name.
class SharedLinks {
 public:
  SharedLink& Of(const std::string& name);
  // Throws UsageError if no user gives the rate of one of the links.
  void Check() const;

 private:
  std::map<std::string, SharedLink> links_;
};

}  // namespace viaduct::path
