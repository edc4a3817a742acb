// SPDX-License-Identifier: BSD-3-Clause
// What each collective is called with, below mpi_h/: objects, not handles. MPI_IN_PLACE arrives as `in_place`
// (a null pointer where the buffer would be). `parameters` are the chosen algorithm's, in its own order.
// On an intercommunicator ranks, roots and parts are those of the union group; root −1: this rank takes no part.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <type_traits>

#include "coll/env/parameter.hpp"
#include "runtime/datatype/datatype.hpp"
#include "runtime/datatype/op.hpp"
#include "runtime/topologies/neighborhood.hpp"

namespace tutti::coll {

enum class Collective {
    barrier,
    bcast,
    reduce,
    allreduce,
    gather,
    scatter,
    allgather,
    alltoall,
    reduce_scatter,
    scan,
    exscan,
    neighbor_allgather,
    neighbor_alltoall
};
inline constexpr int collectives = 13;
inline constexpr char const* collective_names[collectives] = {
    "barrier",        "bcast", "reduce", "allreduce",          "gather",           "scatter", "allgather", "alltoall",
    "reduce_scatter", "scan",  "exscan", "neighbor_allgather", "neighbor_alltoall"};
constexpr char const* name_of(Collective collective) { return collective_names[static_cast<int>(collective)]; }

inline constexpr void* in_place = nullptr;

/// What the arguments of all collectives have.
struct CommonArgs {
    Parameters parameters;
    int first_group_size = 0;   ///< of an intercommunicator: ranks of the group that comes first in the union; else 0
};

/// `count` elements of a type at an address; what users call a message buffer (MPI 3.1, 3.2.2).
struct ConstBuffer {
    void const* address;
    std::int64_t count;
    Datatype const* type;
    std::size_t bytes() const { return static_cast<std::size_t>(count * type->size()); }
};
struct Buffer {
    void* address;
    std::int64_t count;
    Datatype const* type;
    std::size_t bytes() const { return static_cast<std::size_t>(count * type->size()); }
    operator ConstBuffer() const { return {address, count, type}; }
};

/// Where the data of a buffer in one piece begins. As numbers: MPI_BOTTOM is a null pointer.
inline std::byte* first_byte(Buffer const& b) {
    return reinterpret_cast<std::byte*>(reinterpret_cast<std::uintptr_t>(b.address) +
                                        static_cast<std::uintptr_t>(b.type->true_lb()));
}
inline std::byte const* first_byte(ConstBuffer const& b) {
    return first_byte(Buffer{const_cast<void*>(b.address), b.count, b.type});
}

struct BarrierArgs : CommonArgs {};

struct BcastArgs : CommonArgs {
    Buffer data;
    int root;
};

/// reduce, allreduce, scan, exscan. `in` null: in place. `out` is null where the rank gets nothing (reduce off root).
struct ReduceArgs : CommonArgs {
    void const* in;
    void* out;
    std::int64_t count;
    Datatype const* type;
    Op const* op;
    int root;          ///< reduce only, else 0
    Kernels kernels;   ///< null: a user's operator
    std::size_t bytes() const { return static_cast<std::size_t>(count * type->size()); }
    /// The same operation on elements [first, first + n) alone.
    ReduceArgs slice(std::int64_t first, std::int64_t n) const {
        ReduceArgs some = *this;
        some.count = n;
        if (in) some.in = static_cast<std::byte const*>(in) + first * type->extent();
        if (out) some.out = static_cast<std::byte*>(out) + first * type->extent();
        return some;
    }
};

/// reduce_scatter: counts[i] elements for rank i, out of one vector of all.
struct ReduceScatterArgs : ReduceArgs {
    std::span<int const> counts;
};

/// Every data movement between all pairs, regular or not: what goes to rank i and what comes from rank i.
/// `send(i)` and `receive(i)` are made from the v, w and plain forms alike. The part to oneself is included.
class Parts {
public:
    /// Equal parts: part i starts i·count·extent bytes behind `base`. `step` 0 in place of the extent: always the same.
    static Parts regular(void const* base, std::int64_t count, Datatype const& type) {
        return Parts(base, count, &type, count * type.extent(), nullptr, nullptr, nullptr);
    }
    /// One buffer for all (the send side of allgather, both sides of a rooted operation off the root).
    static Parts same(void const* base, std::int64_t count, Datatype const& type) {
        return Parts(base, count, &type, 0, nullptr, nullptr, nullptr);
    }
    /// The v forms: counts[i] elements, displacements[i] extents behind `base`.
    static Parts irregular(void const* base, int const* counts, int const* displacements, Datatype const& type) {
        return Parts(base, 0, &type, type.extent(), counts, displacements, nullptr);
    }
    /// The w form: displacements in bytes and a type for each rank.
    static Parts typed(void const* base, int const* counts, int const* displacements, Datatype const* const* types) {
        return Parts(base, 0, nullptr, 1, counts, displacements, types);
    }
    static Parts typed(void const* base, int const* counts, std::ptrdiff_t const* displacements,
                       Datatype const* const* types) {
        Parts all(base, 0, nullptr, 1, counts, nullptr, types);
        all.far_ = displacements;
        return all;
    }
    /// Ranks [first, first + n) of a union group have these parts, in order; the others have nothing.
    Parts only_of(int first, int n) const {
        Parts window = *this;
        window.in_a_row_ = false;
        window.first_ = first;
        window.ranks_ = n;
        return window;
    }
    static Parts none() { return Parts(nullptr, 0, nullptr, 0, nullptr, nullptr, nullptr); }

    [[gnu::always_inline]] Buffer operator[](int rank) const {
        if (in_a_row_) [[likely]]
            return {first() + rank * step_, count_, type_};
        return part(rank);
    }
    /// Are they those of all ranks, all of one size and at equal distances?
    bool are_equal() const { return in_a_row_; }
    /// And besides each in one piece?
    bool without_gaps() const { return in_a_row_ && type_ && type_->dense(count_); }
    /// Between equal parts, in bytes.
    std::int64_t distance() const { return step_; }
    /// Bytes of the lists of counts, displacements and types; `all`: the ranks or edges that have parts, of which
    /// only_of may have left fewer.
    std::size_t list_bytes(int all) const {
        std::size_t sum = 0;
        each_list(*this, [&](auto* list) { sum += list ? listed(all) * sizeof *list : 0; });
        return (sum + alignof(void*) - 1) & ~(alignof(void*) - 1);
    }
    /// Copies these lists to `memory`, aligned for pointers, and is made of the copies from now on.
    void copy_lists(int all, std::byte* memory) {
        each_list(*this, [&](auto*& list) {
            if (!list) return;
            std::size_t const bytes = listed(all) * sizeof *list;
            if (bytes == 0) return;   // there may be no memory then
            list = static_cast<std::remove_reference_t<decltype(list)>>(std::memcpy(memory, list, bytes));
            memory += bytes;
        });
    }
    /// The types of the w form; empty in others.
    std::span<Datatype const* const> types(int all) const { return {types_, types_ ? listed(all) : 0}; }
    void const* base() const { return base_; }
    /// The same parts, from another address on.
    void move_to(void const* base) { base_ = base; }
    /// Of all parts; null when each has its own, or there are none.
    Datatype const* type() const { return type_; }
    bool empty() const { return !type_ && !types_; }

private:
    Parts(void const* base, std::int64_t count, Datatype const* type, std::int64_t step, int const* counts,
          int const* displacements, Datatype const* const* types)
        : base_(base), count_(count), type_(type), step_(step), counts_(counts), displacements_(displacements),
          types_(types), in_a_row_(!counts && !types) {}

    std::byte* first() const { return static_cast<std::byte*>(const_cast<void*>(base_)); }
    Buffer part(int rank) const {
        if (ranks_ > 0) {
            rank -= first_;
            if (static_cast<unsigned>(rank) >= static_cast<unsigned>(ranks_)) return {nullptr, 0, any_type()};
        }
        auto i = static_cast<std::size_t>(rank);
        if (types_) return {first() + (far_ ? far_[i] : displacements_[i]), counts_[i], types_[i]};
        if (counts_) return {first() + displacements_[i] * step_, counts_[i], type_};
        return {first() + rank * step_, count_, type_};
    }
    Datatype const* any_type() const { return types_ ? types_[0] : type_; }
    std::size_t listed(int all) const { return static_cast<std::size_t>(ranks_ > 0 ? ranks_ : all); }

    /// Calls f(list), null where there is none, the widest first.
    template <class Self, class F>
    static void each_list(Self& self, F&& f) {
        f(self.types_), f(self.far_), f(self.counts_), f(self.displacements_);
    }

    void const* base_;
    std::int64_t count_;
    Datatype const* type_;
    std::int64_t step_;
    int const* counts_;
    int const* displacements_;
    Datatype const* const* types_;
    std::ptrdiff_t const* far_ = nullptr;   ///< displacements of the w form where they are MPI_Aint
    int first_ = 0, ranks_ = 0;             ///< of a part of the ranks only; ranks 0: of all
    bool in_a_row_;                         ///< of all ranks, and equal
};

/// gather(v), scatter(v): `parts` is known at the root only, `mine` everywhere (in place at the root: address null).
struct RootedArgs : CommonArgs {
    Buffer mine;
    Parts parts = Parts::none();
    int root;
    bool in_place_at_root = false;
    bool equal = true;         ///< the plain forms: every part has `largest` bytes
    std::size_t largest = 0;   ///< bytes of one part when equal; otherwise nobody may assume anything
};

/// allgather(v): `mine` goes to everybody's parts[rank]. In place: mine is already there.
struct AllgatherArgs : CommonArgs {
    Buffer mine;
    Parts parts = Parts::none();
    bool is_in_place = false;
    std::size_t largest = 0;   ///< bytes of the largest part; all ranks know it, for counts are known everywhere
};

/// alltoall(v, w).
struct AlltoallArgs : CommonArgs {
    Parts send = Parts::none(), receive = Parts::none();
    bool is_in_place = false;   ///< send from the receive parts
    bool equal = true;          ///< the plain form: every part has `each` bytes
    std::size_t each = 0;
};

/// Neighbourhood collectives: parts by the number of the edge. A plain form's parts have `each` bytes; with v and w
/// forms only the two ends of an edge agree on its size.
struct NeighborArgs : CommonArgs {
    Neighborhood const* edges;
    Parts receive = Parts::none();
    bool equal = true;
    std::size_t each = 0;
};

/// neighbor_allgather(v): `mine` goes along every edge.
struct NeighborAllgatherArgs : NeighborArgs {
    Buffer mine;
};

/// neighbor_alltoall(v, w).
struct NeighborAlltoallArgs : NeighborArgs {
    Parts send = Parts::none();
};

}   // namespace tutti::coll
