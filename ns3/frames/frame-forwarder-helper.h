/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef VIADUCT_FRAME_FORWARDER_HELPER_H
#define VIADUCT_FRAME_FORWARDER_HELPER_H

#include "ns3/frame-forwarder.h"
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

    /** Gives nodes a protocol beside the program, whose table it writes.
     * @param factory makes it; it is aggregated to the node
     */
    void SetProtocol(const ObjectFactory& factory)
    {
        m_protocol = factory;
    }

    /** Lets a node forward between all its devices.
     * @param node the node
     * @return what forwards
     * @throws viaduct::UsageError if there is no such program
     */
    Ptr<FrameForwarder> Install(Ptr<Node> node) const;
    /**
     * @param nodes the nodes, each with all its devices
     */
    void Install(const NodeContainer& nodes) const;

  private:
    std::string m_program;    //!< its name
    ObjectFactory m_protocol; //!< without a TypeId: none
};

} // namespace ns3

#endif // VIADUCT_FRAME_FORWARDER_HELPER_H
