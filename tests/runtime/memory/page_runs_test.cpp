// SPDX-License-Identifier: BSD-3-Clause
// The page runs of an arena, compared with a plain map of pages.
#include "runtime/memory/arena/page_runs.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <vector>

namespace tutti::arena {
namespace {

struct Pages {
    explicit Pages(Page n) : memory(PageRuns::bookkeeping(n)) { runs.start(memory.data(), n); }
    std::vector<std::byte> memory;
    PageRuns runs;

    Page mark_dirty(Page first, Page pages) {
        Page were_dirty = 0;
        runs.mark_dirty(first, pages, [&](Page, Page n) { were_dirty += n; });
        return were_dirty;
    }
};

TEST(PageRuns, ReusesFreedPagesBeforeItGrows) {
    Pages p(1000);
    Page a = p.runs.allocate(10), b = p.runs.allocate(10), c = p.runs.allocate(10);
    EXPECT_EQ(p.runs.top(), 30u);
    p.runs.free(b);
    EXPECT_EQ(p.runs.allocate(10), b);
    p.runs.free(a);
    p.runs.free(c);
    p.runs.free(b);
    EXPECT_EQ(p.runs.in_use(), 0u);
    EXPECT_EQ(p.runs.allocate(30), 0u) << "adjacent runs must have been joined";
    EXPECT_EQ(p.runs.top(), 30u);
}

TEST(PageRuns, GrowsTheFreeRunAtTheTop) {
    Pages p(1000);
    Page a = p.runs.allocate(5), b = p.runs.allocate(20);
    p.runs.free(b);
    EXPECT_EQ(p.runs.allocate(30), 5u);
    EXPECT_EQ(p.runs.top(), 35u);
    EXPECT_EQ(p.runs.used(a), 5u);
}

TEST(PageRuns, RefusesRequestsThatDoNotFit) {
    Pages p(100);
    EXPECT_EQ(p.runs.allocate(101), PageRuns::none);
    EXPECT_EQ(p.runs.allocate(0), PageRuns::none);
    Page a = p.runs.allocate(100);
    EXPECT_EQ(a, 0u);
    EXPECT_EQ(p.runs.allocate(1), PageRuns::none);
    p.runs.free(a);
    EXPECT_EQ(p.runs.allocate(100), 0u);
}

TEST(PageRuns, AlignsWithoutLosingPages) {
    Pages p(4096);
    p.runs.allocate(3);
    Page a = p.runs.allocate(7, 512);
    EXPECT_EQ(a % 512, 0u);
    EXPECT_EQ(p.runs.in_use(), 10u);
    p.runs.free(a);
    p.runs.free(0);
    EXPECT_EQ(p.runs.allocate(p.runs.top()), 0u) << "the parts cut off for alignment must be free again";
}

TEST(PageRuns, ResizesRunsIfThereIsRoom) {
    Pages p(100);
    Page a = p.runs.allocate(10), b = p.runs.allocate(10);
    EXPECT_FALSE(p.runs.resize(a, 11));
    EXPECT_TRUE(p.runs.resize(a, 4));
    EXPECT_EQ(p.runs.used(a), 4u);
    EXPECT_TRUE(p.runs.resize(a, 9));
    EXPECT_EQ(p.runs.used(a), 9u);
    EXPECT_TRUE(p.runs.resize(b, 90)) << "the last run grows to the end";
    EXPECT_FALSE(p.runs.resize(b, 91));
    EXPECT_EQ(p.runs.in_use(), 99u);
}

TEST(PageRuns, TracksDirtyPages) {
    Pages p(1000);
    Page a = p.runs.allocate(130);
    EXPECT_EQ(p.mark_dirty(a, 130), 0u);
    EXPECT_EQ(p.runs.idle_dirty(), 0u);
    p.runs.free(a);
    EXPECT_EQ(p.runs.idle_dirty(), 130u);
    a = p.runs.allocate(200);
    EXPECT_EQ(p.mark_dirty(a, 200), 130u);
    p.runs.free(a);
    Page discarded = 0;
    Page const dirty = p.runs.idle_dirty();
    p.runs.clean(0, [](Page, Page) { return false; });
    EXPECT_EQ(p.runs.idle_dirty(), dirty) << "pages that the system does not take back stay dirty";
    p.runs.clean(0, [&](Page, Page n) {
        discarded += n;
        return true;
    });
    EXPECT_EQ(discarded, 200u);
    EXPECT_EQ(p.runs.idle_dirty(), 0u);
    EXPECT_EQ(p.mark_dirty(p.runs.allocate(200), 200), 0u);
}

TEST(PageRuns, DetectsInvalidPointers) {
    Pages p(100);
    Page a = p.runs.allocate(10);
    EXPECT_EQ(p.runs.used(a + 1), 0u);
    EXPECT_EQ(p.runs.used(50), 0u);
    p.runs.free(a);
    EXPECT_EQ(p.runs.used(a), 0u);
}

/// The expected state of the runs, page by page.
class Model {
public:
    explicit Model(Page n) : pages_(n), owner_(n, 0), dirty_(n, false) {}

    void take(Page first, Page n) {
        for (Page p = first; p < first + n; ++p) {
            ASSERT_EQ(owner_[p], 0) << "page " << p << " allocated twice";
            owner_[p] = 1;
        }
        live[first] = n;
    }
    Page mark_dirty(Page first, Page n) {
        Page were = 0;
        for (Page p = first; p < first + n; ++p) were += dirty_[p], dirty_[p] = true;
        return were;
    }
    void give(Page first) {
        for (Page p = first; p < first + live[first]; ++p) owner_[p] = 0;
        live.erase(first);
    }
    void clean(Page first, Page n) {
        for (Page p = first; p < first + n; ++p) {
            ASSERT_EQ(owner_[p], 0) << "a page in use was discarded";
            dirty_[p] = false;
        }
    }
    Page idle_dirty() const {
        Page n = 0;
        for (Page p = 0; p < pages_; ++p) n += owner_[p] == 0 && dirty_[p];
        return n;
    }
    std::map<Page, Page> live;

private:
    Page pages_;
    std::vector<char> owner_;
    std::vector<bool> dirty_;
};

TEST(PageRuns, AgreeWithAPlainMapUnderRandomUse) {
    constexpr Page pages = 5000;
    Pages p(pages);
    Model model(pages);
    std::mt19937 random(7);
    auto below = [&](Page n) { return std::uniform_int_distribution<Page>(0, n - 1)(random); };
    for (int step = 0; step < 60000 && !HasFatalFailure(); ++step) {
        Page const what = below(100);
        auto some = model.live.empty() ? model.live.end()
                                       : std::next(model.live.begin(), below(static_cast<Page>(model.live.size())));
        if (what < 45 || some == model.live.end()) {
            Page const n = 1 + below(below(10) == 0 ? 600 : 30), alignment = below(8) == 0 ? 1u << below(7) : 1;
            Page const first = p.runs.allocate(n, alignment);
            if (first == PageRuns::none) continue;
            ASSERT_EQ(first % alignment, 0u);
            model.take(first, n);
            ASSERT_EQ(p.mark_dirty(first, n), model.mark_dirty(first, n));
        } else if (what < 85) {
            p.runs.free(some->first);
            model.give(some->first);
        } else if (what < 97) {
            Page const first = some->first, old = some->second, n = 1 + below(2 * old);
            if (!p.runs.resize(first, n)) continue;
            model.give(first);
            model.take(first, n);
            if (n <= old) continue;
            ASSERT_EQ(p.mark_dirty(first + old, n - old), model.mark_dirty(first + old, n - old));
        } else {
            p.runs.clean(below(pages), [&](Page first, Page n) {
                model.clean(first, n);
                return true;
            });
        }
        if (step % 500 != 0) continue;
        std::map<Page, Page> used;
        p.runs.for_each_used([&](Page first, Page n) { used[first] = n; });
        ASSERT_EQ(used, model.live);
        ASSERT_EQ(p.runs.idle_dirty(), model.idle_dirty());
    }
}

// An hour of calls of a program that makes twenty thousand per minute: sizes from a page to some MiB, all lifetimes.
// Without a bound on fragmentation the top would grow without limit.
TEST(PageRuns, FragmentsStayBoundedUnderALongRandomLoad) {
    constexpr Page pages = 1u << 22;
    Pages p(pages);
    std::mt19937 random(11);
    std::vector<Page> live(600, PageRuns::none);
    Page most = 0;
    for (int call = 0; call < 1'200'000; ++call) {
        Page& slot = live[random() % live.size()];
        if (slot != PageRuns::none) p.runs.free(slot);
        Page const n = 1 + random() % (1u << (random() % 11));
        slot = p.runs.allocate(n);
        ASSERT_NE(slot, PageRuns::none);
        most = std::max(most, p.runs.in_use());
    }
    EXPECT_LT(p.runs.top(), most + most / 2) << "pages in use at most: " << most;
}

}   // namespace
}   // namespace tutti::arena
