/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

/**
 * @file
 * Unmodified programs of this machine on nodes in a line or a ring whose IP stack is a real Linux
 * kernel, in virtual time.
 *
 *   viaduct-kernel-programs --nodes=3 --rate=10Mbps --delay=20ms --time=20s
 *       "2@1s iperf3 -s -1" "0@2s ping -c 3 10.0.1.2" "0@6s iperf3 -c 10.0.1.2 -t 5"
 *
 * Link i connects node i and the next node. Its network is 10.0.i.0/24: node i has the address .1,
 * and the next node has .2. "NODE@TIME COMMAND" runs COMMAND in a shell on node NODE (`all`: on
 * every node) from TIME on. The output of programs is printed with its time and node, and with
 * --output=PREFIX also stored in PREFIX-NODE-NUMBER.out, .err and .status (NUMBER counts a node's
 * commands from 0).
 */

#include "kernel-example.h"

#include "ns3/core-module.h"
#include "ns3/internet-module.h"
#include "ns3/network-module.h"
#include "ns3/point-to-point-module.h"
#include "ns3/viaduct-module.h"

#include "base/error.h"
#include "base/units.h"
#include "guest/agent/program_client.h"

#include <iomanip>
#include <iostream>
#include <sstream>
#include <string>
#include <vector>

using namespace ns3;

namespace
{

/** An argument "NODE@TIME COMMAND". */
struct Command
{
    std::string node;
    Time start;
    std::string text;
};

struct Arguments
{
    std::string topology = "line";
    uint32_t nodes = 2;
    std::string rate = "100Mbps";
    std::string delay = "1ms";
    std::string routing = "global";
    Time time = Seconds(10);
    std::string kernel;
    uint32_t memory = 0;
    std::string boot;
    std::string output;
    std::string pcap;
    std::vector<Command> commands;
};

Command
ParseCommand(const std::string& text)
{
    const auto at = text.find('@');
    const auto space = text.find(' ', at == std::string::npos ? 0 : at);
    if (at == std::string::npos || space == std::string::npos)
    {
        throw viaduct::UsageError("'" + text +
                                  "' does not have the form NODE@TIME COMMAND, such as "
                                  "\"0@1s ping ...\"");
    }
    const auto start = viaduct::ParseDuration(text.substr(at + 1, space - at - 1));
    return {text.substr(0, at), NanoSeconds(start.nanoseconds()), text.substr(space + 1)};
}

/** @return the nodes on which a command must run */
NodeContainer
NodesOf(const Command& command, const NodeContainer& nodes)
{
    if (command.node == "all")
    {
        return nodes;
    }
    for (uint32_t i = 0; i < nodes.GetN(); ++i)
    {
        if (command.node == std::to_string(i))
        {
            return NodeContainer(nodes.Get(i));
        }
    }
    throw viaduct::UsageError("no node " + command.node + " for '" + command.text +
                              "': expected a number from 0 to " + std::to_string(nodes.GetN() - 1) +
                              ", or all");
}

void
Print(const std::string& node, const std::string& text)
{
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);)
    {
        std::cout << std::fixed << std::setprecision(6) << Simulator::Now().GetSeconds() << " s "
                  << node << ": " << line << std::endl;
    }
}

/** Runs a command on the nodes that it names. */
void
Start(const Command& command, const NodeContainer& nodes, const std::string& output)
{
    KernelApplicationHelper helper({"sh", "-c", command.text});
    helper.SetOutputPrefix(output);
    const NodeContainer chosen = NodesOf(command, nodes);
    for (uint32_t i = 0; i < chosen.GetN(); ++i)
    {
        const std::string name = chosen.Get(i)->GetObject<KernelNode>()->GetName();
        auto applications = helper.Install(chosen.Get(i));
        applications.Start(command.start);
        applications.Get(0)->TraceConnectWithoutContext(
            "Output", Callback<void, int, const std::string&>([name](int, const std::string& text) {
                Print(name, text);
            }));
        applications.Get(0)->TraceConnectWithoutContext(
            "Exit", Callback<void, int>([name, text = command.text](int status) {
                Print(name, text + ": " + viaduct::guest::DescribeStatus(status));
            }));
    }
}

void
Connect(const Arguments& arguments, const NodeContainer& nodes)
{
    const bool ring = arguments.topology == "ring";
    if (!ring && arguments.topology != "line")
    {
        throw viaduct::UsageError("--topology=" + arguments.topology + ": expected line or ring");
    }
    if (nodes.GetN() < (ring ? 3 : 2) || nodes.GetN() > 256)
    {
        throw viaduct::UsageError("--nodes: expected 2 to 256, or 3 to 256 in a ring");
    }
    PointToPointHelper link;
    link.SetDeviceAttribute("DataRate", StringValue(arguments.rate));
    link.SetChannelAttribute("Delay", StringValue(arguments.delay));
    Ipv4AddressHelper addresses("10.0.0.0", "255.255.255.0");
    for (uint32_t i = 0; i + (ring ? 0 : 1) < nodes.GetN(); ++i)
    {
        addresses.Assign(
            link.Install(NodeContainer(nodes.Get(i), nodes.Get((i + 1) % nodes.GetN()))));
        addresses.NewNetwork();
    }
    if (arguments.routing == "global")
    {
        Ipv4GlobalRoutingHelper::PopulateRoutingTables();
    }
    else if (arguments.routing != "none")
    {
        throw viaduct::UsageError("--routing=" + arguments.routing + ": expected global or none");
    }
}

void
Run(const Arguments& arguments)
{
    NodeContainer nodes(arguments.nodes);
    KernelStackHelper stack;
    stack.SetAttribute("Kernel", StringValue(arguments.kernel));
    stack.SetAttribute("Memory", UintegerValue(arguments.memory));
    stack.SetAttribute("BootParameters", StringValue(arguments.boot));
    stack.Install(nodes);
    Connect(arguments, nodes);
    for (const Command& command : arguments.commands)
    {
        Start(command, nodes, arguments.output);
    }
    if (!arguments.pcap.empty())
    {
        KernelStackHelper::EnablePcap(arguments.pcap, nodes);
    }
    Simulator::Stop(arguments.time);
    Simulator::Run();
}

} // namespace

int
main(int argc, char* argv[])
{
    Arguments arguments;
    CommandLine line(__FILE__);
    line.Usage("Runs programs of this machine on nodes with real kernels: "
               "\"NODE@TIME COMMAND\"...\n"
               "Example: \"1@1s iperf3 -s -1\" \"0@2s iperf3 -c 10.0.0.2 -t 5\"");
    line.AddValue("topology", "topology: line or ring", arguments.topology);
    line.AddValue("nodes", "number of nodes", arguments.nodes);
    line.AddValue("rate", "rate of the links", arguments.rate);
    line.AddValue("delay", "delay of the links", arguments.delay);
    line.AddValue("routing",
                  "source of the routes: global (ns-3's global routing) or none (only the programs "
                  "set routes)",
                  arguments.routing);
    line.AddValue("time", "duration in virtual time", arguments.time);
    line.AddValue(
        "kernel", "kernel (see viaduct kernel list); default: the newest kernel", arguments.kernel);
    line.AddValue(
        "memory", "memory of the kernel in MiB; 0: enough for the nodes", arguments.memory);
    line.AddValue("boot", "additional parameters for the kernel's command line", arguments.boot);
    line.AddValue("output", "prefix of the files for the output of programs", arguments.output);
    line.AddValue("pcap", "prefix of the capture files", arguments.pcap);
    line.Parse(argc, argv);
    return RunKernelExample("viaduct-kernel-programs", [&] {
        for (std::size_t i = 0; i < line.GetNExtraNonOptions(); ++i)
        {
            arguments.commands.push_back(ParseCommand(line.GetExtraNonOption(i)));
        }
        Run(arguments);
    });
}
