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
    uint64_t number = 0;      //!< 1, 2, 3... among the frames of this device
    viaduct::path::Fate fate; //!< the packet's fate
    Time at;                  //!< time by the model
    bool duplicate = false;   //!< whether it is a copy made by the channel
    bool corrupted = false;   //!< whether bits were flipped
    bool marked = false;      //!< whether ECN CE was set
    std::size_t group = 0;    //!< 0: no class; else the number of its class, from 1
};

/**
 * @ingroup viaduct
 * @brief A link of Viaduct's path emulator between simulated devices.
 *
 * Applies a SPEC to packets: loss, bit errors, duplication, a rate with its queue, delay, jitter,
 * reordering. It uses the same implementation as `viaduct path` and the links of a lab, and with
 * the same seed, name and order of packets the fates are the same in all of them.
 *
 * Two devices form a point-to-point link: the SPEC Up applies to frames of the first device, the
 * SPEC Down to those of the second. More devices form an Ethernet: the SPEC Up applies to the
 * frames of each device separately, which then reach all other devices.
 *
 * SPECs that name the same link (link=NAME), of this channel or of several, share its rate and
 * queue.
 */
class PathChannel : public Channel
{
  public:
    /**
     * TracedCallback signature for Fate.
     * @param [in] packet the frame as sent
     * @param [in] fate its fate
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

    /** Changes the SPECs, also while packets are in flight: none is lost by that.
     * @param up the SPEC of the first device's direction, or of all devices if there are more than
     * two
     * @param down the SPEC of the second device's direction
     * @throw viaduct::UsageError for an invalid SPEC; nothing changes then
     */
    void SetSpecs(const viaduct::path::Spec& up, const viaduct::path::Spec& down);

    /** Gives separate SPECs to classes of frames; must be called before the channel is used.
     * @param classes the classes: the first whose filter matches takes a frame. If there are more
     * than two devices, up applies to the frames of each
     * @throw viaduct::UsageError for an invalid filter
     */
    void SetClasses(const std::vector<viaduct::path::TrafficClass>& classes);
    /** @return the classes */
    const std::vector<viaduct::path::TrafficClass>& GetClasses() const
    {
        return m_classes;
    }

    /**
     * @param device the number of a device of the channel
     * @param group 0: the frames that no class takes; else a class, counted from 1
     * @return the SPEC of the device's transmissions
     */
    const viaduct::path::Spec& GetSpec(std::size_t device, std::size_t group = 0) const;

    /**
     * @param device the number of a device of the channel
     * @param group as for GetSpec()
     * @return the numbers of the device's packets by fate
     */
    viaduct::path::Counters GetCounters(std::size_t device, std::size_t group = 0) const;

    /**
     * @param device the number of a device of the channel
     * @param group as for GetSpec()
     * @return the number of the device's packets inside, and their bytes
     */
    std::pair<uint64_t, uint64_t> GetWaiting(std::size_t device, std::size_t group = 0) const;

    /**
     * @param device the number of a device of the channel
     * @return the name that a lab gives to the pair of interfaces for the device's frames
     */
    std::string GetPairName(std::size_t device) const;

    /**
     * @param device the number of a device of the channel
     * @return whether the device's frames go down, from the second end of the pair to the first
     */
    bool IsDown(std::size_t device) const;

    /** @return the link's name: attribute Name, or "path" and the channel's id */
    std::string GetName() const;

    /** Unplugs or plugs in the link.
     * @param up false: no frame is accepted, and frames in flight do not arrive
     */
    void SetLinkUp(bool up);
    /** @return whether frames pass */
    bool IsLinkUp() const
    {
        return m_linkUp;
    }

    /** Uses random streams with these numbers instead of those derived from the link's name. The
     * fates then differ from those of the same link in a lab.
     * @param stream the first number
     * @return the number of streams used: one per device, and as many for each class
     */
    int64_t AssignStreams(int64_t stream);

    /**
     * Sends a frame; for PathNetDevice.
     * @param device the number of the sending device in the channel
     * @param frame the bytes from the destination address on; owned by the channel
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

    // The attributes Up, Down, and Spec, which sets both; their texts are SPECs.
    void SetUp(std::string text);
    std::string GetUp() const;
    void SetDown(std::string text);
    std::string GetDown() const;
    void SetSpec(std::string text);

    /** Changes the SPEC of frames from @p device, if any were sent already. */
    void Change(std::size_t device, const viaduct::path::Spec& spec);
    /** Checks the arguments of SetSpecs(): SPECs, files, the place of a NAT.
     * @throw viaduct::UsageError for an invalid argument
     */
    void TrySpecs(const viaduct::path::Spec& up, const viaduct::path::Spec& down) const;
    /** @return the index of the frames of a group from @p device in the list of directions */
    std::size_t PlaceOf(std::size_t device, std::size_t group) const
    {
        return device * (1 + m_classes.size()) + group;
    }

    /** @return the direction of a group's frames from @p device; null: there is none yet */
    const Direction* FindDirection(std::size_t device, std::size_t group) const;
    /** @return the direction of a group's frames from @p device, created if there is none yet */
    Direction& DirectionOf(std::size_t device, std::size_t group);
    /** @return the class that takes a frame, counted from 1; 0: none */
    std::size_t GroupOf(const Packet& frame) const;
    /** @return the name of the random streams for a group's frames from @p device */
    std::string StreamName(std::size_t device, std::size_t group) const;
    /** @return the name of the state that frames from @p device share with the other direction */
    std::string SharedStreamName(std::size_t device) const;
    /**
     * Handles events that are due for a group's frames from @p device (there may be none after a
     * change).
     */
    void Wake(std::size_t device, std::size_t group);
    /** Schedules Wake() for the next event of a group's frames from @p device. */
    void Arm(std::size_t device, std::size_t group);
    /** Delivers a frame of device @p from, with bit errors if @p corrupted, at the far end. */
    void Deliver(std::size_t from, Ptr<Packet> frame, bool corrupted);

    std::string m_name;                                 //!< attribute Name
    viaduct::path::Spec m_up;                           //!< attribute Up
    viaduct::path::Spec m_down;                         //!< attribute Down
    std::vector<viaduct::path::TrafficClass> m_classes; //!< classes with separate SPECs
    std::vector<viaduct::sys::PacketFilter> m_filters;  //!< filters of m_classes, in order
    int64_t m_stream{-1};                      //!< from AssignStreams(); -1: derived from the name
    bool m_linkUp{true};                       //!< whether frames pass
    std::vector<Ptr<PathNetDevice>> m_devices; //!< all devices
    std::shared_ptr<viaduct::path::Nat> m_nat; //!< NAT of both directions; else null
    std::vector<std::unique_ptr<Direction>> m_directions; //!< see PlaceOf()

    TracedCallback<Ptr<const Packet>, const PathFate&> m_fateTrace; //!< trace source Fate
};

} // namespace ns3

#endif /* VIADUCT_PATH_CHANNEL_H */
