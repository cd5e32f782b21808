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
 * Makes nodes forward Ethernet frames with a forwarding program.
 */
class FrameForwarderHelper
{
  public:
    /** Creates a helper for a forwarding program.
     * @param program "bridge", "hub" or the path of a shared library (FILE.so)
     */
    explicit FrameForwarderHelper(const std::string& program);

    /** Sets a protocol that each node gets in addition to the forwarding program; the protocol
     * writes the program's table.
     * @param factory the factory of the protocol, which is aggregated to each node
     */
    void SetProtocol(const ObjectFactory& factory)
    {
        m_protocol = factory;
    }

    /** Makes a node forward frames between all its devices except loopback devices.
     * @param node the node
     * @return the node's forwarder
     * @throws viaduct::UsageError if the name of the forwarding program is unknown
     */
    Ptr<FrameForwarder> Install(Ptr<Node> node) const;
    /** Makes each of several nodes forward frames between all its devices except loopback devices.
     * @param nodes the nodes
     */
    void Install(const NodeContainer& nodes) const;

  private:
    std::string m_program;    //!< name of the program
    ObjectFactory m_protocol; //!< factory of the protocol; no TypeId: no protocol
};

} // namespace ns3

#endif // VIADUCT_FRAME_FORWARDER_HELPER_H
