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
 * @param node a node
 * @return the node's addresses without loopback's; the client that has its programs has the same
 */
std::vector<viaduct::wire::IpAddress> AddressesOfClient(Ptr<Node> node);

/**
 * @ingroup viaduct
 * Give the programs of a node to a host, which answers echo requests itself.
 * @param node the node, which has its Internet stack and its addresses
 * @param carrier takes packets to the host; the host's packets go to ProgramPort::FromProgram()
 * @return the node's program port
 */
Ptr<ProgramPort> InstallClient(Ptr<Node> node, const ProgramPort::Carrier& carrier);

/**
 * @ingroup viaduct
 * Give the programs of a node to a host at the end of an Ethernet wire
 * (viaduct::tunnel::ClientWire).
 * @param node the node
 * @param frames the wire
 * @return the node's program port
 */
Ptr<ProgramPort> InstallClient(Ptr<Node> node, std::unique_ptr<viaduct::io::AnyPort> frames);

} // namespace ns3

#endif // VIADUCT_CLIENT_PROGRAMS_H
