/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

// This file replaces wireless.cc if ns-3 was built without its module wifi.

#include "ns3/sim/wireless.h"

#include "base/error.h"

namespace ns3::sim
{

NetDeviceContainer
MakeWifi(const viaduct::scenario::LinkSettings& settings, const NodeContainer&)
{
    throw viaduct::UsageError("link " + settings.name +
                              ": wifi: this ns-3 was built without the module wifi; use an ns-3 "
                              "with this module (VIADUCT_NS3, see docs/install.md)");
}

void
SetReceiving(const viaduct::scenario::LinkSettings&, Ptr<NetDevice>, bool)
{
}

bool
IsUnassociated(Ptr<NetDevice>)
{
    return false;
}

bool
SniffWifi(Ptr<NetDevice>, const std::function<void(Ptr<const Packet>)>&)
{
    return false;
}

void
WatchWifiDrops(const std::vector<Ptr<NetDevice>>&, const SeeDrop&)
{
}

} // namespace ns3::sim
