/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "ns3/sim/udp-source.h"

#include "ns3/inet6-socket-address.h"
#include "ns3/packet.h"
#include "ns3/seq-ts-size-header.h"
#include "ns3/simulator.h"
#include "ns3/udp-socket-factory.h"

namespace ns3
{
namespace sim
{

TypeId
UdpSource::GetTypeId()
{
    static TypeId tid =
        TypeId("ns3::sim::UdpSource").SetParent<Application>().AddConstructor<UdpSource>();
    return tid;
}

void
UdpSource::Configure(const Address& remote, int64_t rate, uint32_t size)
{
    m_remote = remote;
    m_period = size * 8 / static_cast<double>(rate);
    m_size = size;
}

uint64_t
UdpSource::GetOffered() const
{
    return m_offered;
}

uint64_t
UdpSource::GetRefused() const
{
    return m_refused;
}

void
UdpSource::StartApplication()
{
    m_socket = Socket::CreateSocket(GetNode(), UdpSocketFactory::GetTypeId());
    if (Inet6SocketAddress::IsMatchingType(m_remote))
    {
        m_socket->Bind6();
    }
    else
    {
        m_socket->Bind();
    }
    m_socket->SetAllowBroadcast(true);
    m_start = Simulator::Now();
    Offer();
}

void
UdpSource::StopApplication()
{
    m_next.Cancel();
    if (m_socket)
    {
        m_socket->Close();
        m_socket = nullptr;
    }
}

void
UdpSource::Offer()
{
    SeqTsSizeHeader header; // the constructor sets the header's timestamp
    header.SetSeq(static_cast<uint32_t>(m_offered++));
    header.SetSize(m_size);
    Ptr<Packet> packet = Create<Packet>(m_size - header.GetSerializedSize());
    packet->AddHeader(header);
    if (m_socket->SendTo(packet, 0, m_remote) < 0)
    {
        m_refused++;
    }
    // The time of the next packet is computed from the packet's number, so that rounding errors do
    // not accumulate, and a period may be shorter than ns-3's time resolution.
    const Time due = m_start + Seconds(static_cast<double>(m_offered) * m_period);
    m_next = Simulator::Schedule(due - Simulator::Now(), &UdpSource::Offer, this);
}

} // namespace sim
} // namespace ns3
