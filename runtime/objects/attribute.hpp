// SPDX-License-Identifier: BSD-3-Clause
// Attributes of communicators, datatypes and windows with their key values and callbacks (MPI 3.1, 6.7).
#pragma once

#include <cstdint>
#include <map>

#include "runtime/objects/object.hpp"

namespace tutti {

/// How an attribute value was set: C passes a pointer, Fortran a default INTEGER (the MPI-1 functions) or one as wide
/// as an address. The value stores this because a query from the other language must convert it as MPI 3.1, 17.2.7
/// requires.
enum class AttributeForm : std::uint8_t { pointer, integer, address };

struct AttributeValue {
    std::intptr_t bits = 0;
    AttributeForm as = AttributeForm::pointer;
};

/// A key value. mpi_h/ derives from it and calls the user's functions, which return 0 or an error code that the MPI
/// call passes on. It lives until its creator and the last attribute stored under it have released it.
class Keyval : public Object {
public:
    enum class ObjectKind : std::uint8_t { comm, type, win };

    explicit Keyval(ObjectKind kind) : object_kind(kind) {}
    /// Called when `from` is duplicated. Sets `wanted` and, if it is true, the duplicate's value.
    virtual int copy(Object& from, AttributeValue const& value, AttributeValue& copied, bool& wanted) = 0;
    /// Called before an attribute of `of` is deleted or replaced; if it returns an error code, the attribute remains.
    virtual int remove(Object& of, AttributeValue const& value) = 0;

    ObjectKind const object_kind;   ///< kind of object that it may be used with
};

/// The attributes of one object. Callbacks may get, set and delete attributes of the same object and free key values.
class Attributes {
public:
    Attributes() = default;
    Attributes(Attributes const&) = delete;
    Attributes& operator=(Attributes const&) = delete;

    /// Returns null if no attribute is stored under the key. The address is valid as long as the attribute exists.
    AttributeValue const* find(Keyval const& key) const;
    /// Replaces an existing attribute after its delete callback has run. Throws Error(code) if that callback fails.
    void set(Object& of, Keyval& key, AttributeValue value);
    /// Throws Error if there is no such attribute, and Error(code) if the callback fails; the attribute then remains.
    void erase(Object& of, Keyval& key);
    /// Calls each copy callback in the order in which the attributes were set (MPI_Comm_dup, MPI_Type_dup). Throws
    /// Error(code) at the first that fails.
    void copy_to(Object& from, Attributes& to) const;
    /// Called before the object is destroyed: calls the delete callbacks in reverse order of setting. Throws
    /// Error(code) at the first that fails; that attribute and all older ones then remain.
    void clear(Object& of);
    bool empty() const { return slots_.empty(); }

private:
    struct Slot {
        Ref<Keyval> key;
        AttributeValue value;
    };
    using Slots = std::map<std::uint64_t, Slot>;   ///< by age: map order is the order of setting

    Slots::const_iterator position(Keyval const& key) const;

    Slots slots_;
    std::uint64_t next_age_ = 0;
};

}   // namespace tutti
