// SPDX-License-Identifier: BSD-3-Clause
// Builds layouts, each in its simplest form, copies between them, and serialises them.
#include "runtime/datatype/layout.hpp"

#include <algorithm>
#include <cstring>

namespace tutti {

TypeLayout::Ref TypeLayout::run(std::int64_t at, std::int64_t bytes) {
    auto layout = std::make_shared<TypeLayout>();
    layout->at = at;
    layout->size = bytes;
    return layout;
}

TypeLayout::Ref TypeLayout::repeat(Ref const& child, std::int64_t count, std::int64_t stride) {
    if (count == 1) return child;
    if (child->form == Form::run && child->size == stride) return run(child->at, count * stride);
    auto layout = std::make_shared<TypeLayout>();
    layout->form = Form::repeat;
    layout->size = child->size * count;
    if (child->form == Form::repeat && child->count * child->stride == stride) {
        layout->at = child->at;
        layout->count = child->count * count;
        layout->stride = child->stride;
        layout->child = child->child;
    } else {
        layout->count = count;
        layout->stride = stride;
        layout->child = child;
    }
    return layout;
}

TypeLayout::Ref TypeLayout::shifted(Ref const& layout, std::int64_t by) {
    if (by == 0) return layout;
    if (layout->form == Form::run) return run(layout->at + by, layout->size);
    auto moved = std::make_shared<TypeLayout>();
    moved->form = Form::repeat;
    moved->size = layout->size;
    moved->at = by;
    if (layout->form == Form::repeat) {
        moved->at += layout->at;
        moved->count = layout->count;
        moved->stride = layout->stride;
        moved->child = layout->child;
    } else {
        moved->child = layout;
    }
    return moved;
}

void LayoutList::add(TypeLayout::Ref const& layout, std::int64_t at) {
    if (layout->form == TypeLayout::Form::run) return add_run(at + layout->at, layout->size);
    convert_to_parts();
    parts_.push_back({at, size_, layout});
    size_ += layout->size;
}

void LayoutList::add_run(std::int64_t at, std::int64_t bytes) {
    if (parts_.empty()) {
        bool adjoins = !runs_.empty() && runs_.back().at + (size_ - runs_.back().start) == at;
        if (!adjoins) runs_.push_back({at, size_});
    } else {
        TypeLayout::Part& last = parts_.back();
        if (last.layout->form == TypeLayout::Form::run && last.at + last.layout->at + last.layout->size == at)
            last.layout = TypeLayout::run(last.layout->at, last.layout->size + bytes);
        else parts_.push_back({0, size_, TypeLayout::run(at, bytes)});
    }
    size_ += bytes;
}

void LayoutList::convert_to_parts() {
    for (std::size_t i = 0; i < runs_.size(); ++i) {
        std::int64_t end = i + 1 < runs_.size() ? runs_[i + 1].start : size_;
        parts_.push_back({0, runs_[i].start, TypeLayout::run(runs_[i].at, end - runs_[i].start)});
    }
    runs_.clear();
}

TypeLayout::Ref LayoutList::finish() {
    if (size_ == 0) return nullptr;
    if (parts_.empty()) return finish_runs();
    if (parts_.size() == 1) return TypeLayout::shifted(parts_[0].layout, parts_[0].at);
    auto layout = std::make_shared<TypeLayout>();
    layout->form = TypeLayout::Form::parts;
    layout->size = size_;
    layout->parts = std::move(parts_);
    return layout;
}

TypeLayout::Ref LayoutList::finish_runs() {
    std::int64_t const length = runs_.size() > 1 ? runs_[1].start : size_;
    std::int64_t const stride = runs_.size() > 1 ? runs_[1].at - runs_[0].at : 0;
    auto const count = static_cast<std::int64_t>(runs_.size());
    bool regular = count * length == size_;
    for (std::size_t i = 1; i < runs_.size() && regular; ++i)
        regular = runs_[i].at - runs_[i - 1].at == stride && runs_[i].start - runs_[i - 1].start == length;
    if (regular) return TypeLayout::repeat(TypeLayout::run(runs_[0].at, length), count, stride);
    auto layout = std::make_shared<TypeLayout>();
    layout->form = TypeLayout::Form::runs;
    layout->size = size_;
    layout->runs = std::move(runs_);
    return layout;
}

// Copies between layouts and packed buffers or other layouts, by sinks of TypeWalk.

namespace {

// Addresses are integers because with MPI_BOTTOM the origin is 0 and displacements are absolute addresses.
using Address = std::uintptr_t;

char* at(Address base, std::int64_t offset) { return reinterpret_cast<char*>(base + static_cast<Address>(offset)); }

template <std::size_t block>
void copy_blocks(Address to, std::int64_t to_stride, Address from, std::int64_t from_stride, std::int64_t count) {
    for (std::int64_t i = 0; i < count; ++i) std::memcpy(at(to, i * to_stride), at(from, i * from_stride), block);
}

/// Block sizes that are common in matrices and structures are compiled in, because a call of memcpy per block costs
/// more than the copy.
void copy_strided(Address to, std::int64_t to_stride, Address from, std::int64_t from_stride, std::int64_t block,
                  std::int64_t count) {
    switch (block) {
    case 1: return copy_blocks<1>(to, to_stride, from, from_stride, count);
    case 2: return copy_blocks<2>(to, to_stride, from, from_stride, count);
    case 4: return copy_blocks<4>(to, to_stride, from, from_stride, count);
    case 8: return copy_blocks<8>(to, to_stride, from, from_stride, count);
    case 12: return copy_blocks<12>(to, to_stride, from, from_stride, count);
    case 16: return copy_blocks<16>(to, to_stride, from, from_stride, count);
    case 24: return copy_blocks<24>(to, to_stride, from, from_stride, count);
    case 32: return copy_blocks<32>(to, to_stride, from, from_stride, count);
    default:
        for (std::int64_t i = 0; i < count; ++i)
            std::memcpy(at(to, i * to_stride), at(from, i * from_stride), static_cast<std::size_t>(block));
    }
}

struct Pack {
    Address user, packed;
    void run(std::int64_t offset, std::int64_t bytes) {
        std::memcpy(at(packed, 0), at(user, offset), static_cast<std::size_t>(bytes));
        packed += static_cast<Address>(bytes);
    }
    void strided(std::int64_t offset, std::int64_t stride, std::int64_t block, std::int64_t count) {
        copy_strided(packed, block, user + static_cast<Address>(offset), stride, block, count);
        packed += static_cast<Address>(block * count);
    }
};

struct Unpack {
    Address user, packed;
    void run(std::int64_t offset, std::int64_t bytes) {
        std::memcpy(at(user, offset), at(packed, 0), static_cast<std::size_t>(bytes));
        packed += static_cast<Address>(bytes);
    }
    void strided(std::int64_t offset, std::int64_t stride, std::int64_t block, std::int64_t count) {
        copy_strided(user + static_cast<Address>(offset), stride, packed, block, block, count);
        packed += static_cast<Address>(block * count);
    }
};

struct Copy {
    Address to, from;
    void run(std::int64_t offset, std::int64_t bytes) {
        std::memcpy(at(to, offset), at(from, offset), static_cast<std::size_t>(bytes));
    }
    void strided(std::int64_t offset, std::int64_t stride, std::int64_t block, std::int64_t count) {
        auto const by = static_cast<Address>(offset);
        copy_strided(to + by, stride, from + by, stride, block, count);
    }
};

/// Stops when the list is full.
struct ListSegments {
    Address user;
    std::span<iovec> room;
    std::size_t count = 0, bytes = 0;
    bool full = false;

    void run(std::int64_t offset, std::int64_t length) {
        if (full) return;
        char* const first = at(user, offset);
        if (count > 0 && static_cast<char*>(room[count - 1].iov_base) + room[count - 1].iov_len == first)
            room[count - 1].iov_len += static_cast<std::size_t>(length);
        else if (count < room.size()) room[count++] = {first, static_cast<std::size_t>(length)};
        else full = true;
        if (!full) bytes += static_cast<std::size_t>(length);
    }
    void strided(std::int64_t offset, std::int64_t stride, std::int64_t block, std::int64_t blocks) {
        for (std::int64_t i = 0; i < blocks && !full; ++i) run(offset + i * stride, block);
    }
};

/// Returns how many bytes of [position, position + bytes) exist.
std::size_t available(TypedMemory const& m, std::size_t position, std::size_t bytes) {
    std::size_t const all = m.bytes();
    return position >= all ? 0 : std::min(bytes, all - position);
}

template <class Sink>
void walk(Sink& sink, TypedMemory const& m, std::size_t position, std::size_t bytes) {
    auto const at = static_cast<std::int64_t>(position), n = static_cast<std::int64_t>(bytes);
    if (m.dense()) sink.run(m.layout->at + at, n);
    else TypeWalk(sink).repeated(*m.layout, 0, m.count, m.extent, at, n);
}

}   // namespace

std::size_t pack_typed(TypedMemory const& from, std::size_t position, void* out, std::size_t bytes) {
    bytes = available(from, position, bytes);
    if (bytes == 0) return 0;
    Pack sink{from.origin, reinterpret_cast<Address>(out)};
    walk(sink, from, position, bytes);
    return bytes;
}

std::size_t unpack_typed(TypedMemory const& to, std::size_t position, void const* in, std::size_t bytes) {
    bytes = available(to, position, bytes);
    if (bytes == 0) return 0;
    Unpack sink{to.origin, reinterpret_cast<Address>(in)};
    walk(sink, to, position, bytes);
    return bytes;
}

bool same_layout(TypeLayout const& a, TypeLayout const& b) {
    if (&a == &b) return true;
    if (a.form != b.form || a.size != b.size || a.at != b.at || a.count != b.count || a.stride != b.stride)
        return false;
    if (a.runs.size() != b.runs.size() || a.parts.size() != b.parts.size()) return false;
    for (std::size_t i = 0; i < a.runs.size(); ++i)
        if (a.runs[i].at != b.runs[i].at || a.runs[i].start != b.runs[i].start) return false;
    for (std::size_t i = 0; i < a.parts.size(); ++i)
        if (a.parts[i].at != b.parts[i].at || !same_layout(*a.parts[i].layout, *b.parts[i].layout)) return false;
    return a.form != TypeLayout::Form::repeat || same_layout(*a.child, *b.child);
}

std::size_t copy_typed(TypedMemory const& to, TypedMemory const& from, std::size_t position, std::size_t bytes) {
    bytes = std::min(available(to, position, bytes), available(from, position, bytes));
    if (bytes == 0) return 0;
    if (to.dense()) return pack_typed(from, position, to.first() + position, bytes);
    if (from.dense()) return unpack_typed(to, position, from.first() + position, bytes);
    bool const same_steps = to.extent == from.extent || (to.count == 1 && from.count == 1);
    if (same_steps && same_layout(*to.layout, *from.layout)) {
        Copy sink{to.origin, from.origin};
        TypeWalk(sink).repeated(*to.layout, 0, to.count, to.extent, static_cast<std::int64_t>(position),
                                static_cast<std::int64_t>(bytes));
        return bytes;
    }
    std::byte piece[16384];
    for (std::size_t done = 0; done < bytes;) {
        std::size_t const n = pack_typed(from, position + done, piece, std::min(sizeof piece, bytes - done));
        done += unpack_typed(to, position + done, piece, n);
    }
    return bytes;
}

/// A traversal does not stop when the list is full, so it covers a part that grows while there is room.
SegmentList SegmentList::of(TypedMemory const& m, std::size_t position, std::size_t bytes, std::span<iovec> room) {
    ListSegments sink{m.origin, room};
    for (std::size_t part = m.dense() ? bytes : room.size(); !sink.full && sink.bytes < bytes; part *= 2)
        walk(sink, m, position + sink.bytes, std::min(part, bytes - sink.bytes));
    return {room.first(sink.count), sink.bytes};
}

void SegmentList::shorten(std::size_t to_bytes) {
    while (bytes > to_bytes) {
        std::size_t& last = segments.back().iov_len;
        std::size_t const excess = std::min(last, bytes - to_bytes);
        bytes -= excess;
        if ((last -= excess) == 0) segments = segments.first(segments.size() - 1);
    }
}

// Layouts in serialised form.

namespace {

using Form = TypeLayout::Form;

class Writer {
public:
    explicit Writer(std::span<std::int64_t> out) : out_(out) {}

    /// Returns false if there is too little room: a tree can be far larger than a layout in memory, which shares parts.
    bool put(std::initializer_list<std::int64_t> numbers) {
        if (numbers.size() > out_.size() - used_) return false;
        std::copy(numbers.begin(), numbers.end(), out_.begin() + static_cast<std::ptrdiff_t>(used_));
        used_ += numbers.size();
        return true;
    }
    bool put(TypeLayout const& l) {
        if (!put({static_cast<std::int64_t>(l.form), l.size})) return false;
        switch (l.form) {
        case Form::run: return put({l.at});
        case Form::repeat: return put({l.at, l.count, l.stride}) && put(*l.child);
        case Form::runs:
            return put({static_cast<std::int64_t>(l.runs.size())}) &&
                   std::all_of(l.runs.begin(), l.runs.end(), [&](auto& r) {
                       return put({r.at, r.start});
                   });
        case Form::parts:
            return put({static_cast<std::int64_t>(l.parts.size())}) &&
                   std::all_of(l.parts.begin(), l.parts.end(), [&](auto& p) {
                       return put({p.at, p.start}) && put(*p.layout);
                   });
        }
        return false;
    }
    std::size_t used() const { return used_; }

private:
    std::span<std::int64_t> out_;
    std::size_t used_ = 0;
};

std::size_t flat_length(TypeLayout const& l) {
    switch (l.form) {
    case Form::run: return 3;
    case Form::repeat: return 5 + flat_length(*l.child);
    case Form::runs: return 3 + 2 * l.runs.size();
    case Form::parts: break;
    }
    std::size_t sum = 3;
    for (auto const& p : l.parts) sum += 2 + flat_length(*p.layout);
    return sum;
}

TypeLayout::Ref read_layout(std::int64_t const*& in) {
    auto layout = std::make_shared<TypeLayout>();
    layout->form = static_cast<Form>(*in++);
    layout->size = *in++;
    switch (layout->form) {
    case Form::run: layout->at = *in++; break;
    case Form::repeat:
        layout->at = *in++;
        layout->count = *in++;
        layout->stride = *in++;
        layout->child = read_layout(in);
        break;
    case Form::runs:
        layout->runs.resize(static_cast<std::size_t>(*in++));
        for (auto& r : layout->runs) r.at = *in++, r.start = *in++;
        break;
    case Form::parts:
        layout->parts.resize(static_cast<std::size_t>(*in++));
        for (auto& p : layout->parts) p.at = *in++, p.start = *in++, p.layout = read_layout(in);
    }
    return layout;
}

}   // namespace

AddressRange AddressRange::of(std::uint64_t origin, std::int64_t count, std::int64_t extent, std::int64_t true_lb,
                              std::int64_t true_extent) {
    if (count == 0 || true_extent == 0) return {origin, 0};
    std::int64_t const last = (count - 1) * extent;   // negative for a negative extent
    std::int64_t const low = true_lb + std::min<std::int64_t>(0, last);
    std::int64_t const high = true_lb + true_extent + std::max<std::int64_t>(0, last);
    return {origin + static_cast<std::uint64_t>(low), static_cast<std::size_t>(high - low)};
}

std::size_t flatten(Datatype const& type, std::span<std::int64_t> out) {
    Writer writer(out);
    bool const whole =
        type.layout() && writer.put({type.extent(), type.true_lb(), type.true_extent()}) && writer.put(*type.layout());
    return whole ? writer.used() : 0;
}

std::size_t flat_length(Datatype const& type) { return type.layout() ? 3 + flat_length(*type.layout()) : 0; }

RemoteType::RemoteType(std::int64_t const* flat) : extent_(flat[0]), true_lb_(flat[1]), true_extent_(flat[2]) {
    flat += 3;
    layout_ = read_layout(flat);
}

}   // namespace tutti
