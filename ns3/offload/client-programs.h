/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef VIADUCT_CLIENT_PROGRAMS_H
#define VIADUCT_CLIENT_PROGRAMS_H

#include "ns3/node.h"
#include "ns3/offload/program-port.h"

#include "base/wire/address.h"
#include "port/port.h"

#include <memory>
#include <vector>

namespace ns3
{

/**
 * @ingroup viaduct
 * @param node a node whose programs run on a client, which has the node's addresses
 * @return the node's addresses, without loopback addresses
 */
std::vector<viaduct::wire::IpAddress> AddressesOfClient(Ptr<Node> node);

/**
 * @ingroup viaduct
 * Connects a host that runs the programs of a node and answers echo requests itself.
 * @param node the node, which has its Internet stack and its addresses
 * @param carrier sends packets to the host; the caller passes packets from the host to
 * ProgramPort::FromProgram()
 * @return the node's program port
 */
Ptr<ProgramPort> InstallClient(Ptr<Node> node, const ProgramPort::Carrier& carrier);

/**
 * @ingroup viaduct
 * Connects a host that runs the programs of a node and is at the end of an Ethernet wire
 * (viaduct::tunnel::ClientWire).
 * @param node the node
 * @param frames the port to the wire
 * @return the node's program port
 */
Ptr<ProgramPort> InstallClient(Ptr<Node> node, std::unique_ptr<viaduct::io::AnyPort> frames);

} // namespace ns3

#endif // VIADUCT_CLIENT_PROGRAMS_H
