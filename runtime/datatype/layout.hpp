// SPDX-License-Identifier: BSD-3-Clause
// The flattened form of a datatype: the position of its bytes in type map order. A tree with four kinds of nodes: one
// run of bytes; one layout repeated at a stride; a list of runs; a list of layouts. Adjacent runs are merged during
// construction, and repetitions are kept: a vector of a million blocks is one node above one run.
//
// Cost of moving n bytes from any packed position: the runs touched, plus a division or a binary search per level.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include <limits.h>
#include <sys/uio.h>

#include "runtime/datatype/datatype.hpp"

namespace tutti {

struct TypeLayout {
    using Ref = std::shared_ptr<TypeLayout const>;
    enum class Form : std::uint8_t { run, repeat, runs, parts };
    struct Run {
        std::int64_t at;      ///< bytes from the element's origin
        std::int64_t start;   ///< packed position; a run ends where the next one starts
    };
    struct Part {
        std::int64_t at, start;   ///< as in Run
        Ref layout;
    };

    Form form = Form::run;
    std::int64_t size = 0;                ///< packed bytes; never 0
    std::int64_t at = 0;                  ///< run and repeat: offset of the first byte
    std::int64_t count = 1, stride = 0;   ///< repeat
    Ref child;                            ///< repeat
    std::vector<Run> runs;
    std::vector<Part> parts;

    static Ref run(std::int64_t at, std::int64_t bytes);
    /// Returns `count` copies of `child`, `stride` bytes apart, in the simplest form.
    static Ref repeat(Ref const& child, std::int64_t count, std::int64_t stride);
    static Ref shifted(Ref const& layout, std::int64_t by);

    std::int64_t run_end(std::size_t i) const { return i + 1 < runs.size() ? runs[i + 1].start : size; }
    std::int64_t part_end(std::size_t i) const { return i + 1 < parts.size() ? parts[i + 1].start : size; }
};

/// Concatenates layouts in packed order.
class LayoutList {
public:
    void add(TypeLayout::Ref const& layout, std::int64_t at);
    void add_run(std::int64_t at, std::int64_t bytes);
    /// Returns null if nothing was added.
    TypeLayout::Ref finish();

private:
    void convert_to_parts();
    TypeLayout::Ref finish_runs();

    std::vector<TypeLayout::Run> runs_;   ///< used as long as there are only runs
    std::vector<TypeLayout::Part> parts_;
    std::int64_t size_ = 0;
};

// Copies between two layouts, one of which may be in another rank's memory.

/// `count` elements of a layout in memory that this rank can load from and store to. Does not own them.
struct TypedMemory {
    std::uintptr_t origin;   ///< address of the first element; with MPI_BOTTOM it is 0 and displacements are addresses
    std::int64_t count, extent;
    TypeLayout const* layout;   ///< null: no data

    static TypedMemory of(void const* buffer, std::int64_t count, Datatype const& type) {
        return {reinterpret_cast<std::uintptr_t>(buffer), count, type.extent(), type.layout()};
    }
    /// Returns contiguous bytes as typed memory. Refers to `run`, which must be a single run and
    /// stay valid as long as the result.
    static TypedMemory run(void const* first, TypeLayout const& run) {
        return {reinterpret_cast<std::uintptr_t>(first), 1, run.size, &run};
    }

    std::size_t bytes() const { return layout ? static_cast<std::size_t>(layout->size * count) : 0; }
    /// Returns true if the data are contiguous in type map order, starting at first().
    bool dense() const {
        return bytes() == 0 || (layout->form == TypeLayout::Form::run && (count == 1 || extent == layout->size));
    }
    std::byte* first() const { return reinterpret_cast<std::byte*>(origin + static_cast<std::uintptr_t>(layout->at)); }
};

/// Contiguous bytes at an address, which may be in another process, as typed memory that is valid as long as this.
class ContiguousMemory {
public:
    ContiguousMemory(std::uint64_t address, std::size_t bytes) : address_(address) {
        layout_.size = static_cast<std::int64_t>(bytes);
    }
    ContiguousMemory(void const* address, std::size_t bytes)
        : ContiguousMemory(reinterpret_cast<std::uint64_t>(address), bytes) {}
    operator TypedMemory() const { return {static_cast<std::uintptr_t>(address_), 1, layout_.size, &layout_}; }

private:
    std::uint64_t address_;
    TypeLayout layout_;
};

/// Packs up to `bytes` bytes, from packed position `position` on, into `out`. Returns the number of bytes packed.
std::size_t pack_typed(TypedMemory const& from, std::size_t position, void* out, std::size_t bytes);
/// The reverse of pack_typed.
std::size_t unpack_typed(TypedMemory const& to, std::size_t position, void const* in, std::size_t bytes);

/// Copies packed bytes [position, position + bytes) of one to the same position of the other, as far as both extend.
/// Returns the number of bytes copied. Makes one pass if one side is dense or both have the same layout; otherwise
/// copies through a 16 KiB buffer that stays in the first-level cache. The two must not overlap.
std::size_t copy_typed(TypedMemory const& to, TypedMemory const& from, std::size_t position, std::size_t bytes);

/// Returns true if the bytes of two layouts have the same positions, even if the layouts were created independently.
bool same_layout(TypeLayout const& a, TypeLayout const& b);

// Layouts as lists of segments, for copies between processes by the system.

/// The number of segments that one call of the system takes (IOV_MAX).
inline constexpr std::size_t max_segments = IOV_MAX;

/// A list of segments in memory of the caller.
struct SegmentList {
    std::span<iovec> segments;
    std::size_t bytes = 0;

    /// Lists packed bytes [position, position + bytes) of typed memory, which must exist, as far as `room` suffices.
    static SegmentList of(TypedMemory const& m, std::size_t position, std::size_t bytes, std::span<iovec> room);
    /// Removes segments and bytes at the end.
    void shorten(std::size_t to_bytes);
};

/// Calls move(there, here) with lists of segments of two memories until packed bytes [position, position + bytes) have
/// been passed: `there` may be in another process. Returns false when a call does.
template <class Move>
bool move_segments(TypedMemory const& there, TypedMemory const& here, std::size_t position, std::size_t bytes,
                   Move move) {
    iovec room_there[max_segments], room_here[max_segments];
    for (std::size_t const end = position + bytes; position < end;) {
        SegmentList from = SegmentList::of(there, position, end - position, room_there);
        SegmentList const to = SegmentList::of(here, position, from.bytes, room_here);
        from.shorten(to.bytes);
        if (!move(from.segments, to.segments)) return false;
        position += to.bytes;
    }
    return true;
}

// Traverses the bytes of a layout from any packed position and passes them to a sink as runs and strided runs:
//   sink.run(at, bytes); sink.strided(at, stride, block, count)   `at` counts from the user's buffer
// The only loop behind pack, unpack and copies within a type.

template <class Sink>
class TypeWalk {
public:
    explicit TypeWalk(Sink& sink) : sink_(sink) {}

    /// Visits packed bytes [position, position + bytes) of `count` copies of `layout`, `stride` apart, the first one at
    /// `at`.
    void repeated(TypeLayout const& layout, std::int64_t at, std::int64_t count, std::int64_t stride,
                  std::int64_t position, std::int64_t bytes) {
        if (position == 0 && bytes == count * layout.size) return all(layout, at, count, stride);
        at += position / layout.size * stride;
        if (std::int64_t inside = position % layout.size) {
            std::int64_t first = std::min(bytes, layout.size - inside);
            part(layout, at, inside, first);
            bytes -= first;
            at += stride;
        }
        std::int64_t whole = bytes / layout.size;
        all(layout, at, whole, stride);
        if (std::int64_t rest = bytes - whole * layout.size) part(layout, at + whole * stride, 0, rest);
    }

private:
    using Form = TypeLayout::Form;

    void all(TypeLayout const& layout, std::int64_t at, std::int64_t count, std::int64_t stride) {
        if (layout.form == Form::run) {
            if (count == 1) sink_.run(at + layout.at, layout.size);
            else if (count > 1) sink_.strided(at + layout.at, stride, layout.size, count);
            return;
        }
        for (std::int64_t i = 0; i < count; ++i, at += stride) one(layout, at);
    }

    void one(TypeLayout const& layout, std::int64_t at) {
        switch (layout.form) {
        case Form::run: return sink_.run(at + layout.at, layout.size);
        case Form::repeat: return all(*layout.child, at + layout.at, layout.count, layout.stride);
        case Form::runs:
            for (std::size_t i = 0; i < layout.runs.size(); ++i)
                sink_.run(at + layout.runs[i].at, layout.run_end(i) - layout.runs[i].start);
            return;
        case Form::parts:
            for (TypeLayout::Part const& p : layout.parts) one(*p.layout, at + p.at);
        }
    }

    /// Visits less than the whole of one copy.
    void part(TypeLayout const& layout, std::int64_t at, std::int64_t position, std::int64_t bytes) {
        switch (layout.form) {
        case Form::run: return sink_.run(at + layout.at + position, bytes);
        case Form::repeat: return repeated(*layout.child, at + layout.at, layout.count, layout.stride, position, bytes);
        case Form::runs: return some_runs(layout, at, position, bytes);
        case Form::parts: return some_parts(layout, at, position, bytes);
        }
    }

    void some_runs(TypeLayout const& layout, std::int64_t at, std::int64_t position, std::int64_t bytes) {
        for (std::size_t i = find(layout.runs, position); bytes > 0; ++i) {
            std::int64_t n = std::min(bytes, layout.run_end(i) - position);
            sink_.run(at + layout.runs[i].at + position - layout.runs[i].start, n);
            position += n;
            bytes -= n;
        }
    }

    void some_parts(TypeLayout const& layout, std::int64_t at, std::int64_t position, std::int64_t bytes) {
        for (std::size_t i = find(layout.parts, position); bytes > 0; ++i) {
            TypeLayout::Part const& p = layout.parts[i];
            std::int64_t n = std::min(bytes, layout.part_end(i) - position);
            if (n == p.layout->size) one(*p.layout, at + p.at);
            else part(*p.layout, at + p.at, position - p.start, n);
            position += n;
            bytes -= n;
        }
    }

    /// Returns the index of the entry that contains a packed position.
    template <class Entry>
    static std::size_t find(std::vector<Entry> const& entries, std::int64_t position) {
        auto after = std::upper_bound(entries.begin(), entries.end(), position,
                                      [](std::int64_t p, Entry const& e) { return p < e.start; });
        return static_cast<std::size_t>(after - entries.begin()) - 1;
    }

    Sink& sink_;
};

// Layouts in serialised form: a datatype written as numbers where peers can read them. A rank that can access another
// rank's memory can then copy from the sender's layout to its own in one pass, without packing.
//
// The form: bounds, then the tree in preorder. It is written completely or not at all; the writer decides how much room
// it may take. Both sides run the same library, so the numbers are trusted.

/// The range of its owner's address space that a buffer touches.
struct AddressRange {
    std::uint64_t first;
    std::size_t bytes;

    static AddressRange of(std::uint64_t origin, std::int64_t count, std::int64_t extent, std::int64_t true_lb,
                           std::int64_t true_extent);
    static AddressRange of(void const* buffer, std::int64_t count, Datatype const& type) {
        return of(reinterpret_cast<std::uint64_t>(buffer), count, type.extent(), type.true_lb(), type.true_extent());
    }
};

/// Serialises the layout of a datatype. Returns the number of numbers written, or 0 if there is too little room or no
/// data.
std::size_t flatten(Datatype const& type, std::span<std::int64_t> out);
/// Returns how much room that takes, in numbers.
std::size_t flat_length(Datatype const& type);

/// A layout that another rank has serialised.
class RemoteType {
public:
    /// `flat` must be the complete output of flatten(). It is not used after construction.
    explicit RemoteType(std::int64_t const* flat);

    std::int64_t size() const { return layout_->size; }   ///< bytes of data in one element
    /// Returns the range of the owner's address space that (`origin`, `count`) touches.
    AddressRange range(std::uint64_t origin, std::int64_t count) const {
        return AddressRange::of(origin, count, extent_, true_lb_, true_extent_);
    }
    /// Returns the same elements in this rank's address space; `reached` is where the first byte of the range is
    /// mapped. The result is valid as long as this object.
    TypedMemory at(std::byte const* reached, std::uint64_t origin, std::int64_t count) const {
        auto const here = reinterpret_cast<std::uint64_t>(reached) + (origin - range(origin, count).first);
        return {static_cast<std::uintptr_t>(here), count, extent_, layout_.get()};
    }
    /// Returns the same elements in their owner's address space.
    TypedMemory in_owner(std::uint64_t origin, std::int64_t count) const {
        return {static_cast<std::uintptr_t>(origin), count, extent_, layout_.get()};
    }

private:
    std::int64_t extent_, true_lb_, true_extent_;
    TypeLayout::Ref layout_;
};

}   // namespace tutti
