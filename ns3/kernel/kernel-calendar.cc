/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "ns3/kernel/kernel-calendar.h"

#include "ns3/base/ns3-access.h"
#include "ns3/base/per-simulation.h"
#include "ns3/kernel/kernel-guest.h"

#include "ns3/abort.h"
#include "ns3/boolean.h"
#include "ns3/simulator.h"

#include "base/error.h"
#include "sys/descriptor_limit.h"

#include <algorithm>
#include <limits>
#include <string>
#include <utility>

namespace ns3
{

using viaduct::Duration;
using viaduct::Instant;

NS_OBJECT_ENSURE_REGISTERED(KernelCalendar);

namespace
{

// The assumed numbers of open files: RESERVED_FDS for the simulator itself, FILES_A_GUEST for each
// guest (sockets, output), and FILES_A_DEVICE for each device of a guest: both ends of the device's
// connection to the simulator and of its channel for interrupts. If the guest has a separate
// process, only the simulator's ends are open in this process.
constexpr size_t RESERVED_FDS = 512;
constexpr size_t FILES_A_GUEST = 16;
constexpr size_t FILES_A_DEVICE = 4;

// The time in which a kernel processes the carrier events of one node: four devices with one event
// each, at 100 events per second.
const Time CARRIERS_OF_NODE = MilliSeconds(40);
// The assumed maximum number of nodes of a guest, which has at most about 2000 devices.
constexpr uint32_t NODES_A_GUEST = 512;

} // namespace

Instant
KernelTimeline::Now() const
{
    return Instant::FromNanoseconds(ns3::Simulator::Now().GetNanoSeconds());
}

Instant
KernelTimeline::NextEvent() const
{
    const auto next = ns3access::NextEventTime();
    if (!next)
    {
        return Now();
    }
    return *next > static_cast<uint64_t>(std::numeric_limits<int64_t>::max())
               ? Instant::Never()
               : Instant::FromNanoseconds(static_cast<int64_t>(*next));
}

void
KernelTimeline::Schedule(Instant at, std::function<void()> action)
{
    ns3::Simulator::Schedule(NanoSeconds((at - Now()).nanoseconds()), std::move(action));
}

void
KernelTimeline::WakeAt(Instant at)
{
    // Remove() is used because Simulator::Cancel() would leave the event in the simulator's queue,
    // and guests would stop at the time of the cancelled event.
    ns3::Simulator::Remove(m_event);
    m_event = EventId();
    if (at != Instant::Never())
    {
        m_event =
            ns3::Simulator::Schedule(NanoSeconds((at - Now()).nanoseconds()), [this] { m_wake(); });
    }
}

TypeId
KernelCalendar::GetTypeId()
{
    static TypeId tid =
        TypeId("ns3::KernelCalendar")
            .SetParent<Object>()
            .SetGroupName("Viaduct")
            .AddConstructor<KernelCalendar>()
            .AddAttribute("Uptime",
                          "The virtual time for which the kernels run before the simulation "
                          "starts. If more than 50 nodes are installed in one call, the kernels "
                          "run longer: 40 ms per node, at most 20 s.",
                          TimeValue(Seconds(2)),
                          MakeTimeAccessor(&KernelCalendar::m_uptime),
                          MakeTimeChecker(MilliSeconds(1)))
            .AddAttribute("Timeout",
                          "The wall time after which a kernel that neither sends anything nor "
                          "advances its clock ends the run with an error.",
                          TimeValue(Seconds(30)),
                          MakeTimeAccessor(&KernelCalendar::m_timeout),
                          MakeTimeChecker(MilliSeconds(100)))
            .AddAttribute("OneProcessor",
                          "Whether the simulator and its kernels share one processor, which is "
                          "faster because only one of them runs at a time. Without effect if no "
                          "processor is available that no other simulation uses.",
                          BooleanValue(true),
                          MakeBooleanAccessor(&KernelCalendar::m_oneProcessor),
                          MakeBooleanChecker());
    return tid;
}

Ptr<KernelCalendar>
KernelCalendar::Get()
{
    NS_ABORT_MSG_IF(Time::GetResolution() != Time::NS,
                    "kernel nodes require nanoseconds as the time resolution of ns-3");
    return PerSimulation<KernelCalendar>::Get();
}

void
KernelCalendar::DoDispose()
{
    for (const auto& guest : m_guests)
    {
        guest->Dispose();
    }
    m_guests.clear();
    m_calendar.reset();
    m_lease.reset();
    Object::DoDispose();
}

viaduct::guest::Calendar&
KernelCalendar::GetCalendar()
{
    if (!m_calendar)
    {
        viaduct::guest::CalendarOptions options;
        options.uptime = Duration::Nanoseconds(m_uptime.GetNanoSeconds());
        options.timeout = Duration::Nanoseconds(m_timeout.GetNanoSeconds());
        m_calendar = std::make_unique<viaduct::guest::Calendar>(m_simulator, options);
    }
    return *m_calendar;
}

void
KernelCalendar::Add(Ptr<KernelGuest> guest)
{
    NS_ABORT_MSG_IF(m_booted,
                    "a kernel was installed on nodes while the simulation runs: install kernels "
                    "before the simulation starts");
    m_guests.push_back(guest);
}

void
KernelCalendar::ExpectNodes(uint32_t nodes)
{
    if (!m_calendar)
    {
        m_uptime = std::max(m_uptime, CARRIERS_OF_NODE * std::min(nodes, NODES_A_GUEST));
    }
}

void
KernelCalendar::AllowOpenFiles() const
{
    const char* const what = "the devices of kernel nodes need";
    size_t needed = RESERVED_FDS;
    size_t embedded = 0; // additional files of the guests that run in this process
    for (const auto& guest : m_guests)
    {
        const size_t files = FILES_A_GUEST + FILES_A_DEVICE * guest->GetNDevices();
        needed += files;
        embedded += guest->MayBeEmbedded() ? files : 0;
    }
    try
    {
        viaduct::sys::RequireDescriptors(needed + embedded, what);
    }
    catch (const viaduct::EnvironmentError& error)
    {
        viaduct::sys::RequireDescriptors(needed, what);
        for (const auto& guest : m_guests)
        {
            guest->HaveProcess(error.what());
        }
    }
}

void
KernelCalendar::Boot()
{
    if (std::exchange(m_booted, true))
    {
        return;
    }
    if (m_oneProcessor)
    {
        m_lease = viaduct::sys::ProcessorLease::Take();
    }
    for (const auto& guest : m_guests)
    {
        guest->Prepare();
    }
    AllowOpenFiles();
    GetCalendar().Boot();
    for (const auto& guest : m_guests)
    {
        guest->CheckBooted();
        guest->StartNodes();
    }
}

} // namespace ns3
