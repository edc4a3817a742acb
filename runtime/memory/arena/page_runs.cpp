// SPDX-License-Identifier: BSD-3-Clause
// Two-level segregated fit over runs of pages (Masmano, Ripoll, Crespo, Real: TLSF, ECRTS 2004).
#include "runtime/memory/arena/page_runs.hpp"

namespace tutti::arena {
namespace {

int log2_of(Page n) { return 31 - __builtin_clz(n); }

}   // namespace

std::size_t PageRuns::bookkeeping(Page pages) {
    return (std::size_t{pages} + 1) * sizeof(Run) + (std::size_t{pages} / 64 + 1) * sizeof(std::uint64_t);
}

void PageRuns::start(void* bookkeeping, Page pages) {
    dirty_ = static_cast<std::uint64_t*>(bookkeeping);
    runs_ = reinterpret_cast<Run*>(dirty_ + pages / 64 + 1);
    pages_ = pages;
    for (auto& row : heads_)
        for (Page& head : row) head = none;
}

PageRuns::Parts PageRuns::touched(Page pages) const {
    auto const dirty = reinterpret_cast<std::uintptr_t>(dirty_), runs = reinterpret_cast<std::uintptr_t>(runs_);
    return {{dirty, dirty + (std::size_t{pages} / 64 + 1) * sizeof *dirty_},
            {runs, runs + (std::size_t{pages} + 1) * sizeof *runs_}};
}

PageRuns::Class PageRuns::class_of(Page pages) {
    if (pages < parts) return {0, static_cast<int>(pages)};
    int const log = log2_of(pages);
    return {log - 2, static_cast<int>(pages >> (log - 3)) & (parts - 1)};
}

void PageRuns::list(Page first, Page pages) {
    Class const c = class_of(pages);
    Page const next = head(c);
    runs_[first].next = next;
    runs_[first].previous = none;
    if (next != none) runs_[next].previous = first;
    head(c) = first;
    first_map_ |= 1u << c.first;
    second_map_[c.first] |= static_cast<std::uint8_t>(1 << c.second);
}

void PageRuns::unlist(Page first) {
    Run& run = runs_[first];
    Class const c = class_of(length(first));
    if (run.next != none) runs_[run.next].previous = run.previous;
    if (run.previous != none) {
        runs_[run.previous].next = run.next;
    } else if ((head(c) = run.next) == none) {
        second_map_[c.first] &= static_cast<std::uint8_t>(~(1 << c.second));
        if (second_map_[c.first] == 0) first_map_ &= ~(1u << c.first);
    }
}

// Begins a run [first, first + pages), and stores its length for the run behind it.
void PageRuns::begin(Page first, Page pages, std::uint32_t mark) {
    runs_[first].pages = pages | mark;
    runs_[first + pages].before = pages;
}

// Removes a free run of at least `pages` pages from its list and returns it; `none` if there is none.
Page PageRuns::find(Page pages) {
    Class c = class_of(pages);
    // Its own class may contain shorter runs; the first run there was freed last and often has the same size.
    if (Page const p = head(c); p != none && length(p) >= pages) return unlist(p), p;
    std::uint32_t in_class = second_map_[c.first] & (~0u << (c.second + 1));
    if (in_class == 0) {
        std::uint32_t const larger = c.first + 1 < classes ? first_map_ & (~0u << (c.first + 1)) : 0;
        if (larger == 0) return none;
        c.first = __builtin_ctz(larger);
        in_class = second_map_[c.first];
    }
    c.second = __builtin_ctz(in_class);
    Page const p = head(c);
    unlist(p);
    return p;
}

// Allocates from the end of all pages ever used, together with a free run directly in front of it.
Page PageRuns::grow(Page pages) {
    Page first = top_;
    Page const before = top_ == 0 ? 0 : runs_[top_].before;
    bool const joined = before != 0 && is_free(top_ - before);
    if (joined) first -= before;
    if (pages > pages_ - first) return none;
    if (joined) unlist(first);
    top_ = first + pages;
    runs_[first].pages = pages;
    runs_[top_].pages = 0;
    return first;
}

Page PageRuns::allocate(Page pages, Page alignment) {
    if (pages == 0 || pages > pages_ || alignment - 1 > pages_ - pages) return none;
    Page const wanted = pages + alignment - 1;
    Page first = find(wanted);
    if (first != none) runs_[first].pages = length(first);
    else if ((first = grow(wanted)) == none) return none;
    Page const whole = runs_[first].pages, at = (first + alignment - 1) & ~(alignment - 1), front = at - first;
    begin(first, whole, 0);
    if (front != 0) {
        begin(at, whole - front, 0);
        begin(first, front, 0);
        join(first);
    }
    cut(at, pages);
    in_use_ += pages;
    idle_dirty_ -= count_dirty(at, pages);
    return at;
}

void PageRuns::free(Page first) {
    in_use_ -= runs_[first].pages;
    idle_dirty_ += count_dirty(first, runs_[first].pages);
    join(first);
}

// Frees everything after the first `pages` pages of a run.
void PageRuns::cut(Page first, Page pages) {
    Page const rest = runs_[first].pages - pages;
    if (rest == 0) return;
    begin(first + pages, rest, 0);
    begin(first, pages, 0);
    join(first + pages);
}

// Frees a run, merging it with its free neighbours.
void PageRuns::join(Page first) {
    Page pages = runs_[first].pages;
    if (Page const next = first + pages; is_free(next)) {
        unlist(next);
        pages += length(next);
        runs_[next].pages = 0;
    }
    if (Page const before = first == 0 ? 0 : runs_[first].before; before != 0 && is_free(first - before)) {
        runs_[first].pages = 0;
        first -= before;
        unlist(first);
        pages += before;
    }
    begin(first, pages, free_mark);
    list(first, pages);
}

bool PageRuns::resize(Page first, Page pages) {
    Page const whole = runs_[first].pages;
    if (pages <= whole) {
        in_use_ -= whole - pages;
        idle_dirty_ += count_dirty(first + pages, whole - pages);
        cut(first, pages);
        return true;
    }
    Page const next = first + whole, more = pages - whole;
    Page room = is_free(next) ? length(next) : 0;
    if (room < more && next + room == top_ && more <= pages_ - next) {   // the end of all pages ever used
        if (room != 0) unlist(next), runs_[next].pages = 0;
        top_ = next + more;
        runs_[top_].pages = 0;
        room = more;
    } else if (room < more) {
        return false;
    } else {
        unlist(next);
        runs_[next].pages = 0;
    }
    idle_dirty_ -= count_dirty(next, more);
    in_use_ += more;
    begin(first, whole + room, 0);
    cut(first, pages);
    return true;
}

Page PageRuns::count_dirty(Page first, Page pages) const {
    Page n = 0;
    each_word(first, pages, [&](std::uint64_t word, std::uint64_t mask) {
        n += static_cast<Page>(__builtin_popcountll(dirty_[word] & mask));
    });
    return n;
}

}   // namespace tutti::arena
