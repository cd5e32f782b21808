/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef VIADUCT_PROGRAM_PORT_H
#define VIADUCT_PROGRAM_PORT_H

#include "reactor-simulator-impl.h"

#include "ns3/ipv4-header.h"
#include "ns3/ipv4-route.h"
#include "ns3/ipv6-header.h"
#include "ns3/node.h"
#include "ns3/object.h"
#include "ns3/packet.h"
#include "ns3/traced-callback.h"

#include "io/port.h"

#include <array>
#include <memory>
#include <mutex>
#include <vector>

/**
 * @file
 * @ingroup viaduct
 * ns3::ProgramPort declaration.
 */

namespace ns3
{

class Icmpv4L4Protocol;
class Icmpv6L4Protocol;
class IpL4Protocol;
class Ipv4Interface;
class Ipv4L3Protocol;
class Ipv6L3Protocol;
class ProgramPortL4;
class ProgramPortReader;

/**
 * @ingroup viaduct
 * @brief Real programs in a node's namespace use the node's simulated IP stack.
 *
 * The port carries whole IP packets (a TUN device without packet information). What programs send
 * is routed by the node's routing protocol with its header as it is. Of what the node receives,
 * that which no ns-3 socket claims goes to the programs; ns-3 then answers neither with a reset nor
 * with "port unreachable", for that is up to the programs' kernel.
 */
class ProgramPort : public Object, private ReactorFlush
{
  public:
    /** Why a packet did not get through. */
    enum DropReason
    {
        FROM_PROGRAM_MALFORMED, //!< not an IP packet, or its length is wrong
        FROM_PROGRAM_NO_STACK,  //!< the node has no IP stack of its version
        FROM_PROGRAM_NO_ROUTE,  //!< the routing protocol knows no route
        TO_PROGRAM_TOO_LONG,    //!< does not fit into a buffer
        TO_PROGRAM_QUEUE_FULL,  //!< the port takes no more
        N_DROP_REASONS
    };

    /**
     * TracedCallback signature for Drop.
     * @param [in] packet the IP packet
     * @param [in] reason why it was dropped
     */
    typedef void (*DropTracedCallback)(Ptr<const Packet> packet, DropReason reason);

    /**
     * @brief Get the type ID.
     * @return the object TypeId
     */
    static TypeId GetTypeId();

    ProgramPort();
    ~ProgramPort() override;

    /**
     * Make a program port and aggregate it to a node that has its Internet stack.
     * @param node the node
     * @param port carries IP packets, owned from now on
     * @return the program port
     */
    static Ptr<ProgramPort> Install(Ptr<Node> node, std::unique_ptr<viaduct::io::AnyPort> port);

    /**
     * @return the port, owned by this object
     */
    viaduct::io::AnyPort* GetPort() const;

    /**
     * @param reason a reason
     * @return how many packets were dropped for it
     */
    uint64_t GetDrops(DropReason reason) const;

    /**
     * @param reason a reason
     * @return its name, as in "from_program_no_route"
     */
    static const char* GetDropReasonName(DropReason reason);

  protected:
    void DoInitialize() override;
    void DoDispose() override;

  private:
    friend class ProgramPortL4;
    friend class ProgramPortReader;

    bool FlushTurn() override;

    struct State;
    std::unique_ptr<State> m_state; //!< everything else
};

} // namespace ns3

#endif /* VIADUCT_PROGRAM_PORT_H */
