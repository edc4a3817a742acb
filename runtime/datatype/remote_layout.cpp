// SPDX-License-Identifier: BSD-3-Clause
// Serialises and parses layouts.
#include "runtime/datatype/remote_layout.hpp"

#include <algorithm>

namespace tutti {
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

RemoteType::RemoteType(std::int64_t const* flat) : extent_(flat[0]), true_lb_(flat[1]), true_extent_(flat[2]) {
    flat += 3;
    layout_ = read_layout(flat);
}

}   // namespace tutti
