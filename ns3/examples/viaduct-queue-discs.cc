/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "ns3/core-module.h"
#include "ns3/internet-module.h"
#include "ns3/network-module.h"
#include "ns3/reactor-simulator-impl.h"
#include "ns3/ring-net-device.h"
#include "ns3/traffic-control-module.h"

#include <exception>
#include <fstream>
#include <iostream>
#include <map>

/**
 * @file
 * @ingroup viaduct
 * An ns-3 router between two real interfaces with a queue disc of ns-3 above the second interface.
 * If the second interface has a bottleneck of the kernel, the queue forms in the queue disc with
 * --bql, and below the ns-3 device without --bql. The program prints the place of the queue. Needs
 * root.
 *
 * The router is 10.1.1.1 and fd00:1::1 on the left, 10.1.2.1 and fd00:2::1 on the right.
 *
 * @code
 * tc qdisc add dev r1 root tbf rate 50mbit burst 5kb limit 10mb
 * viaduct-queue-discs --left=r0 --right=r1 --disc=FqCoDel --trace=queue.csv
 * @endcode
 */

using namespace ns3;

namespace
{

/** Samples the place of the queue. */
class QueueWatch
{
  public:
    /**
     * @param device the device at the bottleneck
     * @param disc the queue disc above the device
     * @param from the time of the first sample that counts in the means
     * @param file receives all samples; not written if it is not open
     */
    QueueWatch(Ptr<RingNetDevice> device, Ptr<QueueDisc> disc, Time from, std::ofstream& file)
        : m_device(device), m_disc(disc), m_from(from), m_file(file)
    {
        m_file << "seconds,disc_packets,disc_bytes,below_bytes\n";
        Simulator::Schedule(INTERVAL, &QueueWatch::Look, this);
    }

    /** @return the share of the bytes that waited in the queue disc */
    double GetVisible() const
    {
        return m_inDisc + m_below == 0 ? 0 : m_inDisc / (m_inDisc + m_below);
    }

    /** Prints the means of the samples.
     * @param os the stream
     */
    void Print(std::ostream& os) const
    {
        const double n = std::max<uint64_t>(m_samples, 1);
        os << "\"visible\": " << GetVisible() << ", \"disc_bytes\": " << m_inDisc / n
           << ", \"below_bytes\": " << m_below / n;
    }

  private:
    static constexpr auto SAMPLES = 1000;       //!< samples per second
    const Time INTERVAL = Seconds(1) / SAMPLES; //!< time between two samples

    /** Takes a sample, and schedules the next one. */
    void Look()
    {
        // The device counts bytes only with flow control; the port always counts bytes.
        const double below =
            std::max<size_t>(m_device->GetBytesInFlight(), m_device->GetPort()->BytesInFlight());
        if (Simulator::Now() >= m_from)
        {
            m_inDisc += m_disc->GetNBytes();
            m_below += below;
            m_samples++;
        }
        m_file << Simulator::Now().GetSeconds() << ',' << m_disc->GetNPackets() << ','
               << m_disc->GetNBytes() << ',' << below << '\n';
        Simulator::Schedule(INTERVAL, &QueueWatch::Look, this);
    }

    Ptr<RingNetDevice> m_device; //!< the device at the bottleneck
    Ptr<QueueDisc> m_disc;       //!< the queue disc above the device
    Time m_from;                 //!< time of the first sample that counts in the means
    std::ofstream& m_file;       //!< receives all samples
    double m_inDisc = 0;         //!< sum of the bytes in the disc
    double m_below = 0;          //!< sum of the bytes below the disc
    uint64_t m_samples = 0;      //!< number of samples in the means
};

/** Adds a device on a real interface to the router; @return the device */
Ptr<RingNetDevice>
AddInterface(Ptr<Node> router,
             const std::string& interface,
             const std::string& port,
             bool flowControl)
{
    auto device = CreateObjectWithAttributes<RingNetDevice>("Interface",
                                                            StringValue(interface),
                                                            "Port",
                                                            StringValue(port),
                                                            "FlowControl",
                                                            BooleanValue(flowControl),
                                                            "QdiscBypass",
                                                            BooleanValue(port != "AfPacket"));
    router->AddDevice(device);
    return device;
}

/**
 * Runs the router and prints the results.
 * @param argc number of arguments
 * @param argv arguments
 */
void
Route(int argc, char* argv[])
{
    std::string left;
    std::string right;
    std::string disc = "FqCoDel";
    std::string trace;
    std::string port = "AfPacket";
    bool flowControl = true;
    bool bql = true;
    Time duration = Seconds(10);
    Time warmUp = Seconds(2);
    CommandLine cmd(__FILE__);
    cmd.AddValue("left", "name of the router's left interface (10.1.1.1)", left);
    cmd.AddValue("right",
                 "name of the router's right interface (10.1.2.1), which has the bottleneck",
                 right);
    cmd.AddValue("disc",
                 "queue disc of the right interface: PfifoFast, CoDel, FqCoDel, Pie or Cobalt "
                 "(ns3::NAMEQueueDisc)",
                 disc);
    cmd.AddValue("port",
                 "attribute Port of both devices: AfPacket, AfXdp or Auto; AfXdp and Auto bypass "
                 "the kernel's queueing disciplines",
                 port);
    cmd.AddValue("flow-control",
                 "whether the right device has flow control: a full device stops the queue disc",
                 flowControl);
    cmd.AddValue(
        "bql", "whether the right device has dynamic queue limits; only with --flow-control", bql);
    cmd.AddValue("duration", "duration of the run", duration);
    cmd.AddValue("warm-up",
                 "duration of the first part of the run, which is excluded from the results",
                 warmUp);
    cmd.AddValue("trace",
                 "CSV file to which the lengths of the queues are written every millisecond",
                 trace);
    cmd.Parse(argc, argv);

    GlobalValue::Bind("SimulatorImplementationType", StringValue("ns3::ReactorSimulatorImpl"));
    GlobalValue::Bind("ChecksumEnabled", BooleanValue(true));
    Ptr<Node> router = CreateObject<Node>();
    NetDeviceContainer devices;
    devices.Add(AddInterface(router, left, port, false));
    auto bottleneck = AddInterface(router, right, port, flowControl);
    devices.Add(bottleneck);
    InternetStackHelper().Install(router);

    TrafficControlHelper control;
    control.SetRootQueueDisc("ns3::" + disc + "QueueDisc");
    if (bql && flowControl)
    {
        control.SetQueueLimits("ns3::DynamicQueueLimits");
    }
    Ptr<QueueDisc> root = control.Install(bottleneck).Get(0);
    auto ipv6 = router->GetObject<Ipv6>();
    for (uint32_t i = 0; i < devices.GetN(); ++i)
    {
        const std::string number = std::to_string(i + 1);
        const NetDeviceContainer one(devices.Get(i));
        Ipv4AddressHelper(("10.1." + number + ".0").c_str(), "255.255.255.0").Assign(one);
        Ipv6AddressHelper().AssignWithoutAddress(one).SetForwarding(0, true);
        ipv6->AddAddress(ipv6->GetInterfaceForDevice(devices.Get(i)),
                         {("fd00:" + number + "::1").c_str(), Ipv6Prefix(64)});
    }

    std::ofstream file;
    if (!trace.empty())
    {
        file.open(trace);
    }
    QueueWatch watch(bottleneck, root, warmUp, file);
    Simulator::Stop(duration);
    Simulator::Run();
    for (uint32_t i = 0; i < devices.GetN(); ++i)
    {
        DynamicCast<RingNetDevice>(devices.Get(i))->PrintTiming(std::cout);
    }
    const auto breakdown = ReactorSimulatorImpl::Get()->GetBreakdown();
    std::cout << "{";
    watch.Print(std::cout);
    const auto& stats = root->GetStats();
    std::cout << ", \"disc_drops\": " << stats.nTotalDroppedPackets
              << ", \"device_drops\": " << bottleneck->GetTotalDrops()
              << ", \"turns\": " << breakdown.turns << "}\n";
    Simulator::Destroy();
}

} // namespace

int
main(int argc, char* argv[])
{
    int status = 0;
    try
    {
        Route(argc, argv);
    }
    catch (const std::exception& error)
    {
        std::cerr << "viaduct-queue-discs: " << error.what() << "\n";
        status = 1;
    }
    return status;
}
