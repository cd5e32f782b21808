/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "ns3/sim/type-check.h"

#include "ns3/attribute.h"
#include "ns3/string.h"

#include "base/error.h"
#include "base/text/edit_distance.h"
#include "base/wait_status.h"
#include "scenario/protocols.h"
#include "sys/process/child.h"

#include <algorithm>
#include <cctype>
#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>
#include <vector>

namespace ns3::sim
{
namespace
{

std::string
LowerCase(std::string text)
{
    std::transform(text.begin(), text.end(), text.begin(), [](unsigned char c) {
        return static_cast<char>(std::tolower(c));
    });
    return text;
}

/** @return up to four of the names that are most similar to `wanted`, the most similar first, as
 * "a, b, c" */
std::string
Nearest(const std::string& wanted, std::vector<std::string> names)
{
    const auto distance = [lower = LowerCase(wanted)](const std::string& name) {
        return viaduct::EditDistance(lower, LowerCase(name));
    };
    std::stable_sort(names.begin(), names.end(), [&](const auto& a, const auto& b) {
        return distance(a) < distance(b);
    });
    names.resize(std::min<size_t>(names.size(), 4));
    std::string text;
    for (const auto& name : names)
    {
        text += (text.empty() ? "" : ", ") + name;
    }
    return text.empty() ? "none" : text;
}

bool
IsA(TypeId type, const std::vector<TypeId>& parents)
{
    return std::any_of(parents.begin(), parents.end(), [&](TypeId parent) {
        return type == parent || type.IsChildOf(parent);
    });
}

std::vector<std::string>
NamesOf(const std::vector<TypeId>& parents)
{
    std::vector<std::string> names;
    for (uint16_t i = 0; i < TypeId::GetRegisteredN(); i++)
    {
        const TypeId type = TypeId::GetRegistered(i);
        if (type.HasConstructor() && IsA(type, parents))
        {
            names.push_back(type.GetName());
        }
    }
    return names;
}

std::vector<std::string>
AttributesOf(TypeId type)
{
    std::vector<std::string> names;
    for (TypeId t = type;; t = t.GetParent())
    {
        for (std::size_t i = 0; i < t.GetAttributeN(); i++)
        {
            names.push_back(t.GetAttribute(i).name);
        }
        if (!t.HasParent() || t.GetParent() == t)
        {
            return names;
        }
    }
}

void
CheckAttribute(TypeId type,
               const std::string& name,
               const std::string& value,
               const std::string& key)
{
    TypeId::AttributeInformation information;
    if (!type.LookupAttributeByName(name, &information))
    {
        throw viaduct::UsageError(key + ": " + type.GetName() + " has no attribute \"" + name +
                                  "\"; similar names: " + Nearest(name, AttributesOf(type)));
    }
    if (!(information.flags & TypeId::ATTR_CONSTRUCT) && !(information.flags & TypeId::ATTR_SET))
    {
        throw viaduct::UsageError(key + ": attribute " + name + " of " + type.GetName() +
                                  " cannot be set; remove the attribute");
    }
    if (!IsPossible(
            [&] { return information.checker->CreateValidValue(StringValue(value)) != nullptr; }))
    {
        throw viaduct::UsageError(key + ": " + name + ": \"" + value + "\" is not a valid " +
                                  information.checker->GetValueTypeName() + " (" +
                                  information.checker->GetUnderlyingTypeInformation() +
                                  "); the default is " +
                                  information.initialValue->SerializeToString(information.checker));
    }
}

} // namespace

bool
IsPossible(const std::function<bool()>& attempt)
{
    const pid_t child = viaduct::SystemCall("fork", fork());
    if (child == 0)
    {
        const rlimit noCore{0, 0};
        setrlimit(RLIMIT_CORE, &noCore);
        const int null = open("/dev/null", O_WRONLY);
        dup2(null, STDERR_FILENO);
        try
        {
            _exit(attempt() ? 0 : 1);
        }
        // An exception must not leave the child: the callers' stack frames belong to the parent.
        catch (...)
        {
            _exit(1);
        }
    }
    return viaduct::EndedWith(viaduct::sys::AwaitChild(child), 0);
}

ObjectFactory
CheckedFactory(const std::string& type,
               const std::vector<TypeId>& parents,
               const std::map<std::string, std::string>& attributes,
               const UserType& of)
{
    TypeId id;
    if (!TypeId::LookupByNameFailSafe(type, &id))
    {
        const std::string hint =
            of.key.ends_with("protocol") ? viaduct::scenario::SuggestProtocol(type) : "";
        throw viaduct::UsageError(
            of.key + ": this ns-3 has no type \"" + type + "\"" +
            (hint.empty() ? "; similar names: " + Nearest(type, NamesOf(parents)) : hint));
    }
    if (!IsA(id, parents) || !id.HasConstructor())
    {
        throw viaduct::UsageError(
            of.key + ": " + type + " is not a " + of.kind +
            " that can be created; similar names: " + Nearest(type, NamesOf(parents)));
    }
    ObjectFactory factory;
    factory.SetTypeId(id);
    for (const auto& [name, value] : attributes)
    {
        CheckAttribute(id, name, value, of.attributes);
        factory.Set(name, StringValue(value));
    }
    return factory;
}

} // namespace ns3::sim
