/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "ns3/wmrp/rbridge-frame.h"

#include "ns3/base/bytes-header.h"
#include "ns3/base/wire-conversion.h"
#include "ns3/guard/frame-check.h"

#include "base/wire/ethernet.h"

#include <algorithm>
#include <vector>

namespace ns3
{

using viaduct::wire::ConstBytes;
using viaduct::wire::EthernetHeader;
using wireconversion::ToMac48;
using wireconversion::ToWire;

RBridgeFrame::RBridgeFrame(Ptr<const Packet> payload,
                           uint16_t protocol,
                           const Mac48Address& source,
                           const Mac48Address& destination)
    : m_payload(payload)
{
    const EthernetHeader header{ToWire(destination), ToWire(source), protocol};
    const size_t ethernet = header.Write(m_bytes);
    const size_t copied = std::min<size_t>(payload->GetSize(), m_bytes.size() - ethernet);
    payload->CopyData(reinterpret_cast<uint8_t*>(m_bytes.data() + ethernet), copied);
    m_size = ethernet + copied;
}

bool
RBridgeFrame::Send(const viaduct::rbridge::Output& output, Ptr<NetDevice> device) const
{
    // `front` has the first bytes of the changed frame: the bytes that Forward() has added, then
    // bytes of the original frame until `front` includes a complete Ethernet header, and only
    // payload remains in the original frame.
    std::vector<std::byte> front(output.head().begin(), output.head().end());
    size_t from = output.strip;
    while (from < m_size && (from < EthernetHeader::kSize || front.size() < EthernetHeader::kSize))
    {
        front.push_back(m_bytes[from++]);
    }
    const auto ethernet = EthernetHeader::Parse(front);
    if (!ethernet)
    {
        return false; // no EtherType: the frame ends after its MAC addresses
    }
    Ptr<Packet> packet = m_payload->Copy();
    packet->RemoveAtStart(from - EthernetHeader::kSize);
    packet->AddHeader(BytesHeader(ConstBytes(front).subspan(EthernetHeader::kSize)));
    // Frames that the device cannot send are dropped here. The device would count the drop under a
    // name that differs from the name in a lab's data planes.
    if (!device->IsLinkUp() || packet->GetSize() > LongestPayload(device->GetMtu(), ethernet->type))
    {
        return false;
    }
    const Mac48Address source = ToMac48(ethernet->source);
    const Mac48Address destination = ToMac48(ethernet->destination);
    // If the source is the device's address, Send() is used: Wi-Fi devices send only frames with
    // their own source address, and do not support SendFrom().
    if (source == device->GetAddress())
    {
        device->Send(packet, destination, ethernet->type);
    }
    else
    {
        device->SendFrom(packet, source, destination, ethernet->type);
    }
    return true;
}

} // namespace ns3
