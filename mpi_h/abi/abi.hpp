// SPDX-License-Identifier: BSD-3-Clause
// The ABI: conversion between handles and objects, error classes and numbers, and the layout of a status. Only this
// file knows them; the rest of the library uses objects. Handles have MPICH's format: two bits for the sort (invalid,
// built-in, direct, indirect), four for the kind, the rest a number. Built-in handles are found by their low eight
// bits; Tutti's own handles are direct.
#pragma once

#pragma GCC visibility push(default)
#include "mpi_h/include/mpi.h"
#pragma GCC visibility pop

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "rma/window.hpp"
#include "runtime/base/error.hpp"
#include "runtime/datatype/datatype.hpp"
#include "runtime/datatype/op.hpp"
#include "runtime/objects/attribute.hpp"
#include "runtime/objects/comm.hpp"
#include "runtime/objects/errhandler.hpp"
#include "runtime/objects/group.hpp"
#include "runtime/objects/info.hpp"
#include "runtime/objects/request.hpp"

namespace tutti::abi {

/// Kinds of handles, with MPICH's numbers: bits 26 to 29 of a handle.
enum class Kind : unsigned {
    comm = 1,
    group = 2,
    datatype = 3,
    errhandler = 5,
    op = 6,
    info = 7,
    win = 8,
    keyval = 9,
    request = 11
};

/// The objects of one kind that the program has handles of. Numbers of freed handles are reused, the most recently
/// freed first. An object that operations in flight still use keeps its number until it is destroyed, so that callbacks
/// of the program, such as an operator, receive the same handle before and after the program has freed it (MPI 4.1,
/// 2.5.1 and 6.9.5).
template <class T, Kind kind>
class Table final : public HandleOwner {
public:
    Table() = default;
    Table(Table const&) = delete;
    Table& operator=(Table const&) = delete;

    /// Keeps the object's handle valid during its lifetime, for calls of the program's functions that receive the
    /// handle.
    class HandleGuard {
    public:
        HandleGuard(Table& table, T& object) : table_(table), object_(object) {
            if (object.handle_owner == &table) {
                ++object.references;
                table.direct_[index_of(object.handle)] = &object;
                object.handle_owner = nullptr;
                was_freed_ = true;
            }
        }
        ~HandleGuard() {
            // Unless the function has freed the handle itself.
            if (was_freed_ && !object_.handle_owner) table_.remove(static_cast<int>(object_.handle));
        }
        HandleGuard(HandleGuard const&) = delete;
        HandleGuard& operator=(HandleGuard const&) = delete;

    private:
        Table& table_;
        T& object_;
        bool was_freed_ = false;
    };

    /// Returns null if the handle is not of this kind, or not (or no longer) valid.
    [[gnu::always_inline]] T* find(int handle) const {
        return is_builtin_handle(handle) ? builtin_[static_cast<unsigned>(handle) & 0xff] : find_direct(handle);
    }
    /// As find(), for an object that is not predefined.
    [[gnu::always_inline]] T* find_direct(int handle) const {
        // The number is large for any other handle. Its entry's address is compared with the end of the entries, which
        // takes two instructions less than their number.
        std::uintptr_t const entry = reinterpret_cast<std::uintptr_t>(direct_.data()) +
                                     sizeof(T*) * (static_cast<unsigned>(handle) - first_direct);
        bool const exists = entry < reinterpret_cast<std::uintptr_t>(std::to_address(direct_.end()));
        return exists ? *reinterpret_cast<T* const*>(entry) : nullptr;
    }

    /// Returns true if it is a handle of a predefined object of this kind, whether that object exists yet or not.
    static bool is_builtin_handle(int handle) {
        unsigned const bits = static_cast<unsigned>(handle);
        return bits >> 26 == (1u << 4 | static_cast<unsigned>(kind));
    }

    /// Returns the predefined object of this handle; null: not a handle of a built-in object.
    [[gnu::always_inline]] T* builtin(int handle) const {
        T* const object = builtin_[static_cast<unsigned>(handle) & 0xff];
        return object && static_cast<int>(object->handle) == handle ? object : nullptr;
    }

    T* builtin_at(unsigned number) const { return builtin_[number]; }

    /// Returns true if add() of this object needs no memory.
    bool has_room(T const& object) const { return object.handle_owner || !free_.empty(); }
    /// Gives the object a new handle, or the one that it has kept; the table takes over the caller's reference.
    int add(T* object) {
        unsigned index;
        if (object->handle_owner) {
            index = index_of(object->handle);
            direct_[index] = object;
            object->handle_owner = nullptr;
        } else if (free_.empty()) {
            index = static_cast<unsigned>(direct_.size());
            // Everything that may fail comes first: without memory, the object is in no table. release_handle() then
            // never allocates.
            if (index == direct_.capacity()) direct_.reserve(std::max(16u, 2 * index));
            free_.reserve(direct_.capacity());
            direct_.push_back(object);
        } else {
            index = free_.back();
            free_.pop_back();
            direct_[index] = object;
        }
        int handle = static_cast<int>(first_direct + index);
        object->handle = handle;
        object->site = *call_site;
        return handle;
    }

    /// Stores a predefined object under the handle that the ABI defines.
    void place(int handle, T* object) {
        unsigned bits = static_cast<unsigned>(handle), index = bits & 0x3ffffff;
        object->handle = handle;
        if (bits >> 30 == 1) {
            builtin_[bits & 0xff] = object;
        } else {
            if (direct_.size() <= index) direct_.resize(index + 1);
            free_.reserve(direct_.capacity());
            direct_[index] = object;
        }
    }

    /// Invalidates a handle and releases the table's reference. Objects in use elsewhere keep the number.
    void remove(int handle) {
        T*& entry = direct_[index_of(handle)];
        T* const object = entry;
        entry = nullptr;
        ++freed_;
        // The object returns its number when it is destroyed, now or later. A group may have several handles and keeps
        // the last one.
        if (object->handle == handle) object->handle_owner = this;
        else release_handle(handle);
        Ref<T>::release(object);
    }

    /// Invalidates a handle whose object is about to be destroyed, and whose reference is not owned by the table.
    void forget(int handle) {
        direct_[index_of(handle)] = nullptr;
        ++freed_;
        release_handle(handle);
    }

    void release_handle(std::intptr_t handle) noexcept override { free_.push_back(index_of(handle)); }

    /// Visits each object that is not predefined.
    template <class Visit>
    void for_each(Visit&& visit) const {
        for (T* object : direct_)
            if (object && !object->predefined) visit(*object);
    }

    /// Number of handles freed so far: while it does not change, each handle refers to the same object.
    std::uint64_t freed() const { return freed_; }

    /// Return address of the current call in the program (Process::call_site).
    void const* const* call_site = &no_site;

private:
    static constexpr void const* no_site = nullptr;
    static constexpr unsigned first_direct = 2u << 30 | static_cast<unsigned>(kind) << 26;   ///< handle with number 0

    static unsigned index_of(std::intptr_t handle) { return static_cast<unsigned>(handle) & 0x3ffffff; }

    std::array<T*, 256> builtin_{};
    std::vector<T*> direct_;
    std::vector<unsigned> free_;
    std::uint64_t freed_ = 0;
};

/// Size in bytes of one element of a built-in datatype: bits 8 to 15 of its handle.
constexpr std::uint8_t builtin_size(MPI_Datatype handle) { return static_cast<unsigned>(handle) >> 8 & 0xff; }

/// A predefined datatype whose elements follow each other without gaps, and which has builtin_size().
struct SimpleType {
    MPI_Datatype handle = 0;   ///< 0: not such a type
    Basic kind = Basic::none;
};

/// One table for each kind of handle.
struct Tables {
    /// Number of freed handles of communicators, datatypes and operators, the objects that collectives use.
    std::uint64_t freed() const { return comms.freed() + datatypes.freed() + ops.freed(); }

    /// From now on, objects record where they were created.
    void record_sites(void const* const& call_site) {
        for_each_table([&](auto& table) { table.call_site = &call_site; });
    }
    template <class Visit>
    void for_each_table(Visit&& visit) {
        visit(comms), visit(groups), visit(datatypes), visit(errhandlers), visit(ops), visit(infos), visit(wins);
        visit(keyvals), visit(requests);
    }

    using Comms = Table<Comm, Kind::comm>;
    using Datatypes = Table<Datatype, Kind::datatype>;

    Comms comms;
    Table<Group, Kind::group> groups;
    Datatypes datatypes;
    Table<Errhandler, Kind::errhandler> errhandlers;
    Table<Op, Kind::op> ops;
    Table<Info, Kind::info> infos;
    Table<rma::Window, Kind::win> wins;
    Table<Keyval, Kind::keyval> keyvals;
    Table<Request, Kind::request> requests;

    /// Index: low eight bits of built-in handles; unused entries have another handle.
    std::array<SimpleType, 256> simple_types{};
    SimpleType const& simple_type(MPI_Datatype handle) const {
        return simple_types[static_cast<unsigned>(handle) & 0xff];
    }
};

/// Converts an error class to the ABI's number.
int class_number(ErrorClass error_class);

/// Conversion of wildcards and MPI_PROC_NULL, which have other values inside the library.
inline int rank_in(int source) {
    return source == MPI_ANY_SOURCE ? any_source : source == MPI_PROC_NULL ? proc_null : source;
}
inline int rank_out(int source) {
    return source == any_source ? MPI_ANY_SOURCE : source == proc_null ? MPI_PROC_NULL : source;
}
inline int tag_in(int tag) { return tag == MPI_ANY_TAG ? any_tag : tag; }
inline int tag_out(int tag) { return tag == any_tag ? MPI_ANY_TAG : tag; }

inline void set_status_bytes(MPI_Status& s, std::size_t bytes) {
    s.count_lo = static_cast<int>(bytes & 0xffffffff);
    s.count_hi_and_cancelled = static_cast<int>((bytes >> 32) << 1) | (s.count_hi_and_cancelled & 1);
}
inline void set_status_cancelled(MPI_Status& s, bool cancelled) {
    s.count_hi_and_cancelled = (s.count_hi_and_cancelled & ~1) | (cancelled ? 1 : 0);
}

/// Writes a status of the program, unless it is MPI_STATUS_IGNORE. MPI_ERROR is unchanged: only calls that complete
/// several requests set it (MPI 3.1, 3.2.5).
inline void store(MPI_Status* to, Status const& from) {
    if (to == MPI_STATUS_IGNORE) return;
    to->count_hi_and_cancelled = from.cancelled ? 1 : 0;
    set_status_bytes(*to, from.bytes);
    to->MPI_SOURCE = rank_out(from.source);
    to->MPI_TAG = tag_out(from.tag);
}
inline std::size_t status_bytes(MPI_Status const& s) {
    std::size_t low = static_cast<unsigned>(s.count_lo);
    std::size_t high = static_cast<unsigned>(s.count_hi_and_cancelled) >> 1;
    return high << 32 | low;
}
inline bool status_cancelled(MPI_Status const& s) { return s.count_hi_and_cancelled & 1; }

}   // namespace tutti::abi

// The status that a call returns, also if it ends with an error such as truncation.

namespace tutti {

class StatusOut {
public:
    explicit StatusOut(MPI_Status* to) : to_(to) { status.ignored = to == MPI_STATUS_IGNORE; }
    ~StatusOut() { abi::store(to_, status); }
    StatusOut(StatusOut const&) = delete;
    StatusOut& operator=(StatusOut const&) = delete;

    Status status;

private:
    MPI_Status* to_;
};

}   // namespace tutti
