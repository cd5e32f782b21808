/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "ns3/offload/frame-planes.h"

#include "ns3/frames/frame-forwarder.h"

#include "base/error.h"

namespace ns3
{

using viaduct::UsageError;
using Attachments = std::vector<LabHelper::Attachment>;

std::pair<Ptr<RBridge>, RBridgeSharedPlane*>
AttachRBridge(const viaduct::lab::Node& node,
              const Attachments& attachments,
              viaduct::broker::Client& broker,
              bool held)
{
    Ptr<RBridge> rbridge;
    Ptr<Node> owner;
    viaduct::rbridge::PortIndex next = 0;
    for (const LabHelper::Attachment& attachment : attachments)
    {
        if (attachment.nodeName != node.name)
        {
            continue;
        }
        owner = attachment.node;
        rbridge = owner->GetObject<RBridge>();
        if (!rbridge || rbridge->GetPortIndex(attachment.device) != next++)
        {
            throw UsageError("node " + node.name +
                             ": the node's data plane requires an RBridge whose ports are the "
                             "node's devices, in the same order");
        }
    }
    if (!owner)
    {
        return {};
    }
    auto plane =
        std::make_unique<RBridgeSharedPlane>(*rbridge, owner, broker.OpenTables(node.name));
    RBridgeSharedPlane* const made = plane.get();
    if (held)
    {
        made->Hold();
    }
    rbridge->SetPlane(std::move(plane));
    return {rbridge, made};
}

void
AttachFrameForwarder(const viaduct::lab::Node& node,
                     const Attachments& attachments,
                     viaduct::broker::Client& broker,
                     bool held)
{
    Ptr<FrameForwarder> forwarder;
    uint32_t next = 0;
    for (const LabHelper::Attachment& attachment : attachments)
    {
        if (attachment.nodeName != node.name)
        {
            continue;
        }
        forwarder = attachment.node->GetObject<FrameForwarder>();
        if (forwarder->GetPortIndex(attachment.device) != next++)
        {
            throw UsageError("node " + node.name +
                             ": the ports of the node's FrameForwarder must be the node's devices, "
                             "in the same order");
        }
    }
    if (forwarder)
    {
        forwarder->MoveOut(broker.OpenTables(node.name), held);
    }
}

} // namespace ns3
