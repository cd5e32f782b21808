// The requests to the broker. The payload of a request is JSON unless noted otherwise.
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

// The codes of the requests, with their payload and reply. A program is started by
// privilege::ProgramRequest::kSpawn, whose reply has the pid, and descriptors for the pidfd and the
// exit status.
enum class Request : uint16_t {
  kCreateLab = ipc::kFirstRequest,  // payload: a lab::Topology
  kDestroyLab,
  kOpenPacketSocket,   // reply: ifindex, has_qdisc; the socket
  kOpenControlSocket,  // reply: ifindex, has_qdisc; the socket
  kOpenTun,            // reply: the descriptor of the TUN device
  kApplyRoutes,        // payload: RoutesHeader, the node's name, RouteRecords; reply: nothing
  kSetLinkUp,
  kKill,      // payload: pid, signal
  kDescribe,  // reply: the lab's description
  kDetach,
  kNewConnection,        // reply: the descriptor of the new connection
  kIfIndex,              // payload: a node and an interface; reply: ifindex
  kSetAddresses,         // payload: a node, an interface and its addresses
  kOpenLinkMonitor,      // payload: a node; reply: the descriptor of the netlink socket
  kOpenTransportSocket,  // reply: the socket
  kOpenUpcalls,          // payload: a node, families; reply: the descriptor of the TUN device
  // payload: a node, neighbours (interface, address, mac), held; reply: nothing.
  kSetNeighbours,
  kOpenTables,       // payload: a node; reply: table_words; the descriptors of Tables
  kOpenMulticast,    // payload: a node, a family, interfaces; reply: the socket
  kAdoptLab,         // payload: a lab::Topology; reply: nothing
  kReadRoutes,       // payload: a node; reply: a file with the payload of kApplyRoutes, all kAdded
  kNoteSimulator,    // payload: a lab::SimulatorHistory; reply: nothing
  kLendInnerSocket,  // payload: none, but a socket is passed; reply: nothing
  kLookUp,           // payload: a node, destinations; reply: passages
};

struct RoutesHeader {
  uint32_t node_length;  // the length in bytes of the node's name, which follows the header
  uint32_t records;      // the number of RouteRecords after the name, one for each next hop
};
static_assert(sizeof(RoutesHeader) == 8);

enum class RouteChange : uint8_t { kReplaced = 0, kAdded = 1, kRemoved = 2 };

// The flags in RouteRecord::flags.
inline constexpr uint8_t kFurtherHop = 1;  // the record adds a next hop to the previous route
inline constexpr uint8_t kPreferred = 2;   // the table of the route is fib::Table::kPreferred

struct RouteRecord {
  uint32_t metric;
  uint8_t change;  // a RouteChange
  uint8_t family;  // a wire::Family
  uint8_t prefix_length;
  uint8_t flags;
  uint8_t destination[16];
  uint8_t gateway[16];  // all zero: the destination is on the link
  char interface[16];   // zero-terminated (IFNAMSIZ)
};
static_assert(sizeof(RouteRecord) == 56 && alignof(RouteRecord) == 4);

std::string EncodeRoutes(const std::string& node, const fib::RouteChanges& changes);
struct RoutesRequest {
  std::string node;
  fib::RouteChanges changes;
};
// Decodes the payload of kApplyRoutes. Throws ipc::ProtocolError if it is malformed.
RoutesRequest DecodeRoutes(std::string_view payload);

// Returns the member "family" of a request. Throws UsageError if the member is missing or neither 4
// nor 6.
wire::Family DecodeFamily(const nlohmann::json& request);
wire::Family FamilyOf(int number);  // `number`: 4 or 6; throws UsageError otherwise

void to_json(nlohmann::json& json, const PacketSocketOptions& options);
void from_json(const nlohmann::json& json, PacketSocketOptions& options);
void to_json(nlohmann::json& json, const ControlSocketOptions& options);
void from_json(const nlohmann::json& json, ControlSocketOptions& options);
void to_json(nlohmann::json& json, const TransportSocketOptions& options);
void from_json(const nlohmann::json& json, TransportSocketOptions& options);

}  // namespace viaduct::broker
