/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "ns3/offload/program-port-l4.h"

#include "ns3/offload/program-port.h"

#include "ns3/ipv4-interface-address.h"
#include "ns3/ipv4-interface.h"
#include "ns3/ipv6-interface.h"
#include "ns3/log.h"

#include "base/wire/ip.h"

#include <utility>

namespace ns3
{

NS_LOG_COMPONENT_DEFINE("ProgramPortL4");

NS_OBJECT_ENSURE_REGISTERED(ProgramPortL4);

namespace
{

namespace ip_protocol = viaduct::wire::ip_protocol;

/** The receiver of an ICMP message. */
enum class IcmpSide
{
    NS3,
    PROGRAMS,
    BOTH
};

/**
 * @param type the type of an ICMP message
 * @param answersEcho whether ns-3 answers echo requests
 * @return the receiver of the message
 */
IcmpSide
SideOfIcmp(uint8_t type, bool answersEcho)
{
    switch (type)
    {
    case 8: // echo request: answered once, by ns-3 or by the programs
        return answersEcho ? IcmpSide::NS3 : IcmpSide::PROGRAMS;
    case 0:  // echo reply
    case 3:  // destination unreachable
    case 11: // time exceeded
    case 12: // parameter problem
        return IcmpSide::BOTH;
    default:
        return IcmpSide::PROGRAMS;
    }
}

/** @return whether @p destination is the broadcast address of one of the interface's networks */
bool
IsDirectedBroadcast(Ptr<Ipv4Interface> interface, Ipv4Address destination)
{
    for (uint32_t i = 0; i < interface->GetNAddresses(); ++i)
    {
        if (interface->GetAddress(i).GetBroadcast() == destination)
        {
            return true;
        }
    }
    return false;
}

} // namespace

TypeId
ProgramPortL4::GetTypeId()
{
    static TypeId tid =
        TypeId("ns3::ProgramPortL4").SetParent<IpL4Protocol>().SetGroupName("Viaduct");
    return tid;
}

ProgramPortL4::ProgramPortL4(ProgramPort* port, Ptr<IpL4Protocol> inner, int number)
    : m_port(port), m_inner(inner), m_number(number)
{
    if (m_inner && m_number == ip_protocol::kTcp)
    {
        m_down = m_inner->GetDownTarget();
        m_down6 = m_inner->GetDownTarget6();
        m_inner->SetDownTarget(Holding(m_down));
        m_inner->SetDownTarget6(Holding(m_down6));
    }
}

void
ProgramPortL4::DoDispose()
{
    if (m_inner && m_number == ip_protocol::kTcp)
    {
        m_inner->SetDownTarget(m_down);
        m_inner->SetDownTarget6(m_down6);
    }
    m_port = nullptr;
    m_inner = nullptr;
    m_down.Nullify();
    m_down6.Nullify();
    IpL4Protocol::DoDispose();
}

IpL4Protocol::RxStatus
ProgramPortL4::Receive(Ptr<Packet> p, const Ipv4Header& header, Ptr<Ipv4Interface> interface)
{
    const Ipv4Address to = header.GetDestination();
    const bool toMany = to.IsBroadcast() || to.IsMulticast() || IsDirectedBroadcast(interface, to);
    return ReceiveAny(p, header, interface, toMany);
}

IpL4Protocol::RxStatus
ProgramPortL4::Receive(Ptr<Packet> p, const Ipv6Header& header, Ptr<Ipv6Interface> interface)
{
    return ReceiveAny(p, header, interface, header.GetDestination().IsMulticast());
}

template <typename Header, typename Interface>
IpL4Protocol::RxStatus
ProgramPortL4::ReceiveAny(Ptr<Packet> p,
                          const Header& header,
                          Ptr<Interface> interface,
                          bool toMany)
{
    const Claim claim = Offer(p, header, interface, toMany);
    if (claim.programs && m_port)
    {
        m_port->ToPrograms(p, header);
    }
    return claim.status;
}

template <typename Header, typename Interface>
ProgramPortL4::Claim
ProgramPortL4::Offer(Ptr<Packet> p, const Header& header, Ptr<Interface> interface, bool toMany)
{
    if (!m_inner)
    {
        return {true, RX_OK};
    }
    if (m_number == ip_protocol::kIcmp)
    {
        uint8_t type = 0;
        p->CopyData(&type, sizeof(type));
        const IcmpSide side = SideOfIcmp(type, !m_port || m_port->AnswersEcho());
        if (side != IcmpSide::PROGRAMS)
        {
            m_inner->Receive(p->Copy(), header, interface);
        }
        return {side != IcmpSide::NS3, RX_OK};
    }
    const RxStatus status = m_number == ip_protocol::kTcp
                                ? OfferToTcp(p, header, interface)
                                : m_inner->Receive(p->Copy(), header, interface);
    if (status == RX_CSUM_FAILED)
    {
        return {false, status};
    }
    return {status != RX_OK || toMany, RX_OK};
}

template <typename Header, typename Interface>
IpL4Protocol::RxStatus
ProgramPortL4::OfferToTcp(Ptr<Packet> p, const Header& header, Ptr<Interface> interface)
{
    const bool outermost = !std::exchange(m_holding, true);
    const RxStatus status = m_inner->Receive(p->Copy(), header, interface);
    if (!outermost)
    {
        return status;
    }
    m_holding = false;
    auto held = std::exchange(m_held, {});
    if (status == RX_OK)
    {
        for (const auto& send : held)
        {
            send();
        }
    }
    return status;
}

template <typename... Args>
Callback<void, Args...>
ProgramPortL4::Holding(const Callback<void, Args...>& target)
{
    return Callback<void, Args...>([this, &target](Args... args) {
        if (m_holding)
        {
            m_held.emplace_back([&target, args...] { target(args...); });
            return;
        }
        target(args...);
    });
}

} // namespace ns3
