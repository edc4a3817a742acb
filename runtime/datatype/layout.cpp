// SPDX-License-Identifier: BSD-3-Clause
// Builds layouts, each in its simplest form.
#include "runtime/datatype/layout.hpp"

#include <algorithm>

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

}   // namespace tutti
