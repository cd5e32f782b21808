/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "ns3/path/path-channel.h"

#include "ns3/abort.h"
#include "ns3/string.h"

#include "base/error.h"

/**
 * @file
 * @ingroup viaduct
 * The attributes and trace sources of ns3::PathChannel.
 */

namespace ns3
{

NS_OBJECT_ENSURE_REGISTERED(PathChannel);

using viaduct::path::Spec;

namespace
{

/**
 * @return the SPEC in an attribute's value; an invalid SPEC ends the program, because ns-3 does not
 * throw exceptions for errors of users
 */
Spec
ParseOrAbort(const char* attribute, const std::string& text)
{
    try
    {
        return viaduct::path::ParseSpec(text);
    }
    catch (const viaduct::UsageError& error)
    {
        NS_ABORT_MSG("PathChannel::" << attribute << ": " << error.what());
    }
}

} // namespace

TypeId
PathChannel::GetTypeId()
{
    static TypeId tid =
        TypeId("ns3::PathChannel")
            .SetParent<Channel>()
            .SetGroupName("Viaduct")
            .AddConstructor<PathChannel>()
            .AddAttribute("Name",
                          "The name of the link. Together with RngSeedManager's seed and run, the "
                          "name determines the random streams. Empty: \"path\" and the channel's "
                          "id.",
                          StringValue(""),
                          MakeStringAccessor(&PathChannel::m_name),
                          MakeStringChecker())
            .AddAttribute("Up",
                          "The SPEC for the frames from the first device (from every device, if "
                          "there are more than two), such as \"delay=20ms rate=10Mbit\". The SPEC "
                          "may be changed during the simulation.",
                          StringValue(""),
                          MakeStringAccessor(&PathChannel::SetUp, &PathChannel::GetUp),
                          MakeStringChecker())
            .AddAttribute("Down",
                          "The SPEC for the frames from the second device.",
                          StringValue(""),
                          MakeStringAccessor(&PathChannel::SetDown, &PathChannel::GetDown),
                          MakeStringChecker())
            .AddAttribute("Spec",
                          "The SPEC for both directions: sets Up and Down.",
                          TypeId::ATTR_SET,
                          StringValue(""),
                          MakeStringAccessor(&PathChannel::SetSpec),
                          MakeStringChecker())
            .AddTraceSource("Fate",
                            "A packet was delivered or dropped. Arguments: the frame as sent by "
                            "the device, the packet's outcome.",
                            MakeTraceSourceAccessor(&PathChannel::m_fateTrace),
                            "ns3::PathChannel::FateTracedCallback");
    return tid;
}

void
PathChannel::SetUp(std::string text)
{
    SetSpecs(ParseOrAbort("Up", text), m_down);
}

std::string
PathChannel::GetUp() const
{
    return viaduct::path::FormatSpec(m_up);
}

void
PathChannel::SetDown(std::string text)
{
    SetSpecs(m_up, ParseOrAbort("Down", text));
}

std::string
PathChannel::GetDown() const
{
    return viaduct::path::FormatSpec(m_down);
}

void
PathChannel::SetSpec(std::string text)
{
    const Spec spec = ParseOrAbort("Spec", text);
    SetSpecs(spec, spec);
}

} // namespace ns3
