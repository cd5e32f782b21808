// The requests to the broker. Their payload is JSON unless noted otherwise.
#pragma once

#include <cstddef>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "lab/broker/client.h"
#include "plane/fib/route_sink.h"
#include "sys/ipc/message.h"

namespace viaduct::broker {

extern const ipc::Service kService;

// Programs are started by privilege::ProgramRequest::kSpawn; reply: pid; pidfd, exit status.
enum class Request : uint16_t {
  kCreateLab = ipc::kFirstRequest,  // a lab::Topology
  kDestroyLab,
  kOpenPacketSocket,   // reply: ifindex, has_qdisc; the socket
  kOpenControlSocket,  // reply: ifindex, has_qdisc; the socket
  kOpenTun,            // reply: the descriptor
  kApplyRoutes,        // RoutesHeader, the node's name, RouteRecords; reply: nothing
  kSetLinkUp,
  kKill,      // pid, signal
  kDescribe,  // reply: the description
  kDetach,
  kNewConnection,        // reply: the connection
  kIfIndex,              // a node and interface; reply: ifindex
  kSetAddresses,         // a node, interface and its addresses
  kOpenLinkMonitor,      // a node; reply: the descriptor
  kOpenTransportSocket,  // reply: the socket
  kOpenUpcalls,          // a node, families; reply: the descriptor
  kSetNeighbours,        // a node, neighbours (interface, address, mac), held; reply: nothing
  kOpenTables,           // a node; reply: table_words; the tables, events, doorbell
  kOpenMulticast,        // a node, family, interfaces; reply: the socket
  kAdoptLab,             // a lab::Topology; reply: nothing
  kReadRoutes,           // a node; reply: a file with the payload of kApplyRoutes, all kAdded
  kNoteSimulator,        // a lab::SimulatorHistory; reply: nothing
  kLendInnerSocket,      // with the socket; reply: nothing
  kLookUp,               // node, destinations; reply: passages
};

struct RoutesHeader {
  uint32_t node_length;  // bytes of the name that follow
  uint32_t records;      // RouteRecords that follow the name, one for each next hop
};
static_assert(sizeof(RoutesHeader) == 8);

enum class RouteChange : uint8_t { kReplaced = 0, kAdded = 1, kRemoved = 2 };

// RouteRecord::flags.
inline constexpr uint8_t kFurtherHop = 1;  // one more next hop of the route of the record before
inline constexpr uint8_t kPreferred = 2;   // fib::Table::kPreferred

struct RouteRecord {
  uint32_t metric;
  uint8_t change;  // RouteChange
  uint8_t family;  // wire::Family
  uint8_t prefix_length;
  uint8_t flags;
  uint8_t destination[16];
  uint8_t gateway[16];  // zero: on link
  char interface[16];   // zero-terminated (IFNAMSIZ)
};
static_assert(sizeof(RouteRecord) == 56 && alignof(RouteRecord) == 4);

std::string EncodeRoutes(const std::string& node, const fib::RouteChanges& changes);
struct RoutesRequest {
  std::string node;
  fib::RouteChanges changes;
};
// Throws ipc::ProtocolError.
RoutesRequest DecodeRoutes(std::string_view payload);

// The member "family" of a request. Throws UsageError if it is missing or neither 4 nor 6.
wire::Family DecodeFamily(const nlohmann::json& request);
wire::Family FamilyOf(int number);  // 4 or 6; throws UsageError

void to_json(nlohmann::json& json, const PacketSocketOptions& options);
void from_json(const nlohmann::json& json, PacketSocketOptions& options);
void to_json(nlohmann::json& json, const ControlSocketOptions& options);
void from_json(const nlohmann::json& json, ControlSocketOptions& options);
void to_json(nlohmann::json& json, const TransportSocketOptions& options);
void from_json(const nlohmann::json& json, TransportSocketOptions& options);

}  // namespace viaduct::broker
