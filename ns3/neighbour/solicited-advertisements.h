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
 * Lets a neighbour that answers a node's probe confirm its entry in ns3::NdiscCache also when the
 * advertisement has no link-layer address. A solicitation to one neighbour needs none in its answer
 * (RFC 4861, section 4.4), and Linux sends none (ndisc_send_na()). ns-3 ignores such answers
 * (Icmpv6L4Protocol::HandleNA()): an entry that is probed loses the packets sent for three seconds.
 *
 * Interfaces without ns-3's resolution (ResolveAddressesAsKernelsDo()) are left unchanged.
 *
 * @param node the node; no effect without IPv6
 */
void TakeAdvertisementsWithoutAddress(Ptr<Node> node);

} // namespace ns3

#endif // VIADUCT_SOLICITED_ADVERTISEMENTS_H
