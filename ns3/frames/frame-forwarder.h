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
 * @brief Makes a node forward Ethernet frames with a forwarding program (plane/forward/program.h):
 * a built-in program, or a class in a shared library.
 *
 * In simulation, and if the simulator is the data plane, the program runs in the simulator. A lab
 * moves the program into the process of the lab's forwarder (LabHelper). The move changes nothing
 * for the program or for the protocol that writes the program's table.
 *
 * The protocol is a separate ns3::Object, aggregated to the same node. It sends frames of the
 * program's EtherType (kControlType) through the node's devices and receives them with
 * Node::RegisterProtocolHandler(), as always in ns-3. The handler must be registered without a
 * device, as a lab replaces the devices.
 */
class FrameForwarder : public Object, private viaduct::forward::Carrier
{
  public:
    /** @return the object TypeId */
    static TypeId GetTypeId();

    FrameForwarder();
    ~FrameForwarder() override;

    /** Sets the forwarding program.
     * @param name "bridge", "hub" or the path of a shared library (FILE.so), which is loaded
     * @throws viaduct::UsageError if there is no forwarding program of that name
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
    /** Replaces the device of a port by another device; does nothing if the old device has no port.
     * @param oldDevice the current device of the port
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
     * @return the index of the device's port; GetNPorts() if the device has no port
     */
    uint32_t GetPortIndex(Ptr<NetDevice> device) const;

    /** Writes a word of the program's table. The program may read the word at any time after this
     * call.
     * @param index the word's index; the table has as many words as the program's kTableWords
     * @param value the word's new value
     * @throws std::out_of_range if the table has no word with this index
     */
    void SetWord(size_t index, uint64_t value);
    /**
     * @param index the index of a word
     * @return the last value written by SetWord(); initially 0
     */
    uint64_t GetWord(size_t index) const;

    /** Sets the callback for the program's events.
     * @param take the callback, called with the key and the value of each event
     */
    void SetEventCallback(Callback<void, uint64_t, uint64_t> take)
    {
        m_take = take;
    }

    /** Sets whether the node is ready to carry frames. The traffic of a scenario waits until all
     * nodes are ready.
     * @param ready false: the node is not ready, because its protocol does not know enough yet. The
     * default is true.
     */
    void SetReady(bool ready)
    {
        m_ready = ready;
    }

    /** @return whether the node is ready to carry frames, as set by SetReady() */
    bool IsReady() const
    {
        return m_ready;
    }

    /** Returns the number of frames that the program handled while it ran in the simulator, for all
     * ports together.
     * @return the number of frames by the name of their outcome. "not-sent" counts frames that the
     * program sent but the port did not: they were not Ethernet frames, were longer than the port's
     * MTU, or the link was down. Frames for which a device had no space are counted by the device.
     */
    std::map<std::string, uint64_t> GetFrames() const;

    /** Moves the forwarding from the simulator to the forwarder of a lab.
     * @param tables the memory shared with the forwarder
     * @param held true: the table in the shared memory, which an earlier simulator has written,
     * stays unchanged until Release()
     */
    void MoveOut(viaduct::broker::Tables tables, bool held);
    /** If MoveOut() was called with `held`, writes the current table to the memory shared with the
     * lab's forwarder; otherwise does nothing. */
    void Release();

    /**
     * TracedCallback signature for Frame.
     * @param [in] packet the bytes after the Ethernet header
     * @param [in] port the index of the port that received the packet
     * @param [in] outcome what the program did with the packet, for example "forwarded"
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
        Ptr<NetDevice> device;             //!< network device of the port
        viaduct::sys::PacketFilter filter; //!< selects the frames that the program receives
    };

    class Events;

    // Inherited from viaduct::forward::Carrier
    void Transmit(size_t port, std::span<const viaduct::wire::ConstBytes> frames) override;

    // Functions that would send packets through the node's kernel. They throw, as a node that
    // forwards frames has no use for such packets.
    void SendAsOwn(viaduct::wire::Family family,
                   viaduct::wire::ConstBytes packet,
                   uint32_t ifindex) override;
    void SendIcmpv6(const viaduct::wire::IpAddress& destination,
                    viaduct::wire::ConstBytes message,
                    uint32_t ifindex) override;
    void PassUp(size_t port, viaduct::wire::ConstBytes packet, uint32_t ifindex) override;

    // The protocol handler of the node that receives the frames of a port's device.
    void Receive(Ptr<NetDevice> device,
                 Ptr<const Packet> packet,
                 uint16_t protocol,
                 const Address& from,
                 const Address& to,
                 NetDevice::PacketType type);
    void Listen(Ptr<NetDevice> device);
    /** Calls a function that calls the program.
     * @throw viaduct::Error that names the program, for any exception
     */
    template <class F>
    void Guard(F call) const;
    /** @return the running program, which is created if there is none */
    viaduct::forward::AnyProgram& Running();
    void Tick();

    const viaduct::forward::ProgramKind* m_kind{nullptr}; //!< kind of the program
    viaduct::forward::ProgramDescription m_description;   //!< properties of the program
    std::vector<Port> m_ports;                            //!< ports by index
    Ptr<Node> m_node;                                     //!< node of the ports
    bool m_ready{true};                                   //!< value set by SetReady()
    Callback<void, uint64_t, uint64_t> m_take;            //!< callback for m_program's events

    std::vector<viaduct::forward::Word> m_table;             //!< the program's table
    std::vector<viaduct::forward::Word> m_frames;            //!< memory of m_counters
    std::unique_ptr<viaduct::forward::Counters> m_counters;  //!< counters of m_program
    std::unique_ptr<Events> m_events;                        //!< receives events of m_program
    std::unique_ptr<viaduct::forward::Outbox> m_outbox;      //!< receives frames of m_program
    viaduct::forward::Node m_place;                          //!< node description for m_program
    std::unique_ptr<viaduct::forward::AnyProgram> m_program; //!< program; null before Running()
    Ptr<const Packet> m_present;                             //!< packet that the program handles
    EventId m_tick;                                          //!< event of the next Tick()

    struct Outside
    {
        viaduct::forward::Mapping table;         //!< table in shared memory
        std::unique_ptr<EventListener> listener; //!< reader of events
        bool held{false};                        //!< whether `table` waits for Release()
    };

    std::unique_ptr<Outside> m_outside; //!< connection to a lab's forwarder, after MoveOut()

    TracedCallback<Ptr<const Packet>, uint32_t, std::string> m_frameTrace; //!< trace source Frame
};

} // namespace ns3

#endif // VIADUCT_FRAME_FORWARDER_H
