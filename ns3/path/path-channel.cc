/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "ns3/path/path-channel.h"

#include "ns3/base/path-seed.h"
#include "ns3/path/packet-store.h"
#include "ns3/path/path-net-device.h"

#include "ns3/abort.h"
#include "ns3/log.h"
#include "ns3/node.h"
#include "ns3/payload/held-payloads.h"
#include "ns3/simulation-singleton.h"
#include "ns3/simulator.h"

#include "base/error.h"
#include "base/file.h"
#include "base/wire/ethernet.h"
#include "path/model/nat.h"
#include "path/packet/pipeline_name.h"
#include "path/pipeline.h"
#include "path/queue/shared_link.h"
#include "path/trial.h"

#include <algorithm>
#include <array>
#include <numeric>
#include <set>
#include <utility>

namespace ns3
{

NS_LOG_COMPONENT_DEFINE("PathChannel");

using viaduct::Instant;
using viaduct::path::Departure;
using viaduct::path::Pipeline;
using viaduct::path::Spec;

namespace
{

/** @return the simulation time as a pipeline's Instant */
Instant
PathNow()
{
    return Instant::FromNanoseconds(Simulator::Now().GetNanoSeconds());
}

/** The links that channels of this simulation share, by their names in SPECs (link=NAME). */
using SharedLinks = SimulationSingleton<viaduct::path::SharedLinks>;

/** Ends the program if a shared link has no rate, which is an error of the user. */
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

/** @return the options of a pipeline for frames that @p device sends */
viaduct::path::PipelineOptions
OptionsFor(const PathNetDevice& device, const std::string& stream, const std::string& pair)
{
    viaduct::path::PipelineOptions options;
    options.seed = PathSeed();
    options.name = stream;
    options.pair = pair;
    options.read_file = viaduct::ReadRegularFile;
    options.max_packet = device.GetMtu() + viaduct::wire::EthernetHeader::kSize;
    options.links = SharedLinks::Get();
    return options;
}

} // namespace

/** One direction of the channel: the frames of one class (or of no class) that one device sends. */
class PathChannel::Direction : private viaduct::path::FateObserver
{
  public:
    /**
     * Creates the direction of frames from @p device of @p channel that are in @p group; @p stream
     * names the direction's random streams, @p pair the state that both directions share.
     */
    Direction(PathChannel& channel,
              std::size_t device,
              std::size_t group,
              const Spec& spec,
              const std::string& stream,
              const std::string& pair)
        : m_channel(channel),
          m_device(device),
          m_group(group),
          m_pipeline(spec, m_store, MakeOptions(stream, pair))
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

    const Pipeline& GetPipeline() const
    {
        return m_pipeline;
    }

    /** Counts a frame of @p bytes bytes that the pipeline delivered and the receiving device
     * refused. */
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

    Instant armed = Instant::Never(); //!< time of the scheduled call of Wake()
    bool isServed = false;            //!< whether Wake() is running, which calls Arm() at its end

    /** @return whether the pipeline has flipped bits of a frame that it has delivered; removes the
     * frame from the set of such frames */
    bool TakeCorrupted(viaduct::path::FrameHandle frame)
    {
        return m_corrupted.erase(frame) > 0;
    }

  private:
    viaduct::path::PipelineOptions MakeOptions(const std::string& stream, const std::string& pair)
    {
        auto options = OptionsFor(*m_channel.m_devices[m_device], stream, pair);
        options.woken = [this] { m_channel.Arm(m_device, m_group); };
        options.nat = m_channel.m_nat;
        options.direction = m_channel.IsDown(m_device) ? viaduct::path::Direction::kDown
                                                       : viaduct::path::Direction::kUp;
        options.is_class = m_group > 0;
        return options;
    }

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
                                       packet.marked,
                                       m_group});
    }

    PathChannel& m_channel;                           //!< the direction's channel
    std::size_t m_device;                             //!< number of the sending device
    std::size_t m_group;                              //!< class of the frames; 0: no class
    PacketStore m_store;                              //!< the frames in the pipeline
    Pipeline m_pipeline;                              //!< determines the frames' fates
    uint64_t m_refused{0};                            //!< frames that the receiver refused
    uint64_t m_refusedBytes{0};                       //!< bytes of the refused frames
    std::set<viaduct::path::FrameHandle> m_corrupted; //!< delivered frames with flipped bits
};

PathChannel::PathChannel() = default;

PathChannel::~PathChannel() = default;

void
PathChannel::DoInitialize()
{
    bool shared = false;
    for (std::size_t device = 0; device < m_devices.size(); device++)
    {
        for (std::size_t group = 0; group <= m_classes.size(); group++)
        {
            DirectionOf(device, group); // creates the direction, which reads the SPEC's files
            shared = shared || GetSpec(device, group).link.shared;
        }
    }
    if (shared)
    {
        Simulator::ScheduleNow(&CheckSharedLinks); // runs when all channels are initialized
    }
    Channel::DoInitialize();
}

void
PathChannel::DoDispose()
{
    m_directions.clear();
    m_nat.reset();
    m_devices.clear();
    Channel::DoDispose();
}

void
PathChannel::Add(Ptr<PathNetDevice> device)
{
    NS_ABORT_MSG_UNLESS(m_directions.empty(),
                        "PathChannel " << GetName() << ": a device was attached after the channel "
                                       << "had been used; attach all devices before the simulation "
                                          "starts");
    device->SetChannel(this, m_devices.size());
    m_devices.push_back(device);
}

void
PathChannel::TrySpecs(const Spec& up, const Spec& down) const
{
    using viaduct::path::Direction;
    const bool isPair = m_devices.size() == 2;
    const auto nat = isPair ? std::make_shared<viaduct::path::Nat>(0, "") : nullptr;
    viaduct::path::Trial trial(viaduct::ReadRegularFile);
    trial.Add(up, {nat, Direction::kUp});
    if (isPair)
    {
        trial.Add(down, {nat, Direction::kDown});
    }
}

void
PathChannel::SetSpecs(const Spec& up, const Spec& down)
{
    std::vector<std::size_t> devices(m_directions.empty() ? 0 : m_devices.size());
    std::iota(devices.begin(), devices.end(), 0);
    if (up.nat)
    {
        // A channel has one NAT: the direction that loses it must release it before the reverse
        // direction acquires it.
        std::reverse(devices.begin(), devices.end());
    }
    if (!devices.empty())
    {
        // The SPECs are tried first, because undoing a change restores neither a NAT's bindings nor
        // the state of a loss model.
        TrySpecs(up, down);
    }
    std::size_t changed = 0;
    try
    {
        for (; changed < devices.size(); changed++)
        {
            Change(devices[changed], IsDown(devices[changed]) ? down : up);
        }
    }
    catch (const viaduct::UsageError&)
    {
        while (changed > 0)
        {
            changed--;
            Change(devices[changed], GetSpec(devices[changed]));
        }
        throw;
    }
    m_up = up;
    m_down = down;
}

void
PathChannel::Change(std::size_t device, const Spec& spec)
{
    if (m_directions[PlaceOf(device, 0)])
    {
        m_directions[PlaceOf(device, 0)]->GetPipeline().Change(spec, PathNow());
        Arm(device, 0);
    }
}

bool
PathChannel::IsDown(std::size_t device) const
{
    return device == 1 && m_devices.size() == 2;
}

void
PathChannel::SetClasses(const std::vector<viaduct::path::TrafficClass>& classes)
{
    NS_ABORT_MSG_UNLESS(m_directions.empty(),
                        "PathChannel " << GetName()
                                       << ": SetClasses() was called after the "
                                          "channel had been used; call SetClasses() "
                                          "before the simulation starts");
    std::vector<viaduct::sys::PacketFilter> filters;
    filters.reserve(classes.size());
    for (const auto& each : classes)
    {
        filters.push_back(viaduct::sys::PacketFilter::Compile(each.filter));
    }
    m_classes = classes;
    m_filters = std::move(filters);
}

const Spec&
PathChannel::GetSpec(std::size_t device, std::size_t group) const
{
    if (group > 0)
    {
        const auto& own = m_classes.at(group - 1);
        return IsDown(device) ? own.down : own.up;
    }
    return IsDown(device) ? m_down : m_up;
}

const PathChannel::Direction*
PathChannel::FindDirection(std::size_t device, std::size_t group) const
{
    const std::size_t place = PlaceOf(device, group);
    return place < m_directions.size() ? m_directions[place].get() : nullptr;
}

viaduct::path::Counters
PathChannel::GetCounters(std::size_t device, std::size_t group) const
{
    const Direction* direction = FindDirection(device, group);
    return direction ? direction->GetCounters() : viaduct::path::Counters{};
}

std::pair<uint64_t, uint64_t>
PathChannel::GetWaiting(std::size_t device, std::size_t group) const
{
    const Direction* direction = FindDirection(device, group);
    if (!direction)
    {
        return {};
    }
    const Pipeline& pipeline = direction->GetPipeline();
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
                        "PathChannel " << GetName()
                                       << ": AssignStreams() was called after the "
                                          "channel had been used; call "
                                          "AssignStreams() before the simulation "
                                          "starts");
    m_stream = stream;
    return static_cast<int64_t>(m_devices.size() * (1 + m_classes.size()));
}

std::string
PathChannel::StreamName(std::size_t device, std::size_t group) const
{
    using viaduct::path::Direction;
    using viaduct::path::PipelineName;
    if (m_stream >= 0)
    {
        return "stream/" +
               std::to_string(m_stream + static_cast<int64_t>(group * m_devices.size() + device));
    }
    return PipelineName(GetPairName(device),
                        group == 0 ? "" : m_classes[group - 1].name,
                        IsDown(device) ? Direction::kDown : Direction::kUp);
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
PathChannel::DirectionOf(std::size_t device, std::size_t group)
{
    m_directions.resize(PlaceOf(m_devices.size(), 0));
    if (!m_nat && m_devices.size() == 2)
    {
        m_nat = std::make_shared<viaduct::path::Nat>(PathSeed(), SharedStreamName(0));
    }
    auto& direction = m_directions.at(PlaceOf(device, group));
    if (!direction)
    {
        direction = std::make_unique<Direction>(*this,
                                                device,
                                                group,
                                                GetSpec(device, group),
                                                StreamName(device, group),
                                                SharedStreamName(device));
    }
    return *direction;
}

std::size_t
PathChannel::GroupOf(const Packet& frame) const
{
    if (m_filters.empty())
    {
        return 0;
    }
    std::vector<std::byte> bytes(frame.GetSize());
    JoinPacket(frame, bytes, FirstHeader::ETHERNET);
    const auto found = std::find_if(m_filters.begin(), m_filters.end(), [&](const auto& filter) {
        return filter.Matches(bytes);
    });
    return found == m_filters.end() ? 0 : 1 + static_cast<std::size_t>(found - m_filters.begin());
}

void
PathChannel::Send(std::size_t device, Ptr<Packet> frame)
{
    NS_LOG_FUNCTION(this << device << frame);
    const std::size_t group = GroupOf(*frame);
    Direction& direction = DirectionOf(device, group);
    const uint32_t bytes = frame->GetSize();
    direction.GetPipeline().Push(direction.GetStore().Add(std::move(frame)), bytes, PathNow());
    Arm(device, group);
}

void
PathChannel::Arm(std::size_t device, std::size_t group)
{
    Direction& direction = DirectionOf(device, group);
    const Instant next = direction.GetPipeline().NextEvent();
    if (direction.isServed || next >= direction.armed)
    {
        return;
    }
    direction.armed = next;
    // On a channel of two devices, the event already has the receiver's context; on a channel of
    // more devices, Deliver() schedules a separate event for each receiver.
    const std::size_t receiver = m_devices.size() > 1 && device == 0 ? 1 : 0;
    const int64_t delay = std::max<int64_t>(0, (next - PathNow()).nanoseconds());
    Simulator::ScheduleWithContext(m_devices[receiver]->GetNode()->GetId(),
                                   NanoSeconds(delay),
                                   &PathChannel::Wake,
                                   Ptr<PathChannel>(this),
                                   device,
                                   group);
}

void
PathChannel::Wake(std::size_t device, std::size_t group)
{
    if (m_directions.empty())
    {
        return; // the channel is disposed
    }
    Direction& direction = DirectionOf(device, group);
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
            if (!m_linkUp)
            {
                direction.Refuse(departures[i].bytes);
            }
            Deliver(device, direction.GetStore().Take(departures[i].frame), corrupted);
        }
    }
    direction.isServed = false;
    Arm(device, group);
}

void
PathChannel::Deliver(std::size_t from, Ptr<Packet> frame, bool corrupted)
{
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
