/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "ns3/sim/protocol-probe.h"

#include "ns3/global-value.h"
#include "ns3/internet-stack-helper.h"
#include "ns3/ipv4-address-helper.h"
#include "ns3/ipv4-routing-helper.h"
#include "ns3/ipv6-address-helper.h"
#include "ns3/ipv6-routing-helper.h"
#include "ns3/rng-seed-manager.h"
#include "ns3/routes/on-demand.h"
#include "ns3/routes/protocol-traits.h"
#include "ns3/simple-net-device-helper.h"
#include "ns3/simulator.h"
#include "ns3/string.h"

#include <csignal>
#include <cstdlib>
#include <fcntl.h>
#include <optional>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

namespace ns3::sim
{
namespace
{

using viaduct::wire::IpAddress;

const Time ASKED_AT = MilliSeconds(1500);
const Time WATCHED_FOR = MilliSeconds(500);

/** A routing helper that gives each node a new instance of one protocol, with priority over static
 * routing. */
template <class Family, class Helper>
class OneProtocol : public Helper
{
  public:
    explicit OneProtocol(const ObjectFactory& protocol) : m_protocol(protocol)
    {
    }

    OneProtocol* Copy() const override
    {
        return new OneProtocol(*this);
    }

    Ptr<typename Family::Protocol> Create(Ptr<Node> node) const override
    {
        auto list = CreateObject<typename Family::ListProtocol>();
        list->AddRoutingProtocol(CreateObject<typename Family::StaticProtocol>(), 0);
        auto protocol = m_protocol.Create<typename Family::Protocol>();
        node->AggregateObject(protocol);
        list->AddRoutingProtocol(protocol, 10);
        return list;
    }

  private:
    ObjectFactory m_protocol; //!< creates the protocol
};

/** The observed behaviour of a simulated line of three nodes. */
struct Deed
{
    uint32_t sent{0};       //!< number of frames received by the nodes
    bool isDeferred{false}; //!< whether the protocol returned a route through the loopback device
};

/** Simulates the nodes. If `nobody` is not null, asks the first node for a route to the address
 * `nobody`. */
template <class Family>
Deed
Simulate(const NodeContainer& nodes, const char* nobody)
{
    Deed deed;
    for (auto node = nodes.Begin(); node != nodes.End(); ++node)
    {
        // All frames that arrive are counted, including frames of packet sockets, which bypass the
        // IP layer.
        constexpr uint16_t ALL = 0;
        (*node)->RegisterProtocolHandler(
            Node::ProtocolHandler([&deed](auto...) { deed.sent++; }), ALL, nullptr);
    }
    if (nobody)
    {
        Simulator::ScheduleWithContext(nodes.Get(0)->GetId(), ASKED_AT, [&] {
            const auto ip = nodes.Get(0)->GetObject<typename Family::Layer>();
            const auto answer =
                AskWithPacket<Family>(ip, ip->GetRoutingProtocol(), IpAddress::Parse(nobody));
            deed.isDeferred = answer.isDeferred;
        });
    }
    Simulator::Stop(ASKED_AT + WATCHED_FOR);
    Simulator::Run();
    return deed;
}

Deed
Try(const ObjectFactory& protocol, bool isAsked)
{
    GlobalValue::Bind("SimulatorImplementationType", StringValue("ns3::DefaultSimulatorImpl"));
    RngSeedManager::SetSeed(1);
    const bool isIpv4 = protocol.GetTypeId().IsChildOf(Ipv4RoutingProtocol::GetTypeId());
    NodeContainer nodes(3);
    InternetStackHelper stack;
    if (isIpv4)
    {
        stack.SetRoutingHelper(OneProtocol<ipfamily::V4, Ipv4RoutingHelper>(protocol));
    }
    else
    {
        stack.SetRoutingHelper(OneProtocol<ipfamily::V6, Ipv6RoutingHelper>(protocol));
    }
    stack.Install(nodes);
    SimpleNetDeviceHelper links;
    Ipv4AddressHelper ipv4("198.51.100.0", "255.255.255.252"); // a documentation network (RFC 5737)
    Ipv6AddressHelper ipv6("2001:db8::", 64); // the documentation prefix (RFC 3849)
    for (uint32_t i = 1; i < nodes.GetN(); i++)
    {
        const auto devices = links.Install(NodeContainer(nodes.Get(i - 1), nodes.Get(i)));
        ipv4.Assign(devices);
        ipv4.NewNetwork();
        Ipv6InterfaceContainer addresses = ipv6.Assign(devices);
        addresses.SetForwarding(0, true);
        addresses.SetForwarding(1, true);
        ipv6.NewNetwork();
    }
    if (isIpv4)
    {
        // 192.0.2.1 is a documentation address (RFC 5737).
        return Simulate<ipfamily::V4>(nodes, isAsked ? "192.0.2.1" : nullptr);
    }
    // 100::1 is a discard-only address (RFC 6666).
    return Simulate<ipfamily::V6>(nodes, isAsked ? "100::1" : nullptr);
}

/** Executes Try() in a child process.
 * @return the result; nothing if the process failed */
std::optional<Deed>
TryElsewhere(const ObjectFactory& protocol, bool isAsked)
{
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0)
    {
        return std::nullopt;
    }
    const pid_t child = fork();
    if (child == 0)
    {
        // The child must not outlive this process, because it inherits this process's descriptors.
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        // The child's output, such as that of a failed assertion, must not appear in the output of
        // the run.
        const int nowhere = open("/dev/null", O_WRONLY);
        dup2(nowhere, STDOUT_FILENO);
        dup2(nowhere, STDERR_FILENO);
        constexpr unsigned LONGEST = 20; // s, timeout of the child process
        alarm(LONGEST);
        Deed deed;
        try
        {
            deed = Try(protocol, isAsked);
        }
        catch (...)
        {
            _exit(EXIT_FAILURE);
        }
        const bool isTold = write(ends[1], &deed, sizeof deed) == sizeof deed;
        _exit(isTold ? EXIT_SUCCESS : EXIT_FAILURE);
    }
    close(ends[1]);
    Deed deed;
    const bool isTold = child > 0 && read(ends[0], &deed, sizeof deed) == sizeof deed;
    close(ends[0]);
    while (child > 0 && waitpid(child, nullptr, 0) < 0 && errno == EINTR)
    {
    }
    return isTold ? std::optional(deed) : std::nullopt;
}

} // namespace

void
ProbeProtocol(const ObjectFactory& protocol)
{
    if (!protocol.IsTypeIdSet() || TraitsOf(protocol.GetTypeId()).finding != RouteFinding::UNKNOWN)
    {
        return;
    }
    const auto quiet = TryElsewhere(protocol, false);
    const auto asked = quiet ? TryElsewhere(protocol, true) : std::nullopt;
    if (asked && (asked->isDeferred || asked->sent != quiet->sent))
    {
        LearnLooksForRoutes(protocol.GetTypeId());
    }
}

} // namespace ns3::sim
