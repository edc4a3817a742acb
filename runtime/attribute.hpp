// SPDX-License-Identifier: BSD-3-Clause
// Attributes of communicators and datatypes with their key values and callbacks (MPI 3.1, 6.7).
#pragma once

#include <functional>
#include <map>

#include "runtime/object.hpp"

namespace tutti {

/// What a key value was made with. The callbacks get the object's handle through the front door, which wraps the
/// user's functions; they return 0 or an error code that the call passes on.
class Keyval final : public Object {
public:
    using Copy = std::function<int(Object& from, void* value, void** copy, bool& wanted)>;
    using Delete = std::function<int(Object& of, void* value)>;

    Copy copy;        ///< empty: never copied
    Delete remove;    ///< empty: nothing to do
};

/// The attributes of one object, in the order in which they were set.
class Attributes {
public:
    Attributes() = default;
    Attributes(Attributes const&) = delete;
    Attributes& operator=(Attributes const&) = delete;

    /// False when nothing is stored under the key.
    bool get(Keyval const& key, void** value) const;
    /// Replaces what was there, after its delete callback. Throws Error(code) when that fails.
    void set(Object& of, Keyval& key, void* value);
    /// Throws Error when there is none, Error(code) when the callback fails.
    void erase(Object& of, Keyval& key);
    /// For MPI_Comm_dup and MPI_Type_dup: asks each copy callback. Throws Error(code) at the first that fails.
    void copy_to(Object& from, Attributes& to) const;
    /// For the object's end: delete callbacks in reverse order of setting. Throws Error(code) at the first that fails.
    void clear(Object& of);
    bool empty() const { return slots_.empty(); }

private:
    struct Slot { Ref<Keyval> key; void* value; std::uint64_t age; };
    std::map<Keyval const*, Slot> slots_;
    std::uint64_t next_age_ = 0;
};

}  // namespace tutti
