/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "ns3/neighbour/address-resolution.h"

#include "ns3/neighbour/arp-neighbours.h"
#include "ns3/neighbour/ndisc-neighbours.h"

#include "ns3/arp-l3-protocol.h"
#include "ns3/double.h"
#include "ns3/integer.h"
#include "ns3/ipv4-interface.h"
#include "ns3/ipv4-l3-protocol.h"
#include "ns3/ipv6-l3-protocol.h"
#include "ns3/random-variable-stream.h"
#include "ns3/string.h"
#include "ns3/uinteger.h"

#include <algorithm>
#include <functional>
#include <sstream>
#include <string>
#include <vector>

namespace ns3
{

namespace
{

using Sysctls = std::map<std::string, std::string>;

/** The address resolution of a node, which is aggregated to the node and disposed with it. */
class AddressResolution : public Object
{
  public:
    /** @return the object TypeId */
    static TypeId GetTypeId()
    {
        static TypeId tid =
            TypeId("ns3::AddressResolution").SetParent<Object>().SetGroupName("Viaduct");
        return tid;
    }

    /** IPv4 neighbours; null: the node does not resolve IPv4 addresses as Linux does. */
    Ptr<ArpNeighbours> m_arp;
    std::vector<Ptr<NdiscNeighbours>> m_ndisc; //!< IPv6 neighbours, one object for each interface
    bool m_onRadio{false}; //!< whether any call of ResolveAddressesAsKernelsDo() had onRadio set
    Sysctls m_sysctls;     //!< last non-empty `sysctls` that ResolveAddressesAsKernelsDo() received

  protected:
    void DoDispose() override
    {
        if (m_arp)
        {
            m_arp->Dispose();
            m_arp = nullptr;
        }
        for (const auto& each : m_ndisc)
        {
            each->Dispose();
        }
        m_ndisc.clear();
        Object::DoDispose();
    }
};

NS_OBJECT_ENSURE_REGISTERED(AddressResolution);

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

/** @return whether Config::SetDefault() was called for at least one of several attributes of T */
template <class T>
bool
HasUserDefaults(const std::vector<std::string>& attributes)
{
    return std::any_of(attributes.begin(), attributes.end(), HasUserDefault<T>);
}

/** @return the limit of a queue, if the user has set the limit by Config::SetDefault(); otherwise
 * nothing */
template <class T>
std::optional<uint32_t>
GetUsersLimit(const std::string& attribute)
{
    if (!HasUserDefault<T>(attribute))
    {
        return std::nullopt;
    }
    UintegerValue value;
    CreateObject<T>()->GetAttribute(attribute, value);
    return static_cast<uint32_t>(value.Get());
}

/** Passes the value of the kernel's neighbour setting @p name to @p set, if the setting is given
 * and is a number. A setting for the interface overrides the setting for "default". */
void
SetBySysctl(const Sysctls& sysctls,
            bool isIpv6,
            uint32_t interface,
            const std::string& name,
            const std::function<void(uint32_t)>& set)
{
    const std::string family = isIpv6 ? "net.ipv6.neigh." : "net.ipv4.neigh.";
    for (const std::string& of : {std::string("default"), "eth" + std::to_string(interface - 1)})
    {
        const auto found = sysctls.find(family + of + "." + name);
        uint32_t value = 0;
        if (found != sysctls.end() && std::istringstream(found->second) >> value)
        {
            set(value);
        }
    }
}

/**
 * @return the timers and limits of an interface. The time for which a neighbour is reachable is
 * random, as in Linux (neigh_rand_reach_time()), and depends on the seed
 */
NeighbourLimits
LimitsOf(Ptr<Node> node, uint32_t interface, bool isIpv6, const AddressResolution& resolution)
{
    // The reachable time is a base, 30 s by default, times a random factor of at least LEAST.
    constexpr double LEAST = 0.5;
    constexpr double MOST = 1.5;
    // The first random stream of this function; far from the streams that users assign.
    constexpr int64_t STREAMS = int64_t{0x6e656967} << 31;
    constexpr int64_t INTERFACES = 1024;
    const int64_t stream =
        STREAMS + 2 * (node->GetId() * INTERFACES + interface % INTERFACES) + (isIpv6 ? 1 : 0);
    const auto random = CreateObjectWithAttributes<UniformRandomVariable>(
        "Stream", IntegerValue(stream), "Min", DoubleValue(LEAST), "Max", DoubleValue(MOST));
    NeighbourLimits limits;
    const auto set = [&](const char* name, const std::function<void(uint32_t)>& apply) {
        SetBySysctl(resolution.m_sysctls, isIpv6, interface, name, apply);
    };
    set("base_reachable_time_ms", [&](uint32_t ms) { limits.reachable = MilliSeconds(ms); });
    // A kernel's timers are late in proportion to their length. The defaults include this lateness,
    // so a setting scales the default.
    set("delay_first_probe_time",
        [&](uint32_t s) { limits.delay = NeighbourLimits().delay * (s / 5.0); });
    set("retrans_time_ms",
        [&](uint32_t ms) { limits.interval = NeighbourLimits().interval * (ms / 1e3); });
    set("mcast_solicit", [&](uint32_t number) { limits.requests = number; });
    set("unres_qlen_bytes", [&](uint32_t bytes) { limits.bytes = bytes; });
    limits.reachable = limits.reachable * random->GetValue();
    if (resolution.m_onRadio)
    {
        // Maximum random part of the request interval in seconds: as long as several hundred
        // frames.
        constexpr double OWN = 0.1;
        constexpr double MAX_JITTER = 10; // ms, maximum delay of the first request, as in ns-3
        limits.interval += Seconds(random->GetValue(0, OWN));
        random->SetAttribute("Min", DoubleValue(0));
        random->SetAttribute("Max", DoubleValue(MAX_JITTER));
        limits.jitter = random;
    }
    return limits;
}

void
ResolveIpv4(Ptr<Node> node, AddressResolution& resolution)
{
    const auto arp = node->GetObject<ArpL3Protocol>();
    const auto ipv4 = node->GetObject<Ipv4L3Protocol>();
    if (!arp || !ipv4)
    {
        return;
    }
    if (!resolution.m_arp)
    {
        resolution.m_arp = CreateObject<ArpNeighbours>(node);
        arp->SetAttribute("RequestJitter", StringValue("ns3::ConstantRandomVariable[Constant=0]"));
    }
    for (uint32_t i = 0; i < ipv4->GetNInterfaces(); i++)
    {
        if (const Ptr<ArpCache> cache = ipv4->GetInterface(i)->GetArpCache())
        {
            NeighbourLimits limits = LimitsOf(node, i, false, resolution);
            limits.packets = GetUsersLimit<ArpCache>("PendingQueueSize");
            resolution.m_arp->Add(cache, limits);
        }
    }
}

void
ResolveIpv6(Ptr<Node> node, AddressResolution& resolution)
{
    const auto icmpv6 = node->GetObject<Icmpv6L4Protocol>();
    const auto ipv6 = node->GetObject<Ipv6L3Protocol>();
    for (uint32_t i = 0; icmpv6 && ipv6 && i < ipv6->GetNInterfaces(); i++)
    {
        const Ptr<Ipv6Interface> interface = ipv6->GetInterface(i);
        const bool isDone =
            ipv6->GetProtocol(Icmpv6L4Protocol::PROT_NUMBER, static_cast<int32_t>(i)) != icmpv6;
        if (isDone || !interface->GetNdiscCache())
        {
            continue;
        }
        NeighbourLimits limits = LimitsOf(node, i, true, resolution);
        limits.packets = GetUsersLimit<NdiscCache>("UnresolvedQueueSize");
        const auto neighbours = CreateObject<NdiscNeighbours>(icmpv6, interface, limits);
        ipv6->Insert(neighbours, i);
        resolution.m_ndisc.push_back(neighbours);
    }
}

} // namespace

void
ResolveAddressesAsKernelsDo(Ptr<Node> node,
                            bool onRadio,
                            const std::map<std::string, std::string>& sysctls)
{
    auto resolution = node->GetObject<AddressResolution>();
    if (!resolution)
    {
        resolution = CreateObject<AddressResolution>();
        node->AggregateObject(resolution);
    }
    resolution->m_onRadio |= onRadio;
    resolution->m_sysctls = sysctls.empty() ? resolution->m_sysctls : sysctls;
    if (!HasUserDefaults<ArpCache>(
            {"AliveTimeout", "DeadTimeout", "WaitReplyTimeout", "MaxRetries"}) &&
        !HasUserDefault<ArpL3Protocol>("RequestJitter"))
    {
        ResolveIpv4(node, *resolution);
    }
    if (!HasUserDefaults<Icmpv6L4Protocol>({"MaxMulticastSolicit",
                                            "MaxUnicastSolicit",
                                            "ReachableTime",
                                            "RetransmissionTime",
                                            "DelayFirstProbe",
                                            "SolicitationJitter"}))
    {
        ResolveIpv6(node, *resolution);
    }
}

} // namespace ns3
