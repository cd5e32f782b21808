/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "address-resolution.h"

#include "ns3/arp-cache.h"
#include "ns3/arp-l3-protocol.h"
#include "ns3/icmpv6-l4-protocol.h"
#include "ns3/ipv4-interface.h"
#include "ns3/ipv4-l3-protocol.h"
#include "ns3/ipv6-interface.h"
#include "ns3/ipv6-l3-protocol.h"
#include "ns3/ndisc-cache.h"
#include "ns3/nstime.h"
#include "ns3/random-variable-stream.h"
#include "ns3/string.h"
#include "ns3/uinteger.h"

namespace ns3
{

namespace
{

const char AT_ONCE[] = "ns3::ConstantRandomVariable[Constant=0]";
constexpr uint64_t WAITING_PACKETS = 101;

/** @return whether Config::SetDefault() was called for an attribute of T */
template <class T>
bool
HasUserDefault(const std::string& attribute)
{
    TypeId::AttributeInformation info;
    T::GetTypeId().LookupAttributeByName(attribute, &info);
    return info.initialValue->SerializeToString(info.checker) !=
           info.originalInitialValue->SerializeToString(info.checker);
}

/** Sets an attribute of an object, if there is one, unless the user has set its default. */
template <class T>
void
SetUnlessUserDid(Ptr<T> object, const std::string& attribute, const AttributeValue& value)
{
    if (object && !HasUserDefault<T>(attribute))
    {
        object->SetAttribute(attribute, value);
    }
}

/** @return by how much a node's clock may be late */
Time
OwnDelay()
{
    constexpr double MOST = 0.1; // s: some hundred frames
    return Seconds(CreateObject<UniformRandomVariable>()->GetValue(0, MOST));
}

} // namespace

void
ResolveAddressesAsKernelsDo(Ptr<Node> node, bool onRadio)
{
    const auto icmpv6 = node->GetObject<Icmpv6L4Protocol>();
    const TimeValue again(MilliSeconds(1000) + (onRadio ? OwnDelay() : Time(0)));
    if (!onRadio)
    {
        SetUnlessUserDid(node->GetObject<ArpL3Protocol>(), "RequestJitter", StringValue(AT_ONCE));
        SetUnlessUserDid(icmpv6, "SolicitationJitter", StringValue(AT_ONCE));
    }
    SetUnlessUserDid(icmpv6, "RetransmissionTime", again);
    const UintegerValue packets(WAITING_PACKETS);
    auto ipv4 = node->GetObject<Ipv4L3Protocol>();
    for (uint32_t i = 0; ipv4 && i < ipv4->GetNInterfaces(); i++)
    {
        const Ptr<ArpCache> cache = ipv4->GetInterface(i)->GetArpCache();
        SetUnlessUserDid(cache, "PendingQueueSize", packets);
        SetUnlessUserDid(cache, "DeadTimeout", TimeValue(Time(0)));
        SetUnlessUserDid(cache, "WaitReplyTimeout", again);
    }
    auto ipv6 = node->GetObject<Ipv6L3Protocol>();
    for (uint32_t i = 0; ipv6 && i < ipv6->GetNInterfaces(); i++)
    {
        SetUnlessUserDid(ipv6->GetInterface(i)->GetNdiscCache(), "UnresolvedQueueSize", packets);
    }
}

} // namespace ns3
