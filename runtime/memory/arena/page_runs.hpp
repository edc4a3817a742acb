// SPDX-License-Identifier: BSD-3-Clause
// Runs of pages: which pages of an arena are in use, and which of the others were ever written. Two-level segregated
// fit: free runs are kept in lists by size class, adjacent ones merged immediately, so allocate() and free() cost a few
// steps whatever the arena contains. Nothing is written into the pages themselves, so untouched pages stay untouched.
// Not locked; no allocation, no exceptions: it works inside malloc.
//
// The bookkeeping is an array with an entry per page, of which only the entries at which runs begin are touched:
//   run[p].pages  length of the run that begins at page p, with a mark when it is free; 0: no run begins here
//   run[p].before length of the run that ends in front of page p (0: none); kept for page top() as well
// Pages from top() on have never been in a run. Dirty pages are those that were in use since they were last known to
// be zero.
#pragma once

#include <cstddef>
#include <cstdint>

namespace tutti::arena {

inline constexpr std::size_t page_bytes = 4096;
using Page = std::uint32_t;

class PageRuns {
public:
    static constexpr Page none = ~Page{0};

    /// Returns the bytes of bookkeeping for `pages` pages. The memory must read as zero; only touched pages need
    /// exist.
    static std::size_t bookkeeping(Page pages);
    void start(void* bookkeeping, Page pages);
    struct Part {
        std::uintptr_t first, end;
    };
    /// The parts of the bookkeeping that are touched as long as top() is at most `pages`.
    struct Parts {
        Part dirty, runs;
    };
    Parts touched(Page pages) const;

    /// Allocates `pages` pages (at least 1). Returns the first page, a multiple of `alignment` (a power of two), or
    /// `none` if there is no room. The pages keep their dirty marks.
    Page allocate(Page pages, Page alignment = 1);
    /// Frees the run that begins at `first`.
    void free(Page first);
    /// Makes a run in use longer or shorter in place. Returns false if there is no room behind it.
    bool resize(Page first, Page pages);

    /// Returns the length of the run in use that begins at `first`; 0 if none does (a wrong pointer).
    Page used(Page first) const { return first < top_ && !(runs_[first].pages & free_mark) ? runs_[first].pages : 0; }
    Page top() const { return top_; }
    Page in_use() const { return in_use_; }

    /// Marks pages as written, and calls `each(page, count)` for those that were dirty before.
    template <class Each>
    void mark_dirty(Page first, Page pages, Each each);
    /// Returns the number of dirty pages outside of runs in use.
    Page idle_dirty() const { return idle_dirty_; }
    /// Passes dirty free runs to `discard(page, count)`, the largest classes first, until idle_dirty() is at most
    /// `limit`. The runs are clean after it has returned true; false ends the loop.
    template <class Discard>
    void clean(Page limit, Discard discard);
    /// Calls `each(first, pages)` for every run in use.
    template <class Each>
    void for_each_used(Each each) const {
        for (Page p = 0; p < top_; p += length(p))
            if (!(runs_[p].pages & free_mark)) each(p, runs_[p].pages);
    }

    /// Returns true if one run in use contains all of these pages. Visits each run before them.
    bool is_within_one_run(Page first, Page pages) const {
        for (Page p = 0; p < top_ && p <= first; p += length(p))
            if (first < p + length(p)) return !is_free(p) && pages <= p + length(p) - first;
        return false;
    }

private:
    static constexpr std::uint32_t free_mark = 1u << 31;
    static constexpr int classes = 30, parts = 8;   // exact sizes below 8 pages, then 8 classes per power of two

    struct Run {
        std::uint32_t pages, before;
        Page next, previous;   // in the list of its class
    };
    struct Class {
        int first, second;
    };
    static Class class_of(Page pages);

    Page length(Page p) const { return runs_[p].pages & ~free_mark; }
    bool is_free(Page p) const { return p < top_ && runs_[p].pages & free_mark; }
    Page& head(Class c) { return heads_[c.first][c.second]; }
    void list(Page first, Page pages);
    void unlist(Page first);
    void begin(Page first, Page pages, std::uint32_t mark);
    Page find(Page pages);
    Page grow(Page pages);
    void cut(Page first, Page pages);
    void join(Page first);
    Page count_dirty(Page first, Page pages) const;
    template <class Each>
    void each_word(Page first, Page pages, Each each) const;

    Run* runs_ = nullptr;
    std::uint64_t* dirty_ = nullptr;
    Page pages_ = 0, top_ = 0, in_use_ = 0, idle_dirty_ = 0;
    std::uint32_t first_map_ = 0;
    std::uint8_t second_map_[classes] = {};
    Page heads_[classes][parts] = {};   // set to `none` by start()
};

/// Calls each(word index, mask) for the words of the dirty bitmap that contain the pages.
template <class Each>
void PageRuns::each_word(Page first, Page pages, Each each) const {
    std::uint64_t const end = std::uint64_t{first} + pages;
    for (std::uint64_t p = first; p < end;) {
        std::uint64_t const word = p / 64, stop = end < (word + 1) * 64 ? end : (word + 1) * 64, n = stop - p;
        each(word, (n == 64 ? ~std::uint64_t{0} : ((std::uint64_t{1} << n) - 1) << p % 64));
        p = stop;
    }
}

template <class Each>
void PageRuns::mark_dirty(Page first, Page pages, Each each) {
    each_word(first, pages, [&](std::uint64_t word, std::uint64_t mask) {
        std::uint64_t was = dirty_[word] & mask;
        if (was != mask) dirty_[word] |= mask;
        while (was != 0) {   // one call per contiguous stretch
            int const from = __builtin_ctzll(was);
            std::uint64_t const rest = ~(was >> from);
            int const n = rest == 0 ? 64 - from : __builtin_ctzll(rest);
            each(static_cast<Page>(word * 64) + static_cast<Page>(from), static_cast<Page>(n));
            was = from + n == 64 ? 0 : was >> (from + n) << (from + n);
        }
    });
}

template <class Discard>
void PageRuns::clean(Page limit, Discard discard) {
    for (int first = classes - 1; first >= 0; --first) {
        for (int second = parts - 1; second >= 0; --second) {
            if (!(second_map_[first] >> second & 1)) continue;
            for (Page p = heads_[first][second]; p != none; p = runs_[p].next) {
                if (idle_dirty_ <= limit) return;
                Page const dirty_pages = count_dirty(p, length(p));
                if (dirty_pages == 0) continue;
                if (!discard(p, length(p))) return;
                each_word(p, length(p), [&](std::uint64_t word, std::uint64_t mask) { dirty_[word] &= ~mask; });
                idle_dirty_ -= dirty_pages;
            }
        }
    }
}

}   // namespace tutti::arena
