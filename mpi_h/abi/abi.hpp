// SPDX-License-Identifier: BSD-3-Clause
// The one file that knows the ABI: handles to objects and back, error classes to numbers, statuses. Everything else in
// the library deals in objects. Handles here are MPICH's: two bits for how (invalid, built in, direct, indirect), four
// for the kind, the rest a number; built-in ones are found by their low eight bits, ours are direct.
#pragma once

#pragma GCC visibility push(default)
#include "mpi_h/include/mpi.h"
#pragma GCC visibility pop

#include <algorithm>
#include <array>
#include <vector>

#include "rma/window/window.hpp"
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

/// The objects of one kind that users hold handles of. Numbers of freed handles are used again, the oldest last. An
/// object that operations in flight still use keeps its number until it is destroyed: callbacks of the program, such as
/// an operator, get the same handle before and after the program has freed it (MPI 4.1, 2.5.1 and 6.9.5).
template <class T, Kind kind>
class Table final : public HandleOwner {
public:
    Table() = default;
    Table(Table const&) = delete;
    Table& operator=(Table const&) = delete;

    /// While it exists, the object's handle is valid: for calls of functions of the program that get the handle.
    class Valid {
    public:
        Valid(Table& table, T& object) : table_(table), object_(object) {
            if (object.kept_by == &table) {
                ++object.references;
                table.direct_[index_of(object.handle)] = &object;
                object.kept_by = nullptr;
                was_freed_ = true;
            }
        }
        ~Valid() {
            // Unless the function has freed the handle itself.
            if (was_freed_ && !object_.kept_by) table_.remove(static_cast<int>(object_.handle));
        }
        Valid(Valid const&) = delete;
        Valid& operator=(Valid const&) = delete;

    private:
        Table& table_;
        T& object_;
        bool was_freed_ = false;
    };

    /// Null when the handle is none of this kind or names nothing (any more).
    [[gnu::always_inline]] T* find(int handle) const {
        unsigned bits = static_cast<unsigned>(handle);
        if (((bits >> 26) & 0xf) != static_cast<unsigned>(kind)) return nullptr;
        if (bits >> 30 == 1) return builtin_[bits & 0xff];
        unsigned index = bits & 0x3ffffff;
        return bits >> 30 == 2 && index < direct_.size() ? direct_[index] : nullptr;
    }

    /// Is it a handle of a predefined object of this kind, whether there is one yet or not?
    static bool names_builtin(int handle) {
        unsigned const bits = static_cast<unsigned>(handle);
        return bits >> 30 == 1 && ((bits >> 26) & 0xf) == static_cast<unsigned>(kind);
    }

    /// The predefined object of this handle; null: the handle is of none whose number is built in.
    [[gnu::always_inline]] T* builtin(int handle) const {
        T* const object = builtin_[static_cast<unsigned>(handle) & 0xff];
        return object && static_cast<int>(object->handle) == handle ? object : nullptr;
    }

    T* builtin_at(unsigned number) const { return builtin_[number]; }

    /// Does add() need no memory?
    bool has_room() const { return !free_.empty(); }
    /// Gives the object a fresh handle, or the one that it has kept; the table takes over the caller's reference.
    int add(T* object) {
        unsigned index;
        if (object->kept_by) {
            index = index_of(object->handle);
            direct_[index] = object;
            object->kept_by = nullptr;
        } else if (free_.empty()) {
            index = static_cast<unsigned>(direct_.size());
            // First all that may fail: without memory the object is in no table. And give_back() needs none.
            if (index == direct_.capacity()) direct_.reserve(std::max(16u, 2 * index));
            free_.reserve(direct_.capacity());
            direct_.push_back(object);
        } else {
            index = free_.back();
            free_.pop_back();
            direct_[index] = object;
        }
        int handle = static_cast<int>(0x80000000u | (static_cast<unsigned>(kind) << 26) | index);
        object->handle = handle;
        object->site = *call_site;
        return handle;
    }

    /// Places a predefined object under the handle that the ABI gives it.
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

    /// Invalidates a handle and gives up the table's reference. Objects in use elsewhere keep the number.
    void remove(int handle) {
        T*& entry = direct_[index_of(handle)];
        T* const object = entry;
        entry = nullptr;
        ++freed_;
        // Destroyed now or later, it gives its number back. A group may have several handles, and keeps the last one.
        if (object->handle == handle) object->kept_by = this;
        else give_back(handle);
        Ref<T>::release(object);
    }

    /// Invalidates a handle whose object is about to be destroyed, and whose reference is not the table's.
    void forget(int handle) {
        direct_[index_of(handle)] = nullptr;
        ++freed_;
        give_back(handle);
    }

    void give_back(std::intptr_t handle) noexcept override { free_.push_back(index_of(handle)); }

    /// Each that is not predefined.
    template <class Visit>
    void for_each(Visit&& visit) const {
        for (T* object : direct_)
            if (object && !object->predefined) visit(*object);
    }

    /// How many handles were freed: while there are no more, each names what it named.
    std::uint64_t freed() const { return freed_; }

    void const* const* call_site = &nowhere;   ///< where the program is that gets handles (Process::call_site)

private:
    static constexpr void const* nowhere = nullptr;

    static unsigned index_of(std::intptr_t handle) { return static_cast<unsigned>(handle) & 0x3ffffff; }

    std::array<T*, 256> builtin_{};
    std::vector<T*> direct_;
    std::vector<unsigned> free_;
    std::uint64_t freed_ = 0;
};

/// All that common calls need to know of a predefined datatype, in one word.
struct SimpleType {
    MPI_Datatype handle = 0;
    std::uint16_t bytes = 0;   ///< of one element, which another one follows without a gap; 0: it is none of these
    Basic kind = Basic::none;
};

struct Tables {
    /// Of communicators, datatypes and operators: what collectives are made of.
    std::uint64_t freed() const { return comms.freed() + datatypes.freed() + ops.freed(); }

    /// Objects know from now on where they were made.
    void note_sites(void const* const& call_site) {
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

    /// By the low eight bits of built-in handles; elsewhere the handle is another one, or there are no bytes.
    std::array<SimpleType, 256> simple_types{};
    SimpleType const& simple_type(MPI_Datatype handle) const {
        return simple_types[static_cast<unsigned>(handle) & 0xff];
    }
};

/// The ABI's number of an error class, and back (unknown numbers: ErrorClass::unknown).
int class_number(ErrorClass error_class);
ErrorClass class_of(int number);

/// Internal ranks and tags of wildcards and MPI_PROC_NULL have values of their own: these translate.
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

/// Writes what happened to a user's status, unless that is MPI_STATUS_IGNORE. MPI_ERROR is left alone: only calls that
/// complete several requests set it (MPI 3.1, 3.2.5).
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
