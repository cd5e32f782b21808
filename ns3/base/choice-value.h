/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef VIADUCT_CHOICE_VALUE_H
#define VIADUCT_CHOICE_VALUE_H

#include "ns3/enum.h"

#include "base/error.h"

#include <algorithm>
#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

namespace ns3
{

/**
 * @ingroup viaduct
 * @brief Checks an attribute whose value is one of several names. For an unknown name, throws a
 * viaduct::UsageError that lists the names; ns3::EnumChecker would end the process, or have no
 * defined result in optimized builds of ns-3.
 *
 * The attribute is set like any attribute of an enumeration, with an EnumValue or a StringValue.
 *
 * @tparam T the enumeration
 */
template <typename T>
class ChoiceChecker : public EnumChecker<T>
{
  public:
    /** The enumerators and their names. */
    using Names = std::vector<std::pair<T, std::string>>;

    /** Creates a checker of an attribute.
     * @param attribute the attribute's name, for messages
     * @param names the choices, the default first
     */
    ChoiceChecker(std::string attribute, Names names)
        : m_attribute(std::move(attribute)), m_names(std::move(names))
    {
        for (const auto& [value, name] : m_names)
        {
            this->Add(value, name);
        }
    }

    /** Converts the name of a choice to its enumerator.
     * @param name one of the names
     * @return the name's enumerator
     * @throws viaduct::UsageError if no choice has this name
     */
    T Parse(const std::string& name) const
    {
        const auto found = std::find_if(m_names.begin(), m_names.end(), [&](const auto& choice) {
            return choice.second == name;
        });
        if (found != m_names.end())
        {
            return found->first;
        }
        std::string all;
        for (const auto& choice : m_names)
        {
            all += (all.empty() ? "" : ", ") + choice.second;
        }
        throw viaduct::UsageError("attribute " + m_attribute + ": unknown value \"" + name +
                                  "\"; expected one of " + all);
    }

    // Inherited from AttributeChecker
    Ptr<AttributeValue> Create() const override
    {
        return ns3::Create<Value>();
    }

  private:
    /** An attribute value that ChoiceChecker::Parse() reads from a string. */
    class Value : public EnumValue<T>
    {
      public:
        Ptr<AttributeValue> Copy() const override
        {
            return ns3::Create<Value>(*this);
        }

        bool DeserializeFromString(std::string value, Ptr<const AttributeChecker> checker) override
        {
            if (const auto choices = dynamic_cast<const ChoiceChecker<T>*>(PeekPointer(checker)))
            {
                this->Set(choices->Parse(value));
                return true;
            }
            return EnumValue<T>::DeserializeFromString(value, checker);
        }
    };

    std::string m_attribute; //!< name of the checked attribute
    Names m_names;           //!< enumerators and names of the choices
};

/**
 * @ingroup viaduct
 * @param attribute the attribute's name, for messages
 * @param names the choices, the default first
 * @return a checker of the choices
 */
template <typename T>
Ptr<const AttributeChecker>
MakeChoiceChecker(std::string attribute, std::initializer_list<std::pair<T, std::string>> names)
{
    return Create<ChoiceChecker<T>>(std::move(attribute), names);
}

} // namespace ns3

#endif /* VIADUCT_CHOICE_VALUE_H */
