/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "ns3/frames/frame-forwarder.h"

#include "ns3/abort.h"
#include "ns3/base/bytes-header.h"
#include "ns3/base/wire-conversion.h"
#include "ns3/guard/frame-check.h"
#include "ns3/names.h"
#include "ns3/simulator.h"

#include "base/error.h"
#include "base/wire/ethernet.h"

#include <algorithm>

namespace ns3
{

NS_OBJECT_ENSURE_REGISTERED(FrameForwarder);

using viaduct::forward::Counters;
using viaduct::forward::Word;
using viaduct::wire::ConstBytes;
using viaduct::wire::EthernetHeader;
using wireconversion::ToMac48;
using wireconversion::ToWire;

namespace
{

viaduct::Instant
PresentInstant()
{
    return viaduct::Instant::FromNanoseconds(Simulator::Now().GetNanoSeconds());
}

/** Returns the Ethernet header and the payload of a frame, as a forwarding program receives
 * them. */
std::vector<std::byte>
BytesOf(Ptr<const Packet> payload, const EthernetHeader& header)
{
    std::vector<std::byte> bytes(EthernetHeader::kSize + payload->GetSize());
    header.Write(bytes);
    payload->CopyData(reinterpret_cast<uint8_t*>(bytes.data() + EthernetHeader::kSize),
                      payload->GetSize());
    return bytes;
}

} // namespace

/** Passes the program's events to the protocol's callback immediately, as both run in this
 * process. */
class FrameForwarder::Events final : public viaduct::forward::EventSink
{
  public:
    explicit Events(FrameForwarder& owner) : m_owner(owner)
    {
    }

    bool Write(const viaduct::forward::Event& event) override
    {
        if (!m_owner.m_take.IsNull())
        {
            m_owner.m_take(event.key, event.value);
        }
        return true;
    }

  private:
    FrameForwarder& m_owner; //!< the forwarder that has the callback for events
};

TypeId
FrameForwarder::GetTypeId()
{
    static TypeId tid =
        TypeId("ns3::FrameForwarder")
            .SetParent<Object>()
            .SetGroupName("Viaduct")
            .AddConstructor<FrameForwarder>()
            .AddTraceSource("Frame",
                            "The forwarding program has processed a frame in the simulator. "
                            "Arguments: the packet, the port, the outcome.",
                            MakeTraceSourceAccessor(&FrameForwarder::m_frameTrace),
                            "ns3::FrameForwarder::FrameTracedCallback");
    return tid;
}

FrameForwarder::FrameForwarder() = default;
FrameForwarder::~FrameForwarder() = default;

void
FrameForwarder::NotifyNewAggregate()
{
    if (!m_node)
    {
        m_node = GetObject<Node>();
    }
    Object::NotifyNewAggregate();
}

void
FrameForwarder::DoInitialize()
{
    if (m_kind && m_kind->ticks && !m_outside)
    {
        Tick();
    }
    Object::DoInitialize();
}

void
FrameForwarder::DoDispose()
{
    m_tick.Cancel();
    m_outside.reset();
    m_program.reset();
    m_outbox.reset();
    m_take = Callback<void, uint64_t, uint64_t>();
    m_ports.clear();
    m_node = nullptr;
    Object::DoDispose();
}

void
FrameForwarder::SetProgram(const std::string& name)
{
    NS_ABORT_MSG_IF(m_kind, "FrameForwarder::SetProgram(): a program was already set");
    m_kind = &viaduct::forward::LoadProgram(name);
    m_description = viaduct::forward::DescribeProgram(*m_kind, name);
    m_table = std::vector<Word>(m_description.table_words);
}

void
FrameForwarder::AddPort(Ptr<NetDevice> device)
{
    NS_ABORT_MSG_IF(!m_kind || m_program,
                    "FrameForwarder::AddPort(): must be called after SetProgram() and before the "
                    "program runs");
    NS_ABORT_MSG_IF(device->GetNode() != m_node,
                    "FrameForwarder::AddPort(): the device belongs to another node");
    const auto mac = ToWire(Mac48Address::ConvertFrom(device->GetAddress()));
    m_ports.push_back(
        {device,
         viaduct::sys::PacketFilter::Compile(m_description.FilterOf(mac, "dst host 0.0.0.0"))});
    Listen(device);
}

void
FrameForwarder::Listen(Ptr<NetDevice> device)
{
    constexpr uint16_t ALL_PROTOCOLS = 0;
    constexpr bool PROMISCUOUS = true;
    m_node->RegisterProtocolHandler(
        MakeCallback(&FrameForwarder::Receive, this), ALL_PROTOCOLS, device, PROMISCUOUS);
}

void
FrameForwarder::ReplaceDevice(Ptr<NetDevice> oldDevice, Ptr<NetDevice> newDevice)
{
    const uint32_t port = GetPortIndex(oldDevice);
    if (port < GetNPorts())
    {
        m_ports[port].device = newDevice;
    }
}

uint32_t
FrameForwarder::GetPortIndex(Ptr<NetDevice> device) const
{
    const auto found = std::ranges::find(m_ports, device, &Port::device);
    return static_cast<uint32_t>(found - m_ports.begin());
}

void
FrameForwarder::SetWord(size_t index, uint64_t value)
{
    m_table.at(index).store(value, std::memory_order_release);
    if (m_outside && !m_outside->held)
    {
        m_outside->table.writable()[index].store(value, std::memory_order_release);
    }
}

uint64_t
FrameForwarder::GetWord(size_t index) const
{
    return m_table.at(index).load();
}

std::map<std::string, uint64_t>
FrameForwarder::GetFrames() const
{
    std::map<std::string, uint64_t> all;
    for (size_t port = 0; port < m_frames.size() / Counters::kWordsPerPort; port++)
    {
        const Counters::OfPort counted = Counters::Read(m_frames, port);
        for (size_t i = 0; i < m_description.outcomes.size(); i++)
        {
            all[m_description.outcomes[i]] += counted.frames[i];
        }
        all["not-sent"] += counted.frames[Counters::kNotSent];
    }
    return all;
}

// ---------------------------------------------------------------- forwarding in the simulator

template <class F>
void
FrameForwarder::Guard(F call) const
{
    try
    {
        call();
    }
    catch (const viaduct::Error&)
    {
        throw;
    }
    catch (const std::exception& error)
    {
        throw viaduct::Error("node " + Names::FindName(m_node) + ", forwarding program " +
                             m_description.name + ": " + error.what());
    }
}

viaduct::forward::AnyProgram&
FrameForwarder::Running()
{
    if (m_program)
    {
        return *m_program;
    }
    m_frames = std::vector<Word>(Counters::WordsFor(m_ports.size()));
    m_counters = std::make_unique<Counters>(m_frames);
    m_events = std::make_unique<Events>(*this);
    viaduct::forward::Carrier& carrier = *this;
    m_outbox = std::make_unique<viaduct::forward::Outbox>(m_ports.size(), carrier);
    viaduct::forward::Node& node = m_place;
    const std::string name = Names::FindName(m_node);
    node.name = name.empty() ? "n" + std::to_string(m_node->GetId()) : name;
    for (size_t i = 0; i < m_ports.size(); i++)
    {
        const Ptr<NetDevice> device = m_ports[i].device;
        node.ports.push_back({.name = "eth" + std::to_string(i),
                              .ifindex = device->GetIfIndex() + 1,
                              .mac = ToWire(Mac48Address::ConvertFrom(device->GetAddress())),
                              .mtu = device->GetMtu()});
    }
    node.table = m_table;
    node.events = m_events.get();
    Guard([&] { m_program = m_kind->make(node); });
    return *m_program;
}

void
FrameForwarder::Tick()
{
    const Time INTERVAL = MilliSeconds(100); // the interval of ticks in a lab's forwarder
    m_tick = Simulator::Schedule(INTERVAL, &FrameForwarder::Tick, this);
    Guard([this] {
        Running().Tick(PresentInstant(), *m_outbox);
        m_outbox->EndBurst();
    });
}

void
FrameForwarder::Receive(Ptr<NetDevice> device,
                        Ptr<const Packet> packet,
                        uint16_t protocol,
                        const Address& from,
                        const Address& to,
                        NetDevice::PacketType /* type */)
{
    const uint32_t port = GetPortIndex(device);
    if (m_outside || port == GetNPorts())
    {
        return;
    }
    std::vector<std::byte> bytes = BytesOf(
        packet,
        {ToWire(Mac48Address::ConvertFrom(to)), ToWire(Mac48Address::ConvertFrom(from)), protocol});
    if (!m_ports[port].filter.Matches(bytes))
    {
        return;
    }
    viaduct::forward::AnyProgram& program = Running();
    const std::array frames{viaduct::forward::Frame{port, bytes, PresentInstant()}};
    const auto before =
        m_frameTrace.IsEmpty() ? Counters::OfPort() : Counters::Read(m_frames, port);
    m_present = packet;
    Guard([&] {
        program.TakeBurst(frames, *m_outbox, *m_counters);
        m_outbox->EndBurst();
    });
    m_present = nullptr;
    if (!m_frameTrace.IsEmpty())
    {
        const auto after = Counters::Read(m_frames, port);
        const auto changed = std::ranges::mismatch(before.frames, after.frames).in1;
        m_frameTrace(packet, port, m_description.outcomes.at(changed - before.frames.begin()));
    }
}

void
FrameForwarder::Transmit(size_t port, std::span<const ConstBytes> frames)
{
    const Ptr<NetDevice> device = m_ports[port].device;
    for (const ConstBytes bytes : frames)
    {
        const auto ethernet = EthernetHeader::Parse(bytes);
        // A frame that the device would drop is counted here as not sent, as in the forwarder of a
        // lab; the device would count the frame under a different name.
        if (!ethernet || !device->IsLinkUp() ||
            bytes.size() - EthernetHeader::kSize > LongestPayload(device->GetMtu(), ethernet->type))
        {
            m_counters->AddFrames(port, Counters::kNotSent, 1);
            continue;
        }
        // A copy of the received packet keeps the packet's tags; the bytes of the copy are
        // replaced.
        Ptr<Packet> packet = m_present ? m_present->Copy() : Create<Packet>();
        packet->RemoveAtStart(packet->GetSize());
        packet->AddHeader(BytesHeader(bytes.subspan(EthernetHeader::kSize)));
        const Mac48Address source = ToMac48(ethernet->source);
        const Mac48Address destination = ToMac48(ethernet->destination);
        if (source == device->GetAddress())
        {
            device->Send(packet, destination, ethernet->type);
        }
        else
        {
            device->SendFrom(packet, source, destination, ethernet->type);
        }
    }
}

void
FrameForwarder::SendAsOwn(viaduct::wire::Family, ConstBytes, uint32_t)
{
    throw std::logic_error("the program sends IP packets through the node's kernel (SendAsOwn()), "
                           "but this node only forwards frames");
}

void
FrameForwarder::SendIcmpv6(const viaduct::wire::IpAddress&, ConstBytes, uint32_t)
{
    throw std::logic_error("the program sends ICMPv6 messages through the node's kernel "
                           "(SendIcmpv6()), but this node only forwards frames");
}

void
FrameForwarder::PassUp(size_t, ConstBytes, uint32_t)
{
    throw std::logic_error("the program passes packets up to the simulator (PassUp()), but this "
                           "node only forwards frames");
}

// ---------------------------------------------------------------- forwarding outside of the
// simulator

void
FrameForwarder::MoveOut(viaduct::broker::Tables tables, bool held)
{
    if (tables.table_words != m_table.size())
    {
        throw viaduct::UsageError("the table of the forwarding program has a different size in the "
                                  "simulator and in the lab");
    }
    m_tick.Cancel();
    m_outside = std::make_unique<Outside>();
    if (!m_table.empty())
    {
        m_outside->table = viaduct::forward::Mapping(tables.table.get(), tables.table_words);
    }
    m_outside->listener =
        std::make_unique<EventListener>(m_node,
                                        std::move(tables.doorbell),
                                        tables.events.get(),
                                        [this](const viaduct::forward::Event& event) {
                                            if (!m_take.IsNull())
                                            {
                                                m_take(event.key, event.value);
                                            }
                                        });
    m_outside->held = true;
    if (!held)
    {
        Release();
    }
}

void
FrameForwarder::Release()
{
    if (!m_outside || !m_outside->held)
    {
        return;
    }
    m_outside->held = false;
    for (size_t i = 0; i < m_table.size(); i++)
    {
        m_outside->table.writable()[i].store(m_table[i].load(), std::memory_order_release);
    }
}

} // namespace ns3
