/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "ns3/path/channel-spec.h"

#include "ns3/channel.h"
#include "ns3/csma-net-device.h"
#include "ns3/data-rate.h"
#include "ns3/error-model.h"
#include "ns3/node.h"
#include "ns3/nstime.h"
#include "ns3/path/path-channel.h"
#include "ns3/path/path-net-device.h"
#include "ns3/point-to-point-net-device.h"
#include "ns3/pointer.h"
#include "ns3/queue-disc.h"
#include "ns3/queue-size.h"
#include "ns3/queue.h"
#include "ns3/simple-net-device.h"
#include "ns3/traffic-control-layer.h"

#include "base/error.h"

#include <cmath>

namespace ns3
{

using viaduct::Duration;
using viaduct::UsageError;
using SpecSize = viaduct::path::QueueSize;
using viaduct::path::Aqm;
using viaduct::path::BitErrorSpec;
using viaduct::path::Spec;

namespace
{

void
AddDelay(Ptr<NetDevice> device, Spec& spec)
{
    TimeValue delay;
    device->GetChannel()->GetAttribute("Delay", delay);
    if (delay.Get().IsStrictlyPositive())
    {
        spec.delay.base = Duration::Nanoseconds(delay.Get().GetNanoSeconds());
    }
}

void
AddQueue(Ptr<NetDevice> device, Spec& spec)
{
    PointerValue pointer;
    device->GetAttribute("TxQueue", pointer);
    Ptr<QueueBase> queue = pointer.Get<QueueBase>();
    if (!queue)
    {
        return;
    }
    const QueueSize size = queue->GetMaxSize();
    spec.queue.limit = {size.GetUnit() == QueueSizeUnit::PACKETS ? SpecSize::Unit::kPackets
                                                                 : SpecSize::Unit::kBytes,
                        static_cast<int64_t>(size.GetValue())};
}

void
AddQueueManagement(Ptr<NetDevice> device, Spec& spec, const std::string& where)
{
    Ptr<TrafficControlLayer> tc = device->GetNode()->GetObject<TrafficControlLayer>();
    Ptr<QueueDisc> disc = tc ? tc->GetRootQueueDiscOnDevice(device) : nullptr;
    if (!disc)
    {
        return;
    }
    const std::string type = disc->GetInstanceTypeId().GetName();
    if (type == "ns3::CoDelQueueDisc")
    {
        spec.queue.aqm = Aqm("codel");
    }
    else if (type == "ns3::PieQueueDisc")
    {
        spec.queue.aqm = Aqm("pie");
    }
    else if (type == "ns3::FqPieQueueDisc")
    {
        spec.queue.aqm = Aqm("fq_pie");
    }
    else if (type == "ns3::RedQueueDisc")
    {
        spec.queue.aqm = Aqm("red");
    }
    else if (type != "ns3::FqCoDelQueueDisc" && type != "ns3::PfifoFastQueueDisc" &&
             type != "ns3::FifoQueueDisc")
    {
        throw UsageError(
            where + ": queue disc " + type +
            " has no equivalent in a SPEC; remove the queue disc, or use CoDel, PIE, FqPIE or RED");
    }
}

void
AddRate(Ptr<NetDevice> device, Spec& spec, const std::string& where)
{
    DataRateValue rate;
    if (DynamicCast<CsmaNetDevice>(device))
    {
        device->GetChannel()->GetAttribute("DataRate", rate);
        // The default rate of CsmaChannel means no limit. It is the largest rate of the type that
        // the attribute had formerly.
        if (rate.Get().GetBitRate() == 0xffffffff)
        {
            return;
        }
    }
    else
    {
        device->GetAttribute("DataRate", rate); // a rate of 0 means no limit (SimpleNetDevice)
    }
    if (rate.Get().GetBitRate() == 0)
    {
        return;
    }
    spec.link.rate = static_cast<int64_t>(rate.Get().GetBitRate());
    AddQueue(device, spec);
    AddQueueManagement(device, spec, where);
}

/** Returns the SPEC of one receiver's error model. */
Spec
ErrorsOf(Ptr<NetDevice> receiver, const std::string& where)
{
    Spec spec;
    PointerValue pointer;
    receiver->GetAttribute("ReceiveErrorModel", pointer);
    Ptr<ErrorModel> model = pointer.Get<ErrorModel>();
    if (!model || !model->IsEnabled())
    {
        return spec;
    }
    auto rated = DynamicCast<RateErrorModel>(model);
    if (!rated)
    {
        throw UsageError(where + ": error model " + model->GetInstanceTypeId().GetName() +
                         " has no equivalent in a SPEC; use ns3::RateErrorModel");
    }
    const double rate = rated->GetRate();
    if (rate == 0)
    {
        return spec;
    }
    switch (rated->GetUnit())
    {
    case RateErrorModel::ERROR_UNIT_PACKET:
        spec.loss = viaduct::path::LossSpec{viaduct::path::RandomLoss{{rate}}};
        break;
    case RateErrorModel::ERROR_UNIT_BIT:
        spec.errors = BitErrorSpec{rate};
        break;
    case RateErrorModel::ERROR_UNIT_BYTE:
        spec.errors = BitErrorSpec{-std::expm1(std::log1p(-rate) / 8)};
        break;
    }
    return spec;
}

} // namespace

bool
IsWired(Ptr<NetDevice> device)
{
    return DynamicCast<PointToPointNetDevice>(device) || DynamicCast<CsmaNetDevice>(device) ||
           DynamicCast<SimpleNetDevice>(device) || DynamicCast<PathNetDevice>(device);
}

Spec
ChannelSpec(Ptr<NetDevice> sender,
            const std::vector<Ptr<NetDevice>>& receivers,
            const std::string& where)
{
    if (auto device = DynamicCast<PathNetDevice>(sender))
    {
        return DynamicCast<PathChannel>(device->GetChannel())->GetSpec(device->GetPlace());
    }
    Spec spec;
    AddDelay(sender, spec);
    AddRate(sender, spec, where);
    for (size_t i = 0; i < receivers.size(); i++)
    {
        const Spec errors = ErrorsOf(receivers[i], where);
        if (i > 0 && (errors.loss != spec.loss || errors.errors != spec.errors))
        {
            throw UsageError(where + ": the receivers of the shared channel have different error "
                                     "models; use the same error model for all receivers");
        }
        spec.loss = errors.loss;
        spec.errors = errors.errors;
    }
    return spec;
}

} // namespace ns3
