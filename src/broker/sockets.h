// The sockets that the broker makes inside nodes.
#pragma once

#include "broker/client.h"
#include "lab/builder.h"

namespace viaduct::broker {

// See Client::OpenPacketSocket and Client::OpenControlSocket. UsageError: no such node or
// interface in the lab, malformed filter, port in use.
NodeSocket MakePacketSocket(lab::Lab& lab, const PacketSocketOptions& options);
NodeSocket MakeControlSocket(lab::Lab& lab, const ControlSocketOptions& options);

}  // namespace viaduct::broker
