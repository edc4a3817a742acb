// SPDX-License-Identifier: BSD-3-Clause
// Attributes of communicators, datatypes and windows with their key values and callbacks (MPI 3.1, 6.7).
#pragma once

#include <cstdint>
#include <map>

#include "runtime/objects/object.hpp"

namespace tutti {

/// C hands over a pointer, Fortran a default INTEGER (the MPI-1 functions) or one as wide as an address. Who asks in
/// the other language gets what MPI 3.1, 17.2.7 says, so the value remembers how it was given.
enum class GivenAs : std::uint8_t { pointer, integer, address };

struct AttributeValue {
    std::intptr_t bits = 0;
    GivenAs as = GivenAs::pointer;
};

/// What a key value was made with. mpi_h/ derives from it and calls the user's functions, which return 0 or an
/// error code that the MPI call passes on. Lives until its creator and the last attribute under it have given it up.
class Keyval : public Object {
public:
    enum class On : std::uint8_t { comm, type, win };

    explicit Keyval(On objects) : on(objects) {}
    /// For a duplicate of `from`: sets `wanted` and, if so, the duplicate's value.
    virtual int copy(Object& from, AttributeValue const& value, AttributeValue& copied, bool& wanted) = 0;
    virtual int remove(Object& of, AttributeValue const& value) = 0;

    On const on;   ///< the objects that it is for
};

/// The attributes of one object. Callbacks may get, set and delete attributes of the same object and free keys.
class Attributes {
public:
    Attributes() = default;
    Attributes(Attributes const&) = delete;
    Attributes& operator=(Attributes const&) = delete;

    /// Null when nothing is stored under the key. The address stays while the attribute does.
    AttributeValue const* find(Keyval const& key) const;
    /// Replaces what was there, after its delete callback. Throws Error(code) when that fails.
    void set(Object& of, Keyval& key, AttributeValue value);
    /// Throws Error when there is none, Error(code) when the callback fails; the attribute then stays.
    void erase(Object& of, Keyval& key);
    /// For MPI_Comm_dup and MPI_Type_dup: asks each copy callback, in the order in which the attributes were set.
    /// Throws Error(code) at the first that fails.
    void copy_to(Object& from, Attributes& to) const;
    /// For the object's end: delete callbacks in reverse order of setting. Throws Error(code) at the first that fails;
    /// that attribute and the older ones then stay.
    void clear(Object& of);
    bool empty() const { return slots_.empty(); }

private:
    struct Slot {
        Ref<Keyval> key;
        AttributeValue value;
    };
    using Slots = std::map<std::uint64_t, Slot>;   ///< by age, so that the order of setting is the order of the map

    Slots::const_iterator position(Keyval const& key) const;

    Slots slots_;
    std::uint64_t next_age_ = 0;
};

}   // namespace tutti
