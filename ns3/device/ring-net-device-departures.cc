/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

// The sending of packets with a DepartureTag: the interface's qdisc, or a simulator event, sends
// each packet at its time.

#include "ns3/base/wire-conversion.h"
#include "ns3/device/interface-port.h"
#include "ns3/device/ring-net-device.h"
#include "ns3/guard/frame-check.h"
#include "ns3/payload/payload-restorer.h"

#include "ns3/simulator.h"

#include "base/clock.h"
#include "base/wire/ethernet.h"

#include <memory>
#include <vector>

namespace ns3
{

namespace
{

/// The interval before the departure time at which a frame is passed to the qdisc, ms. The interval
/// is longer than this process may have to wait for a processor, and so short that the qdisc's
/// queues (fq: 100 frames of a flow) rarely fill.
constexpr uint64_t HANDED_OVER_BEFORE = 20;
/// The interval, in frames passed to the qdisc, at which the results of such frames are read even
/// if the driver has not reported any result.
constexpr uint64_t READ_EVERY = 256;

} // namespace

bool
RingNetDevice::SendLater(Ptr<Packet> packet,
                         const Address& source,
                         const Address& dest,
                         uint16_t protocolNumber,
                         Time when)
{
    // Frames in the qdisc do not count towards the limit: the qdisc has a separate limit, and does
    // not fully report the number of frames that it has sent.
    if (m_departures.Count() >= m_departureQueueSize)
    {
        return DropSent(packet, TX_TOO_MANY_DEPARTURES);
    }
    const auto send = [=, this] { SendFrom(packet, source, dest, protocolNumber); };
    if (!m_opened || !m_opened->timed)
    {
        m_departures.Add(when, send);
        return true;
    }
    const auto handOver = [=, this] {
        if (!HandOver(packet, source, dest, protocolNumber, when))
        {
            m_departures.Add(when, send);
        }
    };
    if (const Time early = when - MilliSeconds(HANDED_OVER_BEFORE); early > Simulator::Now())
    {
        m_departures.Add(early, handOver);
    }
    else
    {
        handOver();
    }
    return true;
}

bool
RingNetDevice::HandOver(Ptr<Packet> packet,
                        const Address& source,
                        const Address& dest,
                        uint16_t protocolNumber,
                        Time when)
{
    const uint32_t payload = packet->GetSize();
    if (!m_linkUp || payload > LongestPayload(EthernetNetDevice::GetMtu(), protocolNumber))
    {
        return false;
    }
    auto frame =
        std::make_shared<std::vector<std::byte>>(viaduct::wire::EthernetHeader::kSize + payload);
    viaduct::wire::EthernetHeader{wireconversion::ToWire(Mac48Address::ConvertFrom(dest)),
                                  wireconversion::ToWire(Mac48Address::ConvertFrom(source)),
                                  protocolNumber}
        .Write(*frame);
    if (!JoinPacket(*packet,
                    std::span(*frame).subspan(viaduct::wire::EthernetHeader::kSize),
                    IsIp(protocolNumber) ? FirstHeader::IP : FirstHeader::OTHER))
    {
        return false;
    }
    const viaduct::Instant due =
        ReactorSimulatorImpl::Get()->GetVirtualNow() +
        viaduct::Duration::Nanoseconds((when - Simulator::Now()).GetNanoSeconds());
    if (m_opened->timed->counters().sent % READ_EVERY == READ_EVERY - 1)
    {
        ReadDepartures();
    }
    if (m_opened->timed->Send(*frame, due) != viaduct::io::TimedSender::Result::kTaken)
    {
        return false;
    }
    if (IsSendingTraced())
    {
        m_departures.Add(when, [=, this] {
            TraceSent(
                Create<Packet>(reinterpret_cast<const uint8_t*>(frame->data()), frame->size()));
        });
    }
    return true;
}

bool
RingNetDevice::ReadDepartures()
{
    Ptr<ReactorSimulatorImpl> reactor = ReactorSimulatorImpl::Get();
    return m_opened->timed->ReadFates(viaduct::MonotonicClock::Now(), [&](viaduct::Duration late) {
        reactor->RecordPortLateness(late);
        HandleLateness(true, late);
    }) > 0;
}

} // namespace ns3
