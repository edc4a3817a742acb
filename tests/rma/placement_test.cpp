// SPDX-License-Identifier: BSD-3-Clause
// On a machine with several NUMA nodes the pages of a shared window come from where their rank runs: watched on a
// pretended one.
#include <mutex>

#include "tests/rma/world.hpp"
#include "tests/runtime/memory/watched_numa.hpp"
#include "tests/topo/machines.hpp"

using namespace tutti;
using namespace tutti::rma;

namespace {

/// Threads of one process ask it.
class LockedNuma final : public NumaSystem {
public:
    explicit LockedNuma(topo::Machine machine) : watched(std::move(machine)) {}
    std::string obstacle() const override { return watched.obstacle(); }
    std::vector<int> const& nodes() const override { return watched.nodes(); }
    int node_of_unit(int unit) const override { return watched.node_of_unit(unit); }
    int node_here() const override { return watched.node_here(); }
    int prefer(FileRange const& range, std::span<int const> nodes) override {
        std::scoped_lock const lock(mutex_);
        return watched.prefer(range, nodes);
    }
    int move(std::byte* first, std::size_t bytes, int node) override {
        std::scoped_lock const lock(mutex_);
        return watched.move(first, bytes, node);
    }
    int locate(std::span<void*> pages, std::span<int> nodes) const override { return watched.locate(pages, nodes); }

    WatchedNuma watched;

private:
    std::mutex mutex_;
};

TEST(Placement, parts_of_a_shared_window_lie_where_their_ranks_run) {
    constexpr std::size_t bytes = 10 * numa_page + 100;
    LockedNuma numa(topo::design_machine());
    Homes const homes{&numa, {1, 0}};
    Segment segment = Segment::create(2, {}, {}, {}, Maker::launcher, &homes);
    std::vector<std::byte*> bases(2);
    std::vector<std::thread> threads;
    for (unsigned place = 0; place < 2; ++place)
        threads.emplace_back([&, place] {
            Variables variables;
            variables.wait = "shared";
            std::vector<std::string> complaints;
            Process process(segment, place, variables);
            p2p::start(process, {});
            coll::start(process, complaints);
            Ref<Window> window = allocate_shared(*process.world, bytes, 1, nullptr);
            bases[place] = static_cast<std::byte*>(window->base);
            free(std::move(window));
            coll::barrier(*process.world);
            p2p::finish(process, "the test");
            coll::barrier(*process.world);
        });
    for (auto& t : threads) t.join();
    for (std::size_t rank = 0; rank < 2; ++rank) {
        int whole_pages = 0;
        for (WatchedNuma::Moved const& m : numa.watched.moved) {
            if (m.first < bases[rank] || m.first >= bases[rank] + bytes) continue;
            EXPECT_EQ(m.node, homes.of_rank[rank]);
            EXPECT_EQ(reinterpret_cast<std::uintptr_t>(m.first) % numa_page, 0U);
            EXPECT_LE(m.first + m.bytes, bases[rank] + bytes);
            whole_pages += static_cast<int>(m.bytes / numa_page);
        }
        EXPECT_GE(whole_pages, 9) << "rank " << rank;
    }
}

}   // namespace
