// The sockets that the broker creates inside nodes.
#pragma once

#include "lab/broker/client.h"
#include "lab/builder.h"

namespace viaduct::broker {

// Create the sockets of Client::OpenPacketSocket(), OpenControlSocket() and OpenTransportSocket().
// Throw UsageError if the lab has no such node or interface, the filter is malformed or the port is
// in use.
NodeSocket MakePacketSocket(lab::Lab& lab, const PacketSocketOptions& options);
NodeSocket MakeControlSocket(lab::Lab& lab, const ControlSocketOptions& options);
UniqueFd MakeTransportSocket(lab::Lab& lab, const TransportSocketOptions& options);

}  // namespace viaduct::broker
