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

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace ns3
{

class PathNetDevice;

/** What became of a packet in a PathChannel. */
struct PathFate
{
    std::size_t device = 0;   //!< which device of the channel sent it
    uint64_t number = 0;      //!< 1, 2, 3... among what this device sent
    viaduct::path::Fate fate; //!< what became of it
    Time at;                  //!< when, by the model
    bool duplicate = false;   //!< it is a copy made by the channel
    bool corrupted = false;   //!< bits were flipped
    bool marked = false;      //!< ECN CE was set
};

/**
 * @ingroup viaduct
 * @brief A link of Viaduct's path emulator between simulated devices.
 *
 * Does to packets what a SPEC says: loss, bit errors, duplication, a rate with its queue, delay,
 * jitter, reordering. It is the implementation that `viaduct path` and the links of a lab use, and
 * with the same seed, name and order of packets they meet the same fates there and here.
 *
 * Two devices make a point-to-point link: what the first sends meets the SPEC Up, what the second
 * sends the SPEC Down. More devices make an Ethernet: what any of them sends meets the SPEC Up on
 * its own, then reaches all others.
 */
class PathChannel : public Channel
{
  public:
    /**
     * TracedCallback signature for Fate.
     * @param [in] packet the frame, as it was sent
     * @param [in] fate what became of it
     */
    typedef void (*FateTracedCallback)(Ptr<const Packet> packet, const PathFate& fate);

    /** @return the object TypeId */
    static TypeId GetTypeId();

    PathChannel();
    ~PathChannel() override;

    /**
     * Attach a device; before the simulation starts.
     * @param device the device
     */
    void Add(Ptr<PathNetDevice> device);

    /**
     * Change what the channel does, also while packets are in flight: none is lost.
     * @param up the SPEC of the first device's direction, or of all where there are more than two
     * @param down the SPEC of the second device's direction
     * @throw viaduct::UsageError for what a SPEC cannot be; nothing changes then
     */
    void SetSpecs(const viaduct::path::Spec& up, const viaduct::path::Spec& down);

    /**
     * @param device which device of the channel
     * @return what its transmissions meet
     */
    const viaduct::path::Spec& GetSpec(std::size_t device) const;

    /**
     * @param device which device of the channel
     * @return its packets by fate
     */
    viaduct::path::Counters GetCounters(std::size_t device) const;

    /** @return the link's name: attribute Name, or "path" and the channel's id */
    std::string GetName() const;

    /**
     * Pull the plug, or put it back.
     * @param up false: nothing is taken, and what is in flight does not arrive
     */
    void SetLinkUp(bool up);
    /** @return whether frames pass */
    bool IsLinkUp() const;

    /**
     * Use streams of these numbers instead of those that go by the link's name. The same link of a
     * lab then meets other fates.
     * @param stream the first number
     * @return how many are used: one a device
     */
    int64_t AssignStreams(int64_t stream);

    /**
     * Send a frame; for PathNetDevice.
     * @param device which device of the channel sends
     * @param frame from the destination address on, the channel's from now on
     */
    void Send(std::size_t device, Ptr<Packet> frame);

    // Inherited from Channel
    std::size_t GetNDevices() const override;
    Ptr<NetDevice> GetDevice(std::size_t i) const override;

  protected:
    void DoInitialize() override;
    void DoDispose() override;

  private:
    class Direction;

    // Attributes Up, Down, and Spec, which is both at once; a text is a SPEC.
    void SetUp(std::string text);
    std::string GetUp() const;
    void SetDown(std::string text);
    std::string GetDown() const;
    void SetSpec(std::string text);

    /** @return the direction of what @p device sends, made if there is none yet */
    Direction& DirectionOf(std::size_t device);
    /** @return whether the SPEC of @p device is Down */
    bool IsDown(std::size_t device) const;
    /** @return the name of the random streams of what @p device sends */
    std::string StreamName(std::size_t device) const;
    /** Something is due in the direction of @p device, or was before the direction changed. */
    void Wake(std::size_t device);
    /** See to it that Wake() is called for the next event in the direction of @p device. */
    void Arm(std::size_t device);
    /** A frame of device @p from, whose bits may have been flipped, has reached the far end. */
    void Deliver(std::size_t from, Ptr<Packet> frame, bool corrupted);

    std::string m_name;                                   //!< attribute Name
    viaduct::path::Spec m_up;                             //!< attribute Up
    viaduct::path::Spec m_down;                           //!< attribute Down
    int64_t m_stream{-1};                                 //!< of AssignStreams(); -1: by name
    bool m_linkUp{true};                                  //!< whether frames pass
    std::vector<Ptr<PathNetDevice>> m_devices;            //!< all
    std::vector<std::unique_ptr<Direction>> m_directions; //!< one a device

    TracedCallback<Ptr<const Packet>, const PathFate&> m_fateTrace; //!< trace source Fate
};

} // namespace ns3

#endif /* VIADUCT_PATH_CHANNEL_H */
