/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef VIADUCT_FRAME_FORWARDER_HELPER_H
#define VIADUCT_FRAME_FORWARDER_HELPER_H

#include "ns3/frames/frame-forwarder.h"
#include "ns3/node-container.h"
#include "ns3/object-factory.h"

#include <string>

namespace ns3
{

/**
 * @ingroup viaduct
 * Lets nodes forward Ethernet frames by a forwarding program.
 */
class FrameForwarderHelper
{
  public:
    /**
     * @param program "bridge", "hub" or the path of a shared library (FILE.so)
     */
    explicit FrameForwarderHelper(const std::string& program);

    /** Gives nodes a protocol in addition to the program, whose table the protocol writes.
     * @param factory makes the protocol, which is aggregated to the node
     */
    void SetProtocol(const ObjectFactory& factory)
    {
        m_protocol = factory;
    }

    /** Lets a node forward between all its devices.
     * @param node the node
     * @return the node's forwarder
     * @throws viaduct::UsageError if there is no such program
     */
    Ptr<FrameForwarder> Install(Ptr<Node> node) const;
    /**
     * @param nodes the nodes, each with all its devices
     */
    void Install(const NodeContainer& nodes) const;

  private:
    std::string m_program;    //!< name of the program
    ObjectFactory m_protocol; //!< no TypeId: no protocol
};

} // namespace ns3

#endif // VIADUCT_FRAME_FORWARDER_HELPER_H
