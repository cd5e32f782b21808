/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "path-channel.h"

#include "packet-store.h"
#include "path-net-device.h"
#include "path-seed.h"

#include "ns3/abort.h"
#include "ns3/log.h"
#include "ns3/node.h"
#include "ns3/simulation-singleton.h"
#include "ns3/simulator.h"
#include "ns3/string.h"

#include "base/error.h"
#include "base/file.h"
#include "path/packet/pipeline_name.h"
#include "path/pipeline.h"
#include "path/queue/shared_link.h"
#include "wire/ethernet.h"

#include <algorithm>
#include <array>
#include <functional>
#include <set>
#include <utility>

namespace ns3
{

NS_LOG_COMPONENT_DEFINE("PathChannel");

NS_OBJECT_ENSURE_REGISTERED(PathChannel);

using viaduct::Instant;
using viaduct::path::Departure;
using viaduct::path::Pipeline;
using viaduct::path::Spec;

namespace
{

/** @return the simulation's time for the pipeline */
Instant
PathNow()
{
    return Instant::FromNanoseconds(Simulator::Now().GetNanoSeconds());
}

/**
 * @return the SPEC in an attribute's value; an error ends the program, because ns-3 does not throw
 * for users' errors
 */
Spec
ParseOrAbort(const char* attribute, const std::string& text)
{
    try
    {
        return viaduct::path::ParseSpec(text);
    }
    catch (const viaduct::UsageError& error)
    {
        NS_ABORT_MSG("PathChannel::" << attribute << ": " << error.what());
    }
}

/** The links that channels of this simulation share, by their names in SPECs (link=NAME). */
using SharedLinks = SimulationSingleton<viaduct::path::SharedLinks>;

/** Ends the program if a link that is shared has no rate, which is an error of the user. */
void
CheckSharedLinks()
{
    try
    {
        SharedLinks::Get()->Check();
    }
    catch (const viaduct::UsageError& error)
    {
        NS_ABORT_MSG("PathChannel: " << error.what());
    }
}

/** @return what a pipeline for frames that @p device sends is constructed with */
viaduct::path::PipelineOptions
OptionsFor(const PathNetDevice& device,
           const std::string& stream,
           const std::string& pair,
           std::function<void()> woken)
{
    viaduct::path::PipelineOptions options;
    options.seed = PathSeed();
    options.name = stream;
    options.pair = pair;
    options.read_file = viaduct::ReadRegularFile;
    options.max_packet = device.GetMtu() + viaduct::wire::EthernetHeader::kSize;
    options.links = SharedLinks::Get();
    options.woken = std::move(woken);
    return options;
}

} // namespace

/** One direction of the channel: the frames from one device. */
class PathChannel::Direction : private viaduct::path::FateObserver
{
  public:
    /**
     * The direction of frames from @p device of @p channel; @p stream names the random streams,
     * @p pair what both directions share.
     */
    Direction(PathChannel& channel,
              std::size_t device,
              const Spec& spec,
              const std::string& stream,
              const std::string& pair)
        : m_channel(channel),
          m_device(device),
          m_pipeline(spec,
                     m_store,
                     OptionsFor(*channel.m_devices[device], stream, pair, [&channel, device] {
                         channel.Arm(device);
                     }))
    {
        m_pipeline.Begin(PathNow());
        m_pipeline.SetObserver(this);
    }

    PacketStore& GetStore()
    {
        return m_store;
    }

    Pipeline& GetPipeline()
    {
        return m_pipeline;
    }

    /** The far end has refused a frame of this size that the pipeline delivered. */
    void Refuse(uint64_t bytes)
    {
        m_refused++;
        m_refusedBytes += bytes;
    }

    viaduct::path::Counters GetCounters() const
    {
        viaduct::path::Counters counters = m_pipeline.counters();
        counters.Refuse(m_refused, m_refusedBytes);
        return counters;
    }

    Instant armed = Instant::Never(); //!< of the earliest event that waits
    bool isServed = false;            //!< Wake() takes its packets, and then looks what is next

    /** @return whether the bits of a frame that the pipeline has delivered were flipped */
    bool TakeCorrupted(viaduct::path::FrameHandle frame)
    {
        return m_corrupted.erase(frame) > 0;
    }

  private:
    void OnFate(const viaduct::path::Packet& packet, viaduct::path::Fate fate, Instant at) override
    {
        if (packet.corrupted && fate == viaduct::path::Fate::kDelivered)
        {
            m_corrupted.insert(packet.frame);
        }
        m_channel.m_fateTrace(m_store.Peek(packet.frame),
                              PathFate{m_device,
                                       packet.number,
                                       fate,
                                       NanoSeconds(at.nanoseconds()),
                                       packet.duplicate,
                                       packet.corrupted,
                                       packet.marked});
    }

    PathChannel& m_channel;                           //!< whose direction
    std::size_t m_device;                             //!< which device sends
    PacketStore m_store;                              //!< the frames in the pipeline
    Pipeline m_pipeline;                              //!< what happens to them
    uint64_t m_refused{0};                            //!< delivered frames that the far end refused
    uint64_t m_refusedBytes{0};                       //!< their bytes
    std::set<viaduct::path::FrameHandle> m_corrupted; //!< delivered frames not yet taken
};

TypeId
PathChannel::GetTypeId()
{
    static TypeId tid =
        TypeId("ns3::PathChannel")
            .SetParent<Channel>()
            .SetGroupName("Viaduct")
            .AddConstructor<PathChannel>()
            .AddAttribute("Name",
                          "Name of the link. With RngSeedManager's seed and run it determines the "
                          "random streams. Empty: \"path\" and the channel's id.",
                          StringValue(""),
                          MakeStringAccessor(&PathChannel::m_name),
                          MakeStringChecker())
            .AddAttribute("Up",
                          "The SPEC of the frames from the first device (from every device, if "
                          "there are more than two), such as \"delay=20ms rate=10Mbit\". May "
                          "be changed during the simulation.",
                          StringValue(""),
                          MakeStringAccessor(&PathChannel::SetUp, &PathChannel::GetUp),
                          MakeStringChecker())
            .AddAttribute("Down",
                          "The SPEC of the frames from the second device.",
                          StringValue(""),
                          MakeStringAccessor(&PathChannel::SetDown, &PathChannel::GetDown),
                          MakeStringChecker())
            .AddAttribute("Spec",
                          "The SPEC of both directions: sets Up and Down.",
                          TypeId::ATTR_SET,
                          StringValue(""),
                          MakeStringAccessor(&PathChannel::SetSpec),
                          MakeStringChecker())
            .AddTraceSource(
                "Fate",
                "A packet was delivered or dropped: the frame as it was sent, its fate.",
                MakeTraceSourceAccessor(&PathChannel::m_fateTrace),
                "ns3::PathChannel::FateTracedCallback");
    return tid;
}

PathChannel::PathChannel() = default;

PathChannel::~PathChannel() = default;

void
PathChannel::DoInitialize()
{
    for (std::size_t device = 0; device < m_devices.size(); device++)
    {
        DirectionOf(device); // a SPEC's files are read now
    }
    if (m_up.link.shared || m_down.link.shared)
    {
        Simulator::ScheduleNow(&CheckSharedLinks); // when the others are initialized, too
    }
    Channel::DoInitialize();
}

void
PathChannel::DoDispose()
{
    m_directions.clear();
    m_devices.clear();
    Channel::DoDispose();
}

void
PathChannel::Add(Ptr<PathNetDevice> device)
{
    NS_ABORT_MSG_UNLESS(m_directions.empty(),
                        "PathChannel " << GetName() << ": a device is attached after the channel "
                                       << "was used; attach all before the simulation starts");
    device->SetChannel(this, m_devices.size());
    m_devices.push_back(device);
}

void
PathChannel::SetSpecs(const Spec& up, const Spec& down)
{
    std::size_t changed = 0;
    try
    {
        for (; changed < m_directions.size(); changed++)
        {
            Change(changed, IsDown(changed) ? down : up);
        }
    }
    catch (const viaduct::UsageError&)
    {
        while (changed > 0)
        {
            changed--;
            Change(changed, GetSpec(changed));
        }
        throw;
    }
    m_up = up;
    m_down = down;
}

void
PathChannel::Change(std::size_t device, const Spec& spec)
{
    if (m_directions[device])
    {
        m_directions[device]->GetPipeline().Change(spec, PathNow());
        Arm(device);
    }
}

bool
PathChannel::IsDown(std::size_t device) const
{
    return device == 1 && m_devices.size() == 2;
}

const Spec&
PathChannel::GetSpec(std::size_t device) const
{
    return IsDown(device) ? m_down : m_up;
}

viaduct::path::Counters
PathChannel::GetCounters(std::size_t device) const
{
    const bool known = device < m_directions.size() && m_directions[device];
    return known ? m_directions[device]->GetCounters() : viaduct::path::Counters{};
}

std::pair<uint64_t, uint64_t>
PathChannel::GetWaiting(std::size_t device) const
{
    if (device >= m_directions.size() || !m_directions[device])
    {
        return {};
    }
    const Pipeline& pipeline = m_directions[device]->GetPipeline();
    return {pipeline.waiting(), pipeline.waiting_bytes()};
}

std::string
PathChannel::GetName() const
{
    return m_name.empty() ? "path" + std::to_string(GetId()) : m_name;
}

void
PathChannel::SetLinkUp(bool up)
{
    NS_LOG_FUNCTION(this << up);
    if (std::exchange(m_linkUp, up) == up)
    {
        return;
    }
    for (const auto& device : m_devices)
    {
        device->LinkChanged();
    }
}

int64_t
PathChannel::AssignStreams(int64_t stream)
{
    NS_ABORT_MSG_UNLESS(m_directions.empty(),
                        "PathChannel " << GetName() << ": AssignStreams() after it was used");
    m_stream = stream;
    return static_cast<int64_t>(m_devices.size());
}

void
PathChannel::SetUp(std::string text)
{
    SetSpecs(ParseOrAbort("Up", text), m_down);
}

std::string
PathChannel::GetUp() const
{
    return viaduct::path::FormatSpec(m_up);
}

void
PathChannel::SetDown(std::string text)
{
    SetSpecs(m_up, ParseOrAbort("Down", text));
}

std::string
PathChannel::GetDown() const
{
    return viaduct::path::FormatSpec(m_down);
}

void
PathChannel::SetSpec(std::string text)
{
    const Spec spec = ParseOrAbort("Spec", text);
    SetSpecs(spec, spec);
}

std::string
PathChannel::StreamName(std::size_t device) const
{
    using viaduct::path::Direction;
    using viaduct::path::PipelineName;
    if (m_stream >= 0)
    {
        return "stream/" + std::to_string(m_stream + static_cast<int64_t>(device));
    }
    return PipelineName(
        GetPairName(device), "", IsDown(device) ? Direction::kDown : Direction::kUp);
}

std::string
PathChannel::SharedStreamName(std::size_t device) const
{
    const bool assigned = m_stream >= 0 && m_devices.size() <= 2;
    return assigned ? "stream/" + std::to_string(m_stream) : GetPairName(device);
}

std::string
PathChannel::GetPairName(std::size_t device) const
{
    if (m_devices.size() <= 2)
    {
        return GetName();
    }
    std::vector<std::string> before;
    for (std::size_t i = 0; i < device; i++)
    {
        before.push_back(LabNodeName(m_devices[i]->GetNode()));
    }
    const std::string node = LabNodeName(m_devices[device]->GetNode());
    const auto copies = std::count(before.begin(), before.end(), node);
    return viaduct::path::SharedPairName(GetName(), node, copies);
}

PathChannel::Direction&
PathChannel::DirectionOf(std::size_t device)
{
    m_directions.resize(m_devices.size());
    auto& direction = m_directions.at(device);
    if (!direction)
    {
        direction = std::make_unique<Direction>(
            *this, device, GetSpec(device), StreamName(device), SharedStreamName(device));
    }
    return *direction;
}

void
PathChannel::Send(std::size_t device, Ptr<Packet> frame)
{
    NS_LOG_FUNCTION(this << device << frame);
    Direction& direction = DirectionOf(device);
    const uint32_t bytes = frame->GetSize();
    direction.GetPipeline().Push(direction.GetStore().Add(std::move(frame)), bytes, PathNow());
    Arm(device);
}

void
PathChannel::Arm(std::size_t device)
{
    Direction& direction = DirectionOf(device);
    const Instant next = direction.GetPipeline().NextEvent();
    if (direction.isServed || next >= direction.armed)
    {
        return;
    }
    direction.armed = next;
    // On a link of two devices the event already has the receiver's context; further receivers get
    // events of their own.
    const std::size_t receiver = m_devices.size() > 1 && device == 0 ? 1 : 0;
    const int64_t delay = std::max<int64_t>(0, (next - PathNow()).nanoseconds());
    Simulator::ScheduleWithContext(m_devices[receiver]->GetNode()->GetId(),
                                   NanoSeconds(delay),
                                   &PathChannel::Wake,
                                   Ptr<PathChannel>(this),
                                   device);
}

void
PathChannel::Wake(std::size_t device)
{
    if (m_directions.empty())
    {
        return; // disposed
    }
    Direction& direction = DirectionOf(device);
    if (direction.armed <= PathNow())
    {
        direction.armed = Instant::Never();
    }
    direction.isServed = true;
    std::array<Departure, 64> departures;
    std::size_t n = departures.size();
    while (n == departures.size())
    {
        n = direction.GetPipeline().Pop(PathNow(), departures);
        for (std::size_t i = 0; i < n; i++)
        {
            const bool corrupted = direction.TakeCorrupted(departures[i].frame);
            Deliver(device, direction.GetStore().Take(departures[i].frame), corrupted);
        }
    }
    direction.isServed = false;
    Arm(device);
}

void
PathChannel::Deliver(std::size_t from, Ptr<Packet> frame, bool corrupted)
{
    if (!m_linkUp)
    {
        m_directions[from]->Refuse(frame->GetSize());
    }
    for (std::size_t i = 0; i < m_devices.size(); i++)
    {
        if (i == from)
        {
            continue;
        }
        if (m_devices.size() == 2)
        {
            m_devices[i]->Receive(frame, corrupted);
            continue;
        }
        Simulator::ScheduleWithContext(m_devices[i]->GetNode()->GetId(),
                                       Time(0),
                                       &PathNetDevice::Receive,
                                       m_devices[i],
                                       frame->Copy(),
                                       corrupted);
    }
}

Ptr<NetDevice>
PathChannel::GetDevice(std::size_t i) const
{
    return m_devices.at(i);
}

} // namespace ns3
