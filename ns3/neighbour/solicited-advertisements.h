/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef VIADUCT_SOLICITED_ADVERTISEMENTS_H
#define VIADUCT_SOLICITED_ADVERTISEMENTS_H

#include "ns3/node.h"
#include "ns3/ptr.h"

namespace ns3
{

/**
 * @ingroup viaduct
 * Makes an advertisement that answers a node's probe confirm the neighbour's entry in
 * ns3::NdiscCache even if the advertisement contains no link-layer address.
 *
 * The answer to a solicitation that was sent to one neighbour needs no link-layer address (RFC
 * 4861, section 4.4), and Linux sends none (ndisc_send_na()). ns-3 ignores advertisements without a
 * link-layer address (Icmpv6L4Protocol::HandleNA()): when ns-3 probes a neighbour, all packets to
 * the neighbour are lost for three seconds. The function has no effect on interfaces whose address
 * resolution is not ns-3's own (ResolveAddressesAsKernelsDo()).
 *
 * @param node the node; the function has no effect on a node without IPv6
 */
void TakeAdvertisementsWithoutAddress(Ptr<Node> node);

} // namespace ns3

#endif // VIADUCT_SOLICITED_ADVERTISEMENTS_H
