/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

/**
 * @file
 * A lab of two routers: ns-3 takes an interface of the first router down, gives it another address
 * and brings it up again, with the kernel as the routers' data plane (or ns-3: --mode=emulate). The
 * program prints the changes of the link state at the routers' devices. Run it as root or with
 * sudo.
 */

#include "ns3/core-module.h"
#include "ns3/internet-module.h"
#include "ns3/network-module.h"
#include "ns3/viaduct-module.h"

#include <iostream>

using namespace ns3;

int
main(int argc, char* argv[])
{
    GlobalValue::Bind("SimulatorImplementationType", StringValue("ns3::ReactorSimulatorImpl"));
    std::string name = "interface-changes";
    std::string mode = "offload";
    Time step = Seconds(2);
    CommandLine cmd(__FILE__);
    cmd.AddValue("lab", "name of the lab", name);
    cmd.AddValue("mode", "mode of the lab", mode);
    cmd.AddValue("step", "time between two changes of the interface's state and addresses", step);
    cmd.Parse(argc, argv);

    NodeContainer nodes(2);
    InternetStackHelper().Install(nodes);
    auto devices = SimpleNetDeviceHelper().Install(nodes);
    Ipv4AddressHelper("10.0.0.0", "255.255.255.0").Assign(devices);
    Ipv6AddressHelper("fd00:1::", Ipv6Prefix(64)).Assign(devices);

    LabHelper lab(mode);
    lab.SetLabName(name);
    lab.Install(nodes);
    // The lab's devices report the link changes, because they have replaced the devices installed
    // above.
    Ptr<Ipv4> ipv4 = nodes.Get(0)->GetObject<Ipv4>();
    Ptr<Ipv6> ipv6 = nodes.Get(0)->GetObject<Ipv6>();
    for (const auto& attachment : lab.GetAttachments())
    {
        auto device = attachment.device;
        device->AddLinkChangeCallback(Callback<void>([device, where = attachment.nodeName] {
            std::cout << where << (device->IsLinkUp() ? " up" : " down") << std::endl;
        }));
    }
    Simulator::Schedule(step, [&] {
        ipv4->SetDown(1);
        ipv6->SetDown(1);
    });
    Simulator::Schedule(2 * step, [&] {
        ipv4->RemoveAddress(1, 0);
        ipv4->AddAddress(1, {"10.0.0.77", "255.255.255.0"});
        ipv4->SetUp(1);
        ipv6->SetUp(1);
        ipv6->AddAddress(1, {"fd00:1::77", Ipv6Prefix(64)});
    });
    Simulator::Stop(100 * step);
    Simulator::Run();
    Simulator::Destroy();
    return 0;
}
