/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef VIADUCT_FRAME_PLANES_H
#define VIADUCT_FRAME_PLANES_H

#include "ns3/offload/lab-helper.h"

#include "ns3/wmrp/rbridge-shared-plane.h"
#include "ns3/wmrp/rbridge.h"

#include "lab/broker/client.h"
#include "lab/topology.h"

#include <utility>
#include <vector>

namespace ns3
{

/** Lets a lab's data plane forward the frames of an RBridge.
 * @param node the RBridge in the lab
 * @param attachments the interfaces of all nodes of the lab
 * @param broker the lab's broker
 * @param held whether the shared tables that a failed simulator has left are kept until
 * RBridgeSharedPlane::Release()
 * @return the RBridge and its plane, which the RBridge owns; both null if the node has no interface
 * @throw viaduct::UsageError if the RBridge's ports are not the node's devices
 */
std::pair<Ptr<RBridge>, RBridgeSharedPlane*> AttachRBridge(
    const viaduct::lab::Node& node,
    const std::vector<LabHelper::Attachment>& attachments,
    viaduct::broker::Client& broker,
    bool held);

/** Lets a lab's forwarder run the program of a node with a FrameForwarder.
 * @param node the node in the lab
 * @param attachments the interfaces of all nodes of the lab
 * @param broker the lab's broker
 * @param held whether the shared table that a failed simulator has left is kept until
 * FrameForwarder::Release()
 * @throw viaduct::UsageError if the FrameForwarder's ports are not the node's devices
 */
void AttachFrameForwarder(const viaduct::lab::Node& node,
                          const std::vector<LabHelper::Attachment>& attachments,
                          viaduct::broker::Client& broker,
                          bool held);

} // namespace ns3

#endif // VIADUCT_FRAME_PLANES_H
