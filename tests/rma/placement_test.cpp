// SPDX-License-Identifier: BSD-3-Clause
// On a machine with several NUMA nodes, the pages of a shared window are placed on the node where their rank runs. Uses
// a simulated machine.
#include <mutex>

#include "tests/rma/world.hpp"
#include "tests/runtime/memory/watched_numa.hpp"
#include "tests/topo/machines.hpp"

using namespace tutti;
using namespace tutti::rma;

namespace {

/// A FakeNuma that several threads of one process can use.
class LockedNuma final : public NumaSystem {
public:
    explicit LockedNuma(topo::Machine machine) : watched(std::move(machine)) {}
    std::string unavailable_reason() const override { return watched.unavailable_reason(); }
    std::vector<int> const& nodes() const override { return watched.nodes(); }
    int node_of_unit(int unit) const override { return watched.node_of_unit(unit); }
    int current_node() const override { return watched.current_node(); }
    int prefer(FileRange const& range, std::span<int const> nodes) override {
        std::scoped_lock const lock(mutex_);
        return watched.prefer(range, nodes);
    }
    int move(std::byte* first, std::size_t bytes, int node) override {
        std::scoped_lock const lock(mutex_);
        return watched.move(first, bytes, node);
    }
    int locate(std::span<void*> pages, std::span<int> nodes) const override { return watched.locate(pages, nodes); }

    FakeNuma watched;

private:
    std::mutex mutex_;
};

TEST(Placement, parts_of_a_shared_window_lie_where_their_ranks_run) {
    constexpr std::size_t bytes = 10 * numa_page + 100;
    LockedNuma numa(topo::design_machine());
    NumaHomes const homes{&numa, {1, 0}};
    Segment segment = Segment::create(2, {}, {}, {}, SegmentCreator::launcher, &homes);
    std::vector<std::byte*> bases(2);
    std::vector<std::thread> threads;
    for (unsigned local_rank = 0; local_rank < 2; ++local_rank)
        threads.emplace_back([&, local_rank] {
            Variables variables;
            variables.wait = "shared";
            std::vector<std::string> diagnostics;
            Process process(segment, local_rank, variables);
            p2p::start(process, {});
            coll::initialize(process, diagnostics);
            Ref<Window> window = allocate_shared(*process.world, bytes, 1, nullptr);
            bases[local_rank] = static_cast<std::byte*>(window->base);
            free(std::move(window));
            coll::barrier(*process.world);
            p2p::drain_sends(process, "the test");
            coll::barrier(*process.world);
        });
    for (auto& t : threads) t.join();
    for (std::size_t rank = 0; rank < 2; ++rank) {
        int whole_pages = 0;
        for (FakeNuma::Moved const& m : numa.watched.moved) {
            if (m.first < bases[rank] || m.first >= bases[rank] + bytes) continue;
            EXPECT_EQ(m.node, homes.node_of_rank[rank]);
            EXPECT_EQ(reinterpret_cast<std::uintptr_t>(m.first) % numa_page, 0U);
            EXPECT_LE(m.first + m.bytes, bases[rank] + bytes);
            whole_pages += static_cast<int>(m.bytes / numa_page);
        }
        EXPECT_GE(whole_pages, 9) << "rank " << rank;
    }
}

}   // namespace
