/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "ns3/tunnel/remote-hub.h"

#include "ns3/abort.h"
#include "ns3/base/wire-conversion.h"
#include "ns3/boolean.h"
#include "ns3/guard/frame-check.h"
#include "ns3/icmpv6-l4-protocol.h"
#include "ns3/integer.h"
#include "ns3/log.h"
#include "ns3/loopback-net-device.h"
#include "ns3/mac48-address.h"
#include "ns3/names.h"
#include "ns3/offload/client-programs.h"
#include "ns3/payload/held-payloads.h"
#include "ns3/string.h"
#include "ns3/uinteger.h"

#include "base/clock.h"
#include "base/realtime.h"
#include "base/wire/ethernet.h"

#include <algorithm>
#include <utility>

namespace ns3
{

NS_LOG_COMPONENT_DEFINE("RemoteHub");

NS_OBJECT_ENSURE_REGISTERED(RemoteHub);

namespace
{

using viaduct::wire::EthernetHeader;

/// Number of bursts of datagrams that are read in one turn of the reactor's loop. The number is
/// limited because an overloaded hub must not only read the clients' frames, but must also pass
/// frames to the simulation.
constexpr int READS = 4;
/// Number of frames that enter the simulation in one turn of the reactor's loop.
constexpr int FRAMES_A_TURN = 64;
/// Number of frames that are handled between two reads of the clock: a due event waits for at most
/// this number of frames. The frames between two reads enter the simulation at the same time, and
/// frames that take the same path leave the path in one event.
constexpr int YIELD = 4;
/// Number of frames that are handled between two reads of the clock while the hub is overloaded:
/// more than YIELD, so that each frame needs less processing time.
constexpr int OVERLOADED_YIELD = 16;

/// Bytes of a VLAN tag. In this file, a frame's VLAN tag is part of the frame's payload.
constexpr std::size_t VLAN_TAG = 4;

} // namespace

TypeId
RemoteHub::GetTypeId()
{
    static TypeId tid =
        TypeId("ns3::RemoteHub")
            .SetParent<Object>()
            .SetGroupName("Viaduct")
            .AddConstructor<RemoteHub>()
            .AddAttribute("Address",
                          "The address of this machine to which clients send; empty: all addresses "
                          "of this machine.",
                          StringValue(""),
                          MakeStringAccessor(&RemoteHub::m_address),
                          MakeStringChecker())
            .AddAttribute("Port",
                          "The UDP port of the hub, and of clients that do not specify another "
                          "port; 0: a free port that the kernel chooses.",
                          UintegerValue(viaduct::wire::kVxlanPort),
                          MakeUintegerAccessor(&RemoteHub::m_port),
                          MakeUintegerChecker<uint16_t>())
            .AddAttribute("QueueSize",
                          "The maximum number of frames of all clients together that are queued "
                          "for the simulation.",
                          UintegerValue(4096),
                          MakeUintegerAccessor(&RemoteHub::m_queueSize),
                          MakeUintegerChecker<uint32_t>(viaduct::tunnel::FairQueue::kInOrder))
            .AddAttribute("Readers",
                          "The number of threads that read frames from clients, each from a "
                          "separate UDP socket; 0: the simulator's thread reads the frames; -1: "
                          "one thread for each processor, except one for the simulator's thread.",
                          IntegerValue(-1),
                          MakeIntegerAccessor(&RemoteHub::m_readers),
                          MakeIntegerChecker<int32_t>(-1, 64));
    return tid;
}

RemoteHub::RemoteHub() = default;

RemoteHub::~RemoteHub() = default;

const char*
RemoteHub::GetDropReasonName(DropReason reason)
{
    static constexpr std::array<const char*, N_DROP_REASONS> NAMES{
        "malformed", "ip_options", "refused"};
    return NAMES[reason];
}

std::size_t
RemoteHub::AddNode(Ptr<Node> owner, uint32_t mtu, uint32_t vni, const Access& access)
{
    NS_ABORT_MSG_IF(m_hub, "RemoteHub: nodes must be added before Start()");
    const std::size_t index = m_remotes.size();
    if (vni == 0)
    {
        const auto isTaken = [this](uint32_t number) {
            return std::any_of(m_nodes.begin(), m_nodes.end(), [number](const auto& node) {
                return node.vni == number;
            });
        };
        for (vni = 1; isTaken(vni); vni++)
        {
        }
    }
    viaduct::tunnel::RemoteNode node;
    node.name = Names::FindName(owner);
    node.vni = vni;
    node.max_frame = EthernetHeader::kSize + VLAN_TAG + mtu;
    node.tag_room = VLAN_TAG;
    node.anyone = access.anyone;
    if (!access.address.empty())
    {
        node.address = viaduct::wire::IpAddress::Parse(access.address);
    }
    m_nodes.push_back(std::move(node));
    m_remotes.emplace_back();
    m_remotes.back().context = owner->GetId();
    return index;
}

std::size_t
RemoteHub::Add(Ptr<NetDevice> device, uint32_t vni, const Access& access)
{
    NS_ABORT_MSG_UNLESS(device->SupportsSendFrom(),
                        "RemoteHub: " << device->GetInstanceTypeId().GetName()
                                      << " cannot send frames with the source address of another "
                                         "host; use another type of device");
    const std::size_t index = AddNode(device->GetNode(), device->GetMtu(), vni, access);
    m_remotes[index].device = device;
    // Disables duplicate address detection, as the client has the node's addresses and detects
    // duplicate addresses itself.
    if (auto icmp = device->GetNode()->GetObject<Icmpv6L4Protocol>())
    {
        icmp->SetAttribute("DAD", BooleanValue(false));
    }
    device->SetReceiveCallback(
        [](Ptr<NetDevice>, Ptr<const Packet>, uint16_t, const Address&) { return true; });
    device->SetPromiscReceiveCallback([this, index](Ptr<NetDevice>,
                                                    Ptr<const Packet> packet,
                                                    uint16_t protocol,
                                                    const Address& source,
                                                    const Address& destination,
                                                    NetDevice::PacketType) {
        Leave(index, packet, protocol, source, destination);
        return true;
    });
    return index;
}

std::size_t
RemoteHub::AddPrograms(Ptr<Node> node, uint32_t vni, const Access& access)
{
    uint32_t mtu = 0;
    for (uint32_t i = 0; i < node->GetNDevices(); i++)
    {
        const Ptr<NetDevice> device = node->GetDevice(i);
        mtu = DynamicCast<LoopbackNetDevice>(device) ? mtu
                                                     : std::max<uint32_t>(mtu, device->GetMtu());
    }
    NS_ABORT_MSG_IF(mtu == 0,
                    "RemoteHub: the node of a client's programs has no device; add a "
                    "device to the node first");
    const std::size_t index = AddNode(node, mtu, vni, access);
    Remote& remote = m_remotes[index];
    remote.wire = std::make_unique<viaduct::tunnel::ClientWire>(AddressesOfClient(node), mtu);
    remote.programs = InstallClient(node, [this, index](std::span<const std::byte> packet) {
        m_remotes[index].wire->Give(
            packet, viaduct::MonotonicClock::Now(), [&](auto frame) { SendTo(index, frame); });
    });
    return index;
}

void
RemoteHub::Start(int innerSocket)
{
    m_reactor = ReactorSimulatorImpl::Get();
    NS_ABORT_MSG_UNLESS(m_reactor,
                        "RemoteHub requires ns3::ReactorSimulatorImpl: set the global value "
                        "SimulatorImplementationType to ns3::ReactorSimulatorImpl");
    m_hub = std::make_unique<viaduct::tunnel::ClientHub>(
        std::move(m_nodes),
        viaduct::tunnel::ClientHub::Options{.address = m_address,
                                            .port = m_port,
                                            .waiting_frames = m_queueSize,
                                            .readers = m_readers < 0
                                                           ? viaduct::tunnel::SuitableReaders()
                                                           : static_cast<std::size_t>(m_readers),
                                            .inner_socket = innerSocket});
    m_pollable = m_reactor->AddPollable(m_hub->fd(), Callback<bool>([this] { return Serve(); }));
}

void
RemoteHub::DoDispose()
{
    if (m_hub)
    {
        m_reactor->RemovePollable(m_pollable);
        m_reactor->CancelFlush(this);
        m_hub->Flush();
    }
    for (Remote& remote : m_remotes)
    {
        remote.device = nullptr;
        remote.programs = nullptr;
    }
    m_reactor = nullptr;
    Object::DoDispose();
}

bool
RemoteHub::Read()
{
    const auto phase = m_reactor->SetPhase(ReactorSimulatorImpl::READING);
    const uint64_t before = m_hub->datagrams();
    for (int i = 0; i < READS && m_hub->Read(); i++)
    {
    }
    m_reactor->SetPhase(phase);
    return m_hub->datagrams() != before;
}

bool
RemoteHub::Serve()
{
    bool worked = Read();
    const viaduct::Duration offset = viaduct::RealtimeNow() - m_reactor->GetClockNow();
    const int yield = m_hub->IsOverloaded() ? OVERLOADED_YIELD : YIELD;
    viaduct::Instant now;
    for (int i = 0; i < FRAMES_A_TURN; i++)
    {
        if (i % yield == 0)
        {
            now = m_reactor->GetClockNow() + offset;
        }
        const auto arrival = m_hub->Take(now);
        if (!arrival)
        {
            return worked;
        }
        worked = true;
        m_reactor->RecordPortLateness(std::max(viaduct::Duration(), now - arrival->received));
        m_reactor->RunInContext(m_remotes[arrival->node].context,
                                [&] { Enter(arrival->node, arrival->frame); });
        if (i % yield == yield - 1 && !m_reactor->AdvanceToRealTime())
        {
            return true;
        }
    }
    return true;
}

void
RemoteHub::Enter(std::size_t index, std::span<const std::byte> frame)
{
    Remote& remote = m_remotes[index];
    const auto drop = [&](DropReason reason) {
        remote.drops[reason]++;
        remote.droppedBytes += frame.size();
    };
    if (remote.wire)
    {
        const auto packet = remote.wire->Take(
            frame, viaduct::MonotonicClock::Now(), [&](auto answer) { SendTo(index, answer); });
        return packet ? remote.programs->FromProgram(*packet) : void();
    }
    const EthernetHeader header = *EthernetHeader::Parse(frame);
    const auto payload = frame.subspan(EthernetHeader::kSize);
    if (!IsParsable(header.type, payload))
    {
        drop(RX_MALFORMED);
        return;
    }
    if (HasIpv4Options(header.type, payload))
    {
        drop(RX_IP_OPTIONS);
        return;
    }
    auto packet = Create<Packet>(reinterpret_cast<const uint8_t*>(payload.data()), payload.size());
    if (!remote.device->SendFrom(packet,
                                 wireconversion::ToMac48(header.source),
                                 wireconversion::ToMac48(header.destination),
                                 header.type))
    {
        drop(RX_REFUSED);
    }
}

void
RemoteHub::Leave(std::size_t index,
                 Ptr<const Packet> payload,
                 uint16_t protocol,
                 const Address& source,
                 const Address& destination)
{
    if (!m_hub)
    {
        return;
    }
    const auto room = m_hub->Reserve(index, EthernetHeader::kSize + payload->GetSize());
    if (room.empty())
    {
        return;
    }
    EthernetHeader header;
    header.destination = wireconversion::ToWire(Mac48Address::ConvertFrom(destination));
    header.source = wireconversion::ToWire(Mac48Address::ConvertFrom(source));
    header.type = protocol;
    header.Write(room);
    JoinPacket(*payload, room.subspan(EthernetHeader::kSize), FirstHeader::IP);
    RequestFlush();
}

void
RemoteHub::SendTo(std::size_t index, std::span<const std::byte> frame)
{
    if (m_hub)
    {
        m_hub->Send(index, frame);
        RequestFlush();
    }
}

void
RemoteHub::RequestFlush()
{
    if (!std::exchange(m_flushRequested, true))
    {
        m_reactor->RequestFlush(this);
    }
}

bool
RemoteHub::FlushTurn()
{
    const auto phase = m_reactor->SetPhase(ReactorSimulatorImpl::WRITING);
    m_hub->Flush();
    m_reactor->SetPhase(phase);
    m_flushRequested = false;
    return true;
}

} // namespace ns3
