/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef VIADUCT_FRAME_FORWARDER_H
#define VIADUCT_FRAME_FORWARDER_H

#include "ns3/frames/event-listener.h"

#include "ns3/callback.h"
#include "ns3/event-id.h"
#include "ns3/net-device.h"
#include "ns3/node.h"
#include "ns3/nstime.h"
#include "ns3/object.h"
#include "ns3/packet.h"
#include "ns3/traced-callback.h"

#include "lab/broker/client.h"
#include "plane/forward/counters.h"
#include "plane/forward/outbox.h"
#include "plane/forward/program.h"
#include "plane/forward/program_description.h"
#include "sys/network/filter.h"

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace ns3
{

/**
 * @ingroup viaduct
 * @brief Lets a node forward Ethernet frames by a forwarding program (plane/forward/program.h): a
 * built-in one, or a class in a shared library.
 *
 * In simulation, and if the simulator is the data plane, the program runs in the simulator. A lab
 * moves it into the process of the lab's forwarder (LabHelper). Neither the program nor the
 * protocol that writes its table notices.
 *
 * That protocol is a separate ns3::Object, aggregated to the same node. It sends and receives
 * frames of the program's EtherType (kControlType) by the node's devices and
 * Node::RegisterProtocolHandler(), as always in ns-3, with no device named, as devices are replaced
 * in a lab.
 */
class FrameForwarder : public Object, private viaduct::forward::Carrier
{
  public:
    /** @return the object TypeId */
    static TypeId GetTypeId();

    FrameForwarder();
    ~FrameForwarder() override;

    /**
     * @param name "bridge", "hub" or the path of a shared library (FILE.so), which is loaded
     * @throws viaduct::UsageError if there is no such program
     */
    void SetProgram(const std::string& name);

    /** @return the program's properties that the lab needs; the program must be set */
    const viaduct::forward::ProgramDescription& GetDescription() const
    {
        return m_description;
    }

    /** Makes a device of the node the next port.
     * @param device the device; it belongs to the node that this object is aggregated to
     */
    void AddPort(Ptr<NetDevice> device);
    /** Replaces a device by another one, if it is a port.
     * @param oldDevice the port
     * @param newDevice a device of the same node
     */
    void ReplaceDevice(Ptr<NetDevice> oldDevice, Ptr<NetDevice> newDevice);

    /** @return the number of ports */
    uint32_t GetNPorts() const
    {
        return static_cast<uint32_t>(m_ports.size());
    }

    /**
     * @param port the port's index, as used by the program
     * @return the port's device, which may be replaced later
     */
    Ptr<NetDevice> GetPort(uint32_t port) const
    {
        return m_ports.at(port).device;
    }

    /**
     * @param device a device
     * @return the index of the device's port; GetNPorts() if it has none
     */
    uint32_t GetPortIndex(Ptr<NetDevice> device) const;

    /** Writes a word of the program's table, which the program may read at any time after that.
     * @param index the word's index; the table has as many words as the program's kTableWords
     * @param value the word's new value
     * @throws std::out_of_range if there is no such word
     */
    void SetWord(size_t index, uint64_t value);
    /**
     * @param index the index of a word
     * @return the last value written by SetWord(); initially 0
     */
    uint64_t GetWord(size_t index) const;

    /**
     * @param take called with the key and the value of each event of the program
     */
    void SetEventCallback(Callback<void, uint64_t, uint64_t> take)
    {
        m_take = take;
    }

    /**
     * @param ready false: frames are not carried yet, as the protocol does not know enough. A
     * scenario's traffic waits for all nodes. The default is true.
     */
    void SetReady(bool ready)
    {
        m_ready = ready;
    }

    /** @return whether frames are carried */
    bool IsReady() const
    {
        return m_ready;
    }

    /** Returns the frames of all ports that the program took in the simulator.
     * @return the number of frames by the name of their outcome; "not-sent": sent by the program,
     * but no Ethernet frame, longer than the port's MTU, or for a link that is down. Frames for
     * which a device had no space are counted by the device.
     */
    std::map<std::string, uint64_t> GetFrames() const;

    /** Lets the forwarder of a lab forward in the simulator's place from now on.
     * @param tables the memory shared with the forwarder
     * @param held leaves the table in the memory, written by a simulator that has ended, unchanged
     * until Release()
     */
    void MoveOut(viaduct::broker::Tables tables, bool held);
    /** Writes the present table to the memory. No effect unless the memory is held. */
    void Release();

    /**
     * TracedCallback signature for Frame.
     * @param [in] packet the bytes after the Ethernet header
     * @param [in] port the index of the port that received the packet
     * @param [in] outcome the packet's outcome, as in "forwarded"
     */
    typedef void (*FrameTracedCallback)(Ptr<const Packet> packet,
                                        uint32_t port,
                                        std::string outcome);

  protected:
    void DoInitialize() override;
    void DoDispose() override;
    void NotifyNewAggregate() override;

  private:
    struct Port
    {
        Ptr<NetDevice> device;             //!< sends and receives
        viaduct::sys::PacketFilter filter; //!< selects the program's frames
    };

    class Events;

    // Inherited from viaduct::forward::Carrier
    void Transmit(size_t port, std::span<const viaduct::wire::ConstBytes> frames) override;

    // Packets of the node's kernel: throw, as a node that forwards frames has no use for them.
    void SendAsOwn(viaduct::wire::Family family,
                   viaduct::wire::ConstBytes packet,
                   uint32_t ifindex) override;
    void SendIcmpv6(const viaduct::wire::IpAddress& destination,
                    viaduct::wire::ConstBytes message,
                    uint32_t ifindex) override;
    void PassUp(size_t port, viaduct::wire::ConstBytes packet, uint32_t ifindex) override;

    // Receives the frames of a port's device; a protocol handler of the node.
    void Receive(Ptr<NetDevice> device,
                 Ptr<const Packet> packet,
                 uint16_t protocol,
                 const Address& from,
                 const Address& to,
                 NetDevice::PacketType type);
    void Listen(Ptr<NetDevice> device);
    /** Calls a function that calls the program.
     * @throw viaduct::Error that names it, for any exception
     */
    template <class F>
    void Guard(F call) const;
    /** @return the running program, which is created if there is none */
    viaduct::forward::AnyProgram& Running();
    void Tick();

    const viaduct::forward::ProgramKind* m_kind{nullptr}; //!< the program
    viaduct::forward::ProgramDescription m_description;   //!< properties of the program
    std::vector<Port> m_ports;                            //!< ports by index
    Ptr<Node> m_node;                                     //!< node of the ports
    bool m_ready{true};                                   //!< see SetReady()
    Callback<void, uint64_t, uint64_t> m_take;            //!< called with events

    std::vector<viaduct::forward::Word> m_table;             //!< table of the protocol
    std::vector<viaduct::forward::Word> m_frames;            //!< memory of m_counters
    std::unique_ptr<viaduct::forward::Counters> m_counters;  //!< present while it runs here
    std::unique_ptr<Events> m_events;                        //!< present while it runs here
    std::unique_ptr<viaduct::forward::Outbox> m_outbox;      //!< present while it runs here
    viaduct::forward::Node m_place;                          //!< node's resources for the program
    std::unique_ptr<viaduct::forward::AnyProgram> m_program; //!< present while it runs here
    Ptr<const Packet> m_present;                             //!< packet that the program handles
    EventId m_tick;                                          //!< Tick()

    struct Outside
    {
        viaduct::forward::Mapping table;         //!< memory
        std::unique_ptr<EventListener> listener; //!< events
        bool held{false};                        //!< whether the table is unchanged
    };

    std::unique_ptr<Outside> m_outside; //!< the forwarder of a lab, if it has the program

    TracedCallback<Ptr<const Packet>, uint32_t, std::string> m_frameTrace; //!< trace Frame
};

} // namespace ns3

#endif // VIADUCT_FRAME_FORWARDER_H
