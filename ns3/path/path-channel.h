/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef VIADUCT_PATH_CHANNEL_H
#define VIADUCT_PATH_CHANNEL_H

#include "ns3/channel.h"
#include "ns3/nstime.h"
#include "ns3/packet.h"
#include "ns3/traced-callback.h"

#include "path/packet/fate.h"
#include "path/spec/spec.h"
#include "path/spec/traffic_class.h"
#include "sys/network/filter.h"

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace viaduct::path
{
class Nat;
} // namespace viaduct::path

namespace ns3
{

class PathNetDevice;

/** The fate of a packet in a PathChannel. */
struct PathFate
{
    std::size_t device = 0;   //!< number of the sending device in the channel
    uint64_t number = 0;      //!< number of the frame, counted from 1 for each device and class
    viaduct::path::Fate fate; //!< the packet's fate
    Time at;                  //!< time of the fate, according to the model
    bool duplicate = false;   //!< whether the packet is a copy made by the channel
    bool corrupted = false;   //!< whether the channel flipped bits of the packet
    bool marked = false;      //!< whether the channel set the ECN mark CE
    std::size_t group = 0;    //!< number of the packet's class, from 1; 0: no class
};

/**
 * @ingroup viaduct
 * @brief A link of Viaduct's path emulator between simulated devices.
 *
 * Applies a SPEC to packets: loss, bit errors, duplication, a rate with its queue, delay, jitter,
 * reordering. The channel uses the same implementation as `viaduct path` and the links of a lab;
 * with the same seed, name and order of packets, the packets have the same fates in all three.
 *
 * Two devices form a point-to-point link: the SPEC Up applies to frames of the first device, the
 * SPEC Down to those of the second. More devices form an Ethernet: the SPEC Up applies to the
 * frames of each device separately, which then reach all other devices.
 *
 * SPECs that name the same link (link=NAME), in one channel or in several channels, share the rate
 * and queue of that link.
 */
class PathChannel : public Channel
{
  public:
    /**
     * TracedCallback signature for Fate.
     * @param [in] packet the frame as sent
     * @param [in] fate the frame's fate
     */
    typedef void (*FateTracedCallback)(Ptr<const Packet> packet, const PathFate& fate);

    /** @return the object TypeId */
    static TypeId GetTypeId();

    PathChannel();
    ~PathChannel() override;

    /** Attaches a device; must be called before the simulation starts.
     * @param device the device
     */
    void Add(Ptr<PathNetDevice> device);

    /**
     * Changes the SPECs. May be called while packets are in flight, of which none is lost.
     * @param up the SPEC of the first device's direction, or of all devices if there are more than
     * two
     * @param down the SPEC of the second device's direction
     * @throw viaduct::UsageError for an invalid SPEC; in this case neither SPEC changes
     */
    void SetSpecs(const viaduct::path::Spec& up, const viaduct::path::Spec& down);

    /** Sets separate SPECs for classes of frames; must be called before the channel is used.
     * @param classes the classes; a frame belongs to the first class whose filter matches it. If
     * there are more than two devices, the SPEC `up` of a class applies to the frames of each
     * device
     * @throw viaduct::UsageError for an invalid filter
     */
    void SetClasses(const std::vector<viaduct::path::TrafficClass>& classes);
    /** @return the classes that SetClasses() has set */
    const std::vector<viaduct::path::TrafficClass>& GetClasses() const
    {
        return m_classes;
    }

    /**
     * @param device the number of a device of the channel
     * @param group the number of a class, from 1; 0 for the frames of no class
     * @return the SPEC that applies to frames from the device
     */
    const viaduct::path::Spec& GetSpec(std::size_t device, std::size_t group = 0) const;

    /**
     * @param device the number of a device of the channel
     * @param group the number of a class, from 1; 0 for the frames of no class
     * @return the number of packets from the device for each fate
     */
    viaduct::path::Counters GetCounters(std::size_t device, std::size_t group = 0) const;

    /**
     * @param device the number of a device of the channel
     * @param group the number of a class, from 1; 0 for the frames of no class
     * @return the number of packets from the device that are in the channel, and their bytes
     */
    std::pair<uint64_t, uint64_t> GetWaiting(std::size_t device, std::size_t group = 0) const;

    /**
     * @param device the number of a device of the channel
     * @return the name that a lab gives to the pair of interfaces for the device's frames
     */
    std::string GetPairName(std::size_t device) const;

    /**
     * @param device the number of a device of the channel
     * @return whether the device's frames go in direction Down, from the second end of the pair to
     * the first
     */
    bool IsDown(std::size_t device) const;

    /** @return the link's name: attribute Name, or "path" and the channel's id */
    std::string GetName() const;

    /** Unplugs or plugs in the link.
     * @param up true to plug the link in; false to unplug it: no frame is accepted, and frames in
     * flight do not arrive
     */
    void SetLinkUp(bool up);
    /** @return whether the link is plugged in, so that frames pass */
    bool IsLinkUp() const
    {
        return m_linkUp;
    }

    /** Uses numbered random streams instead of streams derived from the link's name. Packets then
     * have fates that differ from those on the same link in a lab.
     * @param stream the number of the first stream
     * @return the number of streams used: one per device for frames of no class, and one per device
     * for each class
     */
    int64_t AssignStreams(int64_t stream);

    /**
     * Sends a frame; called by PathNetDevice.
     * @param device the number of the sending device in the channel
     * @param frame the frame, including its Ethernet header; owned by the channel
     */
    void Send(std::size_t device, Ptr<Packet> frame);

    // Inherited from Channel
    std::size_t GetNDevices() const override
    {
        return m_devices.size();
    }

    Ptr<NetDevice> GetDevice(std::size_t i) const override;

  protected:
    void DoInitialize() override;
    void DoDispose() override;

  private:
    class Direction;

    // Accessors of the attributes Up, Down and Spec, which sets Up and Down; the texts are SPECs.
    void SetUp(std::string text);
    std::string GetUp() const;
    void SetDown(std::string text);
    std::string GetDown() const;
    void SetSpec(std::string text);

    /** Changes the SPEC of the pipeline for frames from @p device, if the pipeline exists
     * already. */
    void Change(std::size_t device, const viaduct::path::Spec& spec);
    /** Checks the arguments of SetSpecs(): the SPECs, their files, and the position of a NAT.
     * @throw viaduct::UsageError for an invalid argument
     */
    void TrySpecs(const viaduct::path::Spec& up, const viaduct::path::Spec& down) const;
    /** @return the index in m_directions of frames of class @p group (0: no class) from @p
     * device */
    std::size_t PlaceOf(std::size_t device, std::size_t group) const
    {
        return device * (1 + m_classes.size()) + group;
    }

    /** @return the direction of frames of class @p group (0: no class) from @p device; null if it
     * does not exist yet */
    const Direction* FindDirection(std::size_t device, std::size_t group) const;
    /** @return the direction of frames of class @p group (0: no class) from @p device, created if
     * it does not exist yet */
    Direction& DirectionOf(std::size_t device, std::size_t group);
    /** @return the class to which a frame belongs, from 1; 0: no class */
    std::size_t GroupOf(const Packet& frame) const;
    /** @return the name of the random streams for frames of class @p group (0: no class) from @p
     * device */
    std::string StreamName(std::size_t device, std::size_t group) const;
    /** @return the name of the state that frames from @p device share with the other direction */
    std::string SharedStreamName(std::size_t device) const;
    /**
     * Handles the due events of the pipeline for frames of class @p group (0: no class) from @p
     * device. After a change of the SPEC, Wake() may run when no event is due.
     */
    void Wake(std::size_t device, std::size_t group);
    /** Schedules Wake() for the next event of the pipeline for frames of class @p group (0: no
     * class) from @p device. */
    void Arm(std::size_t device, std::size_t group);
    /** Delivers a frame of device @p from, with bit errors if @p corrupted, to all other
     * devices. */
    void Deliver(std::size_t from, Ptr<Packet> frame, bool corrupted);

    std::string m_name;                                 //!< attribute Name
    viaduct::path::Spec m_up;                           //!< attribute Up
    viaduct::path::Spec m_down;                         //!< attribute Down
    std::vector<viaduct::path::TrafficClass> m_classes; //!< classes with separate SPECs
    std::vector<viaduct::sys::PacketFilter> m_filters;  //!< filters of m_classes, in order
    int64_t m_stream{-1};                      //!< first random stream; -1: streams by link name
    bool m_linkUp{true};                       //!< whether the link is plugged in
    std::vector<Ptr<PathNetDevice>> m_devices; //!< all devices
    std::shared_ptr<viaduct::path::Nat> m_nat; //!< NAT of both directions, or null
    std::vector<std::unique_ptr<Direction>> m_directions; //!< directions, indexed by PlaceOf()

    TracedCallback<Ptr<const Packet>, const PathFate&> m_fateTrace; //!< trace source Fate
};

} // namespace ns3

#endif /* VIADUCT_PATH_CHANNEL_H */
