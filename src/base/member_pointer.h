// The class and the value type of a pointer to a member, for tables in which each row has such a
// pointer.
#pragma once

namespace viaduct {

namespace internal {

template <class>
struct MemberPointer;
template <class C, class V>
struct MemberPointer<V C::*> {
  using Class = C;
  using Value = V;
};

}  // namespace internal

template <auto member>
using ClassOf = typename internal::MemberPointer<decltype(member)>::Class;
template <auto member>
using ValueOf = typename internal::MemberPointer<decltype(member)>::Value;

}  // namespace viaduct
