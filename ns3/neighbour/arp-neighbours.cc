/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "ns3/neighbour/arp-neighbours.h"

#include "ns3/base/ns3-access.h"
#include "ns3/base/wire-conversion.h"

#include "ns3/arp-header.h"
#include "ns3/arp-l3-protocol.h"
#include "ns3/arp-queue-disc-item.h"
#include "ns3/ipv4-interface.h"
#include "ns3/ipv4-l3-protocol.h"
#include "ns3/simulator.h"
#include "ns3/uinteger.h"

#include <limits>
#include <vector>

namespace ns3
{

using viaduct::wire::IpAddress;
using wireconversion::ToIpv4;
using wireconversion::ToWire;

NS_OBJECT_ENSURE_REGISTERED(ArpNeighbours);

/** An interface with its neighbour table and with ns-3's ArpCache, in which ns-3 looks up the
 * neighbours. */
class ArpNeighbours::Interface : public NeighbourTable::Link
{
  public:
    Interface(Ptr<Node> node,
              Ptr<TrafficControlLayer> tc,
              Ptr<ArpCache> cache,
              const NeighbourLimits& limits)
        : m_node(node), m_tc(tc), m_cache(cache), m_table(*this, limits)
    {
        // The cache's own timers and limits are set to values at which they have no effect.
        constexpr auto MOST = std::numeric_limits<uint32_t>::max();
        cache->SetAliveTimeout(Time::Max());
        cache->SetDeadTimeout(Seconds(-1)); // a dead entry counts as expired at any time
        cache->SetAttribute("MaxRetries", UintegerValue(MOST));
        cache->SetAttribute("PendingQueueSize", UintegerValue(MOST));
        cache->SetArpRequestCallback(
            Callback<void, Ptr<const ArpCache>, Ipv4Address>([](auto, auto) {}));
    }

    /** @return ns-3's cache */
    Ptr<ArpCache> GetCache() const
    {
        return m_cache;
    }

    /** Moves the packets that wait in ns-3's cache for a neighbour to the table, or sends them if
     * the neighbour's address is known. */
    void TakeWaiting(Ipv4Address to)
    {
        ArpCache::Entry* entry = m_cache->Lookup(to);
        if (!entry || IsOfUser(*entry))
        {
            return;
        }
        if (entry->GetMacAddress().IsInvalid())
        {
            // ns-3 has just created the entry, so the neighbour is new or the cache was flushed.
            m_table.Forget(ToWire(to));
        }
        std::vector<NeighbourTable::Waiting> all;
        for (auto each = entry->DequeuePending(); each.first; each = entry->DequeuePending())
        {
            all.push_back({each.first, each.second});
        }
        entry->MarkDead();
        // A valid address marks the entry as not new.
        entry->SetMacAddress(m_cache->GetDevice()->GetBroadcast());
        if (!m_cache->GetDevice()->IsLinkUp())
        {
            for (const auto& each : all)
            {
                Drop(each);
            }
            return;
        }
        const auto address = m_table.Use(ToWire(to));
        if (address)
        {
            Show(ToWire(to), NeighbourTable::State::REACHABLE, *address, false);
        }
        for (const auto& each : all)
        {
            address ? Send(ToWire(to), each) : m_table.Wait(ToWire(to), each);
        }
    }

    /** Handles an ARP message as Linux's arp_process() does. */
    void Receive(const ArpHeader& arp)
    {
        const Ipv4Address sender = arp.GetSourceIpv4Address();
        const Ipv4Address target = arp.GetDestinationIpv4Address();
        const Address at = arp.GetSourceHardwareAddress();
        const bool isForUs =
            arp.IsRequest() &&
            m_node->GetObject<Ipv4L3Protocol>()->GetInterfaceForAddress(target) >= 0;
        // A probe of address conflict detection has no sender address (RFC 5227).
        const bool isUnspecified = sender == Ipv4Address::GetAny();
        if (!isUnspecified)
        {
            const auto entry = m_cache->Lookup(sender);
            if (!entry || !IsOfUser(*entry))
            {
                const bool isToUs =
                    arp.GetDestinationHardwareAddress() == m_cache->GetDevice()->GetAddress();
                Learn(sender, at, isForUs, arp.IsReply() && isToUs);
            }
        }
        if (isForUs)
        {
            ArpHeader reply;
            reply.SetReply(m_cache->GetDevice()->GetAddress(), target, at, sender);
            Transmit(reply, at);
        }
    }

    void Ask(const IpAddress& to,
             const std::optional<Address>& at,
             const NeighbourTable::Waiting* last) override
    {
        if (!m_cache->Lookup(ToIpv4(to)))
        {
            m_table.Forget(to); // the cache has been flushed
            return;
        }
        const auto ipv4 = m_node->GetObject<Ipv4L3Protocol>();
        const Ptr<NetDevice> device = m_cache->GetDevice();
        Ipv4Address from = last ? std::get<Ipv4Header>(last->header).GetSource() : Ipv4Address();
        if (!last || ipv4->GetInterfaceForAddress(from) < 0)
        {
            from = ipv4->SelectSourceAddress(device, ToIpv4(to), Ipv4InterfaceAddress::GLOBAL);
        }
        ArpHeader request;
        request.SetRequest(device->GetAddress(), from, device->GetBroadcast(), ToIpv4(to));
        Transmit(request, at.value_or(device->GetBroadcast()));
    }

    void Send(const IpAddress& to, const NeighbourTable::Waiting& waiting) override
    {
        m_cache->GetInterface()->Send(
            waiting.packet, std::get<Ipv4Header>(waiting.header), ToIpv4(to));
    }

    void Drop(const NeighbourTable::Waiting& waiting) override
    {
        const Ptr<Packet> packet = waiting.packet->Copy();
        packet->AddHeader(std::get<Ipv4Header>(waiting.header));
        ns3access::TraceDrop(*m_cache, packet);
    }

    void Show(const IpAddress& of,
              NeighbourTable::State state,
              const Address& address,
              bool isWatched) override
    {
        ArpCache::Entry* entry = m_cache->Lookup(ToIpv4(of));
        entry = entry ? entry : m_cache->Add(ToIpv4(of));
        const bool isValid = NeighbourTable::IsValid(state);
        if (IsOfUser(*entry))
        {
            return;
        }
        if (isValid && !isWatched)
        {
            if (entry->IsWaitReply())
            {
                entry->MarkAlive(address);
            }
            else if (entry->IsDead())
            {
                m_cache->Remove(entry);
                entry = m_cache->Add(ToIpv4(of)); // a new entry is alive
            }
        }
        // An entry that waits for a reply is not marked dead, because TakeWaiting() takes its
        // packets at the same simulated time.
        else if (!entry->IsWaitReply())
        {
            entry->MarkDead();
        }
        entry->SetMacAddress(isValid ? address : m_cache->GetDevice()->GetBroadcast());
    }

  private:
    static bool IsOfUser(ArpCache::Entry& entry)
    {
        return entry.IsPermanent() || entry.IsAutoGenerated();
    }

    void Learn(Ipv4Address sender, const Address& at, bool isForUs, bool isAnswer)
    {
        const Time lockTime = Seconds(1); // net.ipv4.neigh.default.locktime
        NeighbourTable::News news;
        news.address = at;
        news.isConfirmed = isAnswer;
        news.overrides =
            isForUs || Simulator::Now() > m_table.GetUpdated(ToWire(sender)) + lockTime;
        news.isNew = isForUs;
        m_table.Learn(ToWire(sender), news);
    }

    void Transmit(const ArpHeader& header, const Address& to)
    {
        m_tc->Send(
            m_cache->GetDevice(),
            Create<ArpQueueDiscItem>(Create<Packet>(), to, ArpL3Protocol::PROT_NUMBER, header));
    }

    Ptr<Node> m_node;              //!< the interface's node
    Ptr<TrafficControlLayer> m_tc; //!< the node's traffic control layer, which sends ARP messages
    Ptr<ArpCache> m_cache;         //!< ns-3's cache of the interface
    NeighbourTable m_table;        //!< the interface's neighbours
};

TypeId
ArpNeighbours::GetTypeId()
{
    static TypeId tid =
        TypeId("ns3::ArpNeighbours").SetParent<TrafficControlLayer>().SetGroupName("Viaduct");
    return tid;
}

ArpNeighbours::ArpNeighbours(Ptr<Node> node)
    : m_node(node), m_tc(node->GetObject<TrafficControlLayer>())
{
    node->GetObject<ArpL3Protocol>()->SetTrafficControl(this);
}

ArpNeighbours::~ArpNeighbours() = default;

void
ArpNeighbours::DoDispose()
{
    m_interfaces.clear();
    m_node = nullptr;
    m_tc = nullptr;
    TrafficControlLayer::DoDispose();
}

void
ArpNeighbours::Add(Ptr<ArpCache> cache, const NeighbourLimits& limits)
{
    const Ptr<NetDevice> device = cache->GetDevice();
    auto& interface = m_interfaces[device];
    if (interface && interface->GetCache() == cache)
    {
        return;
    }
    interface = std::make_unique<Interface>(m_node, m_tc, cache, limits);
    const Node::ProtocolHandler handler = MakeCallback(&ArpNeighbours::HandleMessage, this);
    for (const auto& known : ns3access::ProtocolHandlers(*m_node))
    {
        if (known.device == device && known.handler.IsEqual(handler))
        {
            return; // registered already: the device has replaced the interface's previous device
        }
    }
    m_node->RegisterProtocolHandler(handler, ArpL3Protocol::PROT_NUMBER, device);
}

void
ArpNeighbours::Send(Ptr<NetDevice> device, Ptr<QueueDiscItem> item)
{
    const auto found = m_interfaces.find(device);
    if (found == m_interfaces.end())
    {
        m_tc->Send(device, item);
        return;
    }
    item->AddHeader();
    ArpHeader arp;
    item->GetPacket()->PeekHeader(arp);
    if (arp.IsRequest())
    {
        found->second->TakeWaiting(arp.GetDestinationIpv4Address());
    }
}

void
ArpNeighbours::HandleMessage(Ptr<NetDevice> device,
                             Ptr<const Packet> packet,
                             uint16_t,
                             const Address&,
                             const Address&,
                             NetDevice::PacketType)
{
    const auto found = m_interfaces.find(device);
    ArpHeader arp;
    if (found != m_interfaces.end() && packet->Copy()->RemoveHeader(arp) > 0 &&
        found->second->GetCache()->GetInterface()->IsUp())
    {
        found->second->Receive(arp);
    }
}

} // namespace ns3
