// SPDX-License-Identifier: BSD-3-Clause
// The arguments of each collective below mpi_h/ (objects instead of handles), and the parameters of algorithms: how an
// algorithm's record declares them, the values that settings give them, and how the algorithm reads them in a call. The
// choice reads the levels of the tree and the call reads the fragment size; the algorithm reads the other parameters.
//
// MPI_IN_PLACE arrives as `in_place` (a null pointer in place of the buffer). `parameters` are those of the chosen
// algorithm, in its own order. On an intercommunicator, ranks, roots and parts are numbered in the union group; root −1
// means that this rank does not participate.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <iterator>
#include <span>
#include <type_traits>

#include "runtime/datatype/datatype.hpp"
#include "runtime/datatype/op.hpp"
#include "runtime/objects/virtual_topology.hpp"

// --- Parameters of algorithms ----------------------------------------------------------------------------------------

namespace tutti::coll {

inline constexpr int max_levels = 8;   ///< of a hierarchy; a machine has at most five: l2, l3, numa, socket and all

enum class ParameterKind {
    bytes,          ///< 16K, 2M
    fragment,       ///< bytes of the fragments into which calls between nodes are cut (coll/call/running_operation.hpp)
    own_fragment,   ///< bytes of the fragments into which the algorithm itself cuts a message: the call is not cut
    number,
    numbers,     ///< one number per level, as in per_level
    per_level,   ///< bytes per level, innermost first: 16K+64K; the last value holds for all levels further out
    keyword,     ///< one of `keywords`; the value is its index among them
    hierarchy,   ///< levels as in TUTTI_HIERARCHY (numa+socket, flat): defines env.hierarchy() for the algorithm
};

/// One parameter of an algorithm, as the algorithm's record declares it.
struct Parameter {
    char const* name;
    std::size_t default_value;   ///< the value if no setting gives one
    char const* description;     ///< description, with the unit
    ParameterKind kind = ParameterKind::bytes;
    char const* keywords = nullptr;   ///< "one|packed|apart"
};

/// Parameter of algorithms that follow env.hierarchy(). The choice reads the value; the algorithm does not.
inline constexpr Parameter hierarchy_parameter = {"hierarchy", 0, "levels of the tree, as in TUTTI_HIERARCHY",
                                                  ParameterKind::hierarchy};

/// Parameter of algorithms between nodes. Each fragment is an operation of its own, so one fragment can be on the links
/// while another is inside the nodes. The call reads the value; the algorithm does not.
inline constexpr Parameter fragment_parameter = {
    "fragment", 262144, "bytes of a fragment of a large message; several fragments are in flight",
    ParameterKind::fragment};

/// The values of an algorithm's parameters, in its own order. A parameter that is not per level has the same value at
/// all levels.
class Values {
public:
    static constexpr std::size_t max_count = 8;   ///< maximum number of parameters of an algorithm

    std::size_t operator[](std::size_t parameter) const { return values_[parameter][0]; }
    std::size_t at(std::size_t parameter, int level) const {
        return values_[parameter][static_cast<std::size_t>(level < max_levels ? level : max_levels - 1)];
    }
    /// Sets the value for this level and all levels outside it.
    void set(std::size_t parameter, std::size_t value, int from_level = 0) {
        for (auto level = static_cast<std::size_t>(from_level); level < max_levels; ++level)
            values_[parameter][level] = value;
    }
    bool operator==(Values const&) const = default;

private:
    std::array<std::array<std::size_t, max_levels>, max_count> values_{};
};

/// Returns the values that the parameters of a record have if no setting gives others.
inline Values default_values(std::span<Parameter const> parameters) {
    Values values;
    for (std::size_t i = 0; i < parameters.size(); ++i) values.set(i, parameters[i].default_value);
    return values;
}

/// The values as a call sees them: a reference; the choice owns the values.
class Parameters {
public:
    Parameters() = default;
    Parameters(Values const& values) : values_(&values) {}
    std::size_t operator[](std::size_t parameter) const { return (*values_)[parameter]; }
    std::size_t at(std::size_t parameter, int level) const { return values_->at(parameter, level); }
    Values const& values() const { return *values_; }
    bool operator==(Parameters const&) const = default;

private:
    Values const* values_ = nullptr;
};

enum class Collective {
#define COLLECTIVE(name, Args) name,
#include "runtime/settings/collectives.def"
};
inline constexpr char const* collective_names[] = {
#define COLLECTIVE(name, Args) #name,
#include "runtime/settings/collectives.def"
};
inline constexpr int collectives = static_cast<int>(std::size(collective_names));
constexpr char const* name_of(Collective collective) { return collective_names[static_cast<int>(collective)]; }

inline constexpr void* in_place = nullptr;   ///< stands for MPI_IN_PLACE

/// Arguments that all collectives have.
struct CommonArgs {
    Parameters parameters;
    int first_group_size = 0;   ///< on an intercommunicator: size of the group that comes first in the union; else 0
    bool operator==(CommonArgs const&) const = default;
};

/// `count` elements of a datatype at an address: a message buffer in the terms of the standard (MPI 3.1, 3.2.2).
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
    bool operator==(Buffer const&) const = default;
    operator ConstBuffer() const { return {address, count, type}; }
};

/// Where the data of a contiguous buffer begins. Computed on integers, because MPI_BOTTOM is a null pointer.
inline std::byte* first_byte(Buffer const& b) {
    return reinterpret_cast<std::byte*>(reinterpret_cast<std::uintptr_t>(b.address) +
                                        static_cast<std::uintptr_t>(b.type->true_lb()));
}
inline std::byte const* first_byte(ConstBuffer const& b) {
    return first_byte(Buffer{const_cast<void*>(b.address), b.count, b.type});
}

struct BarrierArgs : CommonArgs {
    bool operator==(BarrierArgs const&) const = default;
};

struct BcastArgs : CommonArgs {
    Buffer data;
    int root;
    bool operator==(BcastArgs const&) const = default;
};

/// reduce, allreduce, scan, exscan. `in` is null for in place. `out` is null if the rank gets no result (reduce, not
/// the root).
struct ReduceArgs : CommonArgs {
    void const* in;
    void* out;
    std::int64_t count;
    Datatype const* type;
    Op const* op;
    int root;          ///< reduce only, else 0
    Kernels kernels;   ///< null for a user-defined operator
    bool operator==(ReduceArgs const&) const = default;
    std::size_t bytes() const { return static_cast<std::size_t>(count * type->size()); }
    /// The same operation on elements [first, first + n) only.
    ReduceArgs slice(std::int64_t first, std::int64_t n) const {
        ReduceArgs some = *this;
        some.count = n;
        if (in) some.in = static_cast<std::byte const*>(in) + first * type->extent();
        if (out) some.out = static_cast<std::byte*>(out) + first * type->extent();
        return some;
    }
};

/// reduce_scatter: counts[i] elements for rank i, out of one vector that contains all of them.
struct ReduceScatterArgs : ReduceArgs {
    std::span<int const> counts;
};

/// The send or receive side of a data movement between all pairs, regular or irregular: operator[](i) is the part that
/// goes to, or comes from, rank i, whether it was given in plain, v or w form. Includes the rank's part to itself.
class Parts {
public:
    /// Equal parts: part i starts i·count·extent bytes after `base`.
    static Parts regular(void const* base, std::int64_t count, Datatype const& type) {
        return Parts(base, count, &type, count * type.extent(), nullptr, nullptr, nullptr);
    }
    /// The same buffer for all ranks (the send side of allgather, both sides of a rooted operation at ranks other than
    /// the root).
    static Parts same(void const* base, std::int64_t count, Datatype const& type) {
        return Parts(base, count, &type, 0, nullptr, nullptr, nullptr);
    }
    /// The v forms: counts[i] elements, displacements[i] extents after `base`.
    static Parts irregular(void const* base, int const* counts, int const* displacements, Datatype const& type) {
        return Parts(base, 0, &type, type.extent(), counts, displacements, nullptr);
    }
    /// The w form: displacements in bytes, one type per rank.
    static Parts typed(void const* base, int const* counts, int const* displacements, Datatype const* const* types) {
        return Parts(base, 0, nullptr, 1, counts, displacements, types);
    }
    static Parts typed(void const* base, int const* counts, std::ptrdiff_t const* displacements,
                       Datatype const* const* types) {
        Parts all(base, 0, nullptr, 1, counts, nullptr, types);
        all.aint_displacements_ = displacements;
        return all;
    }
    /// Only ranks [first, first + n) of a union group have these parts, in order; the other ranks have nothing.
    Parts restricted_to(int first, int n) const {
        Parts window = *this;
        window.are_equal_ = false;
        window.first_ = first;
        window.ranks_ = n;
        return window;
    }
    static Parts none() { return Parts(nullptr, 0, nullptr, 0, nullptr, nullptr, nullptr); }

    [[gnu::always_inline]] Buffer operator[](int rank) const {
        if (are_equal_) [[likely]]
            return {first() + rank * stride_, count_, type_};
        return part(rank);
    }
    /// True if all ranks have parts of the same size at equal distances.
    bool are_equal() const { return are_equal_; }
    /// True if in addition each part is contiguous.
    bool are_contiguous() const { return are_equal_ && type_ && type_->dense(count_); }
    /// The distance between equal parts, in bytes.
    std::int64_t stride() const { return stride_; }
    /// Bytes of the lists of counts, displacements and types. `all`: the number of ranks or edges that have parts,
    /// which restricted_to may have reduced.
    std::size_t list_bytes(int all) const {
        std::size_t sum = 0;
        each_list(*this, [&](auto* list) { sum += list ? list_length(all) * sizeof *list : 0; });
        return (sum + alignof(void*) - 1) & ~(alignof(void*) - 1);
    }
    /// Copies these lists to `memory`, which must be aligned for pointers, and refers to the copies from now on.
    void copy_lists(int all, std::byte* memory) {
        each_list(*this, [&](auto*& list) {
            if (!list) return;
            std::size_t const bytes = list_length(all) * sizeof *list;
            if (bytes == 0) return;   // `memory` may be null in this case
            list = static_cast<std::remove_reference_t<decltype(list)>>(std::memcpy(memory, list, bytes));
            memory += bytes;
        });
    }
    /// The types of the w form; empty for other forms.
    std::span<Datatype const* const> types(int all) const { return {types_, types_ ? list_length(all) : 0}; }
    void const* base() const { return base_; }
    /// Keeps the parts, but with another base address.
    void set_base(void const* base) { base_ = base; }
    /// Returns the type of all parts; null if each part has its own, or if there are none.
    Datatype const* type() const { return type_; }
    bool empty() const { return !type_ && !types_; }
    /// Equal lists are those at equal addresses.
    bool operator==(Parts const&) const = default;

private:
    Parts(void const* base, std::int64_t count, Datatype const* type, std::int64_t step, int const* counts,
          int const* displacements, Datatype const* const* types)
        : base_(base), count_(count), type_(type), stride_(step), counts_(counts), displacements_(displacements),
          types_(types), are_equal_(!counts && !types) {}

    std::byte* first() const { return static_cast<std::byte*>(const_cast<void*>(base_)); }
    Buffer part(int rank) const {
        if (ranks_ > 0) {
            rank -= first_;
            if (static_cast<unsigned>(rank) >= static_cast<unsigned>(ranks_)) return {nullptr, 0, any_type()};
        }
        auto i = static_cast<std::size_t>(rank);
        if (types_)
            return {first() + (aint_displacements_ ? aint_displacements_[i] : displacements_[i]), counts_[i],
                    types_[i]};
        if (counts_) return {first() + displacements_[i] * stride_, counts_[i], type_};
        return {first() + rank * stride_, count_, type_};
    }
    Datatype const* any_type() const { return types_ ? types_[0] : type_; }
    std::size_t list_length(int all) const { return static_cast<std::size_t>(ranks_ > 0 ? ranks_ : all); }

    /// Calls f(list) for each list, null if it does not exist, in the order of decreasing element size.
    template <class Self, class F>
    static void each_list(Self& self, F&& f) {
        f(self.types_), f(self.aint_displacements_), f(self.counts_), f(self.displacements_);
    }

    void const* base_;
    std::int64_t count_;
    Datatype const* type_;
    std::int64_t stride_;
    int const* counts_;
    int const* displacements_;
    Datatype const* const* types_;
    std::ptrdiff_t const* aint_displacements_ = nullptr;   ///< displacements of the w form if they are MPI_Aint
    int first_ = 0, ranks_ = 0;   ///< the ranks that have parts (restricted_to); ranks_ 0: all ranks
    bool are_equal_;              ///< all ranks have equal parts
};

/// gather(v), scatter(v): `parts` is known at the root only, `mine` at all ranks (in place at the root: null address).
struct RootedArgs : CommonArgs {
    Buffer mine;
    Parts parts = Parts::none();
    int root;
    bool in_place_at_root = false;
    bool equal_parts = true;          ///< plain forms: every part has `max_part_bytes` bytes
    std::size_t max_part_bytes = 0;   ///< bytes of one part if equal; otherwise no rank may rely on it
    bool operator==(RootedArgs const&) const = default;
};

/// allgather(v): `mine` goes to parts[rank] of every rank. In place: `mine` is already there.
struct AllgatherArgs : CommonArgs {
    Buffer mine;
    Parts parts = Parts::none();
    bool is_in_place = false;
    std::size_t max_part_bytes = 0;   ///< bytes of the largest part; known to all ranks, because the counts are
    bool operator==(AllgatherArgs const&) const = default;
};

/// alltoall(v, w).
struct AlltoallArgs : CommonArgs {
    Parts send = Parts::none(), receive = Parts::none();
    bool is_in_place = false;   ///< the send data is in the receive parts
    bool equal_parts = true;    ///< plain form: every part has `part_bytes` bytes
    std::size_t part_bytes = 0;
    bool operator==(AlltoallArgs const&) const = default;
};

/// Neighbourhood collectives: parts are indexed by edge. In plain forms every part has `part_bytes` bytes; in v and w
/// forms only the two ends of an edge agree on its size.
struct NeighborArgs : CommonArgs {
    Neighborhood const* edges;
    Parts receive = Parts::none();
    bool equal_parts = true;
    std::size_t part_bytes = 0;
};

/// neighbor_allgather(v): `mine` is sent along every edge.
struct NeighborAllgatherArgs : NeighborArgs {
    Buffer mine;
};

/// neighbor_alltoall(v, w).
struct NeighborAlltoallArgs : NeighborArgs {
    Parts send = Parts::none();
};

}   // namespace tutti::coll
