// SPDX-License-Identifier: BSD-3-Clause
// The halo by a shared window: a rank reads its neighbor's row in place, so nothing is sent or copied. The exchange
// reduces to a barrier of the node's ranks in each step, so that no rank reads a row before it is ready. The row of a
// neighbor on another node cannot be read and is sent as in messages.cpp.
#include "strip.hpp"

namespace halo {
namespace {

/// The memory of this rank's node, in one window: each rank contributes its rows of two plates.
class SharedPlates {
public:
    explicit SharedPlates(Strip const& strip) : strip_(strip) {
        MPI_Comm_split_type(strip.comm, MPI_COMM_TYPE_SHARED, strip.rank, MPI_INFO_NULL, &node_);
        const std::size_t numbers = 2 * strip.row(strip.rows);
        MPI_Win_allocate_shared(MPI_Aint(numbers * sizeof(double)), sizeof(double), MPI_INFO_NULL, node_, &memory_,
                                &window_);
        for (std::size_t i = 0; i < numbers; ++i) memory_[i] = inside;
        MPI_Win_lock_all(MPI_MODE_NOCHECK, window_);   // the epoch in which MPI_Win_sync may be called
        synchronize();
    }
    ~SharedPlates() {
        MPI_Win_unlock_all(window_);
        MPI_Win_free(&window_);
        MPI_Comm_free(&node_);
    }
    SharedPlates(SharedPlates const&) = delete;
    SharedPlates& operator=(SharedPlates const&) = delete;

    /// Orders stores and loads: all ranks of the node load afterwards what any of them stored before.
    void synchronize() const {
        MPI_Win_sync(window_);   // own stores precede the barrier
        MPI_Barrier(node_);
        MPI_Win_sync(window_);   // and loads follow it
    }
    double* plate(int number) const { return memory_ + std::size_t(number) * strip_.row(strip_.rows); }
    /// Returns a rank's plates; null if the rank is on another node or MPI_PROC_NULL.
    double* plates_of(int rank) const {
        if (rank == MPI_PROC_NULL) return nullptr;
        MPI_Group all, near;
        int node_rank;
        MPI_Comm_group(strip_.comm, &all);
        MPI_Comm_group(node_, &near);
        MPI_Group_translate_ranks(all, 1, &rank, near, &node_rank);
        MPI_Group_free(&all);
        MPI_Group_free(&near);
        if (node_rank == MPI_UNDEFINED) return nullptr;
        MPI_Aint bytes;
        int unit;
        double* memory;
        MPI_Win_shared_query(window_, node_rank, &bytes, &unit, &memory);
        return memory;
    }

private:
    Strip const& strip_;
    MPI_Comm node_ = MPI_COMM_NULL;
    MPI_Win window_ = MPI_WIN_NULL;
    double* memory_ = nullptr;
};

}   // namespace

Result by_shared_window(Strip const& s, int steps) {
    const SharedPlates plates(s);
    const std::size_t plate = s.row(s.rows);
    double const *const before = plates.plates_of(s.before()), *const after = plates.plates_of(s.after());
    // Neighbors on other nodes; for all others MPI_PROC_NULL, whose messages have no effect.
    int const far_before = before ? MPI_PROC_NULL : s.before(), far_after = after ? MPI_PROC_NULL : s.after();
    std::vector<double> up(s.row(1), above), down(s.row(1), below);
    double exchange_seconds = 0;
    double const start = MPI_Wtime();
    for (int step = 0; step < steps; ++step) {
        double const* now = plates.plate(step % 2);
        double* next = plates.plate(1 - step % 2);
        double const begin = MPI_Wtime();
        MPI_Sendrecv(now, s.columns, MPI_DOUBLE, far_before, 0, down.data(), s.columns, MPI_DOUBLE, far_after, 0,
                     s.comm, MPI_STATUS_IGNORE);
        MPI_Sendrecv(now + s.row(s.rows - 1), s.columns, MPI_DOUBLE, far_after, 0, up.data(), s.columns, MPI_DOUBLE,
                     far_before, 0, s.comm, MPI_STATUS_IGNORE);
        double halo = MPI_Wtime() - begin;

        const std::size_t side = std::size_t(step % 2) * plate;
        double const* first_up = before ? before + side + s.row(s.rows - 1) : up.data();
        double const* last_down = after ? after + side : down.data();
        for (int row = 0; row < s.rows; ++row)
            relax(next + s.row(row), row > 0 ? now + s.row(row - 1) : first_up, now + s.row(row),
                  row + 1 < s.rows ? now + s.row(row + 1) : last_down, s.columns);

        // Until here neighbors read the rows of this step; from here on those of the next step.
        double const done = MPI_Wtime();
        plates.synchronize();
        halo += MPI_Wtime() - done;
        exchange_seconds += halo;
    }
    double const* rows = plates.plate(steps % 2);
    return {{rows, rows + plate}, MPI_Wtime() - start, exchange_seconds};
}

}   // namespace halo
