/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "ns3/sim/scenario-lab.h"

#include "ns3/base/wire-conversion.h"

#include "plane/fib/data_plane.h"
#include "scenario/addresses.h"
#include "scenario/events.h"
#include "scenario/machines.h"
#include "scenario/protocols.h"

#include <algorithm>

namespace ns3::sim
{

using viaduct::scenario::Mode;
using viaduct::scenario::NodeSettings;
using viaduct::scenario::Scenario;

namespace
{

/** @return whether the link has two devices and is emulated by the path engine, because it has a
 * class or a SPEC that differs from a plain wire */
bool
IsEmulatedPair(const NetworkLink& link)
{
    const auto isPlain = [&](size_t end) {
        return Network::SpecOf(*link.settings, end).IsPlainWire();
    };
    return link.devices.size() == 2 && link.settings->emulator == viaduct::lab::Emulator::kEngine &&
           !(isPlain(0) && isPlain(1) && link.settings->classes.empty());
}

/** @return the data plane that forwards the packets of a node */
const viaduct::fib::DataPlane*
PlaneOf(const Scenario& scenario, const NodeSettings& settings)
{
    if (!settings.data_plane)
    {
        // A host has no setting for the data plane: the host's kernel forwards.
        return &viaduct::fib::kKernelPlane;
    }
    return viaduct::scenario::HasRBridges(scenario) && !settings.host ? settings.data_plane->bridged
                                                                      : settings.data_plane;
}

/** Adds to a lab the end of a link between machines that is on this machine. */
void
AddTunnel(LabHelper& lab,
          const Scenario& scenario,
          const Network& network,
          const std::string& host,
          size_t link)
{
    const NetworkLink& found = network.GetLinks()[link];
    const viaduct::lab::Tunnel tunnel = viaduct::scenario::TunnelOf(scenario, link, host);
    LabTunnel settings;
    settings.tunnel = tunnel;
    settings.link = found.settings->name;
    settings.spec = Network::SpecOf(*found.settings, tunnel.end);
    settings.classes = viaduct::scenario::ClassesOf(*found.settings);
    // If only the other direction has a SPEC, the frames that this end sends must still look like
    // frames on a wire. So the path engine emulates this end (LabTunnel::live) although its SPEC is
    // plain.
    settings.live = viaduct::scenario::ChangesSpec(scenario, found.settings->name) ||
                    (IsEmulatedPair(found) && settings.spec.IsPlainWire());
    const size_t other = 1 - tunnel.end;
    settings.neighbour =
        wireconversion::ToWire(Mac48Address::ConvertFrom(found.devices[other]->GetAddress()));
    const auto& addresses = found.settings->addresses;
    for (size_t i = other; i < addresses.size(); i += found.devices.size())
    {
        settings.neighbours.push_back(addresses[i].address);
    }
    lab.SetTunnel(found.devices[tunnel.end], settings);
}

/** Applies the settings of the nodes on this machine to the lab. */
void
SetNodes(LabHelper& lab, const Scenario& scenario, const Network& network, const LabPart& part)
{
    for (const auto& settings : scenario.nodes)
    {
        if (!network.IsLocal(settings.name))
        {
            if (viaduct::scenario::HasAddress(scenario, settings.name))
            {
                const auto address = viaduct::scenario::AddressOf(scenario, settings.name);
                lab.AddOther({settings.name, {address}});
            }
            continue;
        }
        Ptr<Node> node = network.GetNode(settings.name);
        if (part.hub && settings.remote)
        {
            viaduct::lab::Remote remote;
            remote.vni = static_cast<uint32_t>(settings.remote->vni);
            remote.address = settings.remote->address;
            remote.anyone = settings.remote->anyone;
            if (settings.host)
            {
                lab.SetRemote(node, remote);
                continue;
            }
            lab.SetClient(node, remote);
        }
        else if (settings.data_plane || settings.host)
        {
            lab.SetDataPlane(node, *PlaneOf(scenario, settings));
        }
        if (!settings.container.empty())
        {
            lab.SetContainer(node, settings.container);
        }
        for (const auto& [name, value] : settings.sysctls)
        {
            lab.SetSysctl(node, name, value);
        }
        for (const auto& interface : settings.physical_interfaces)
        {
            lab.AddPhysicalInterface(node, interface, nullptr);
        }
    }
}

/** Applies the settings of the links that have an end on this machine to the lab. */
void
SetLinks(LabHelper& lab, const Scenario& scenario, const Network& network, const LabPart& part)
{
    const auto captured = viaduct::scenario::CapturedLinks(scenario);
    for (size_t number = 0; number < network.GetLinks().size(); number++)
    {
        const NetworkLink& link = network.GetLinks()[number];
        const auto& names = link.settings->nodes;
        if (std::none_of(names.begin(), names.end(), [&](const auto& name) {
                return network.IsLocal(name);
            }))
        {
            continue;
        }
        if (std::find(captured.begin(), captured.end(), link.settings->name) != captured.end())
        {
            for (Ptr<NetDevice> device : link.devices)
            {
                lab.SetByHop(device->GetNode(), "link " + link.settings->name + " is captured");
            }
        }
        if (!link.settings->interface.empty())
        {
            Ptr<NetDevice> device = link.devices.front();
            lab.AddPhysicalInterface(
                device->GetNode(), link.settings->interface, device, link.settings->name);
            continue;
        }
        if (!part.host.empty() && viaduct::scenario::IsBetweenMachines(scenario, *link.settings))
        {
            AddTunnel(lab, scenario, network, part.host, number);
            continue;
        }
        lab.SetLinkName(link.channel, link.settings->name);
        lab.SetEmulator(link.channel, link.settings->emulator);
        if (viaduct::scenario::ChangesSpec(scenario, link.settings->name) ||
            (part.live && IsEmulatedPair(link)))
        {
            lab.SetLive(link.channel);
        }
        lab.SetClasses(link.channel, viaduct::scenario::ClassesOf(*link.settings));
        for (size_t i = 0; i < link.devices.size(); i++)
        {
            lab.SetSpec(link.devices[i], Network::SpecOf(*link.settings, i));
        }
    }
}

} // namespace

std::unique_ptr<LabHelper>
BuildLab(const Scenario& scenario, const Network& network, const LabPart& part)
{
    LabHelper::Mode mode = LabHelper::OFFLOAD;
    if (scenario.mode == Mode::kTraditional)
    {
        mode = LabHelper::TRADITIONAL;
    }
    else if (scenario.mode == Mode::kEmulate)
    {
        mode = LabHelper::EMULATE;
    }
    auto lab = std::make_unique<LabHelper>(mode);
    lab->SetLabName(scenario.name);
    if (part.adopts)
    {
        lab->Adopt();
    }
    if (part.hub)
    {
        lab->SetHub({part.hub->address, part.hub->port, scenario.hub_readers, scenario.hub_queue});
    }
    SetNodes(*lab, scenario, network, part);
    SetLinks(*lab, scenario, network, part);
    lab->InstallOrThrow(network.GetNodesHere());
    return lab;
}

} // namespace ns3::sim
