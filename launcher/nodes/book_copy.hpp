// SPDX-License-Identifier: BSD-3-Clause
// What a rank of another node has counted, as it travels to mpiexec for --stats.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "launcher/statistics.hpp"

namespace tutti::launcher {

struct BookCopy {
    int rank = 0;
    Card card{};       ///< only its counters
    Ledger ledger{};

    Book book() const { return {rank, &card, &ledger}; }
};

/// `now`: the end of a rank that has not called MPI_Finalize; clocks of other nodes mean nothing there.
std::string packed_book(Book const& book, std::uint64_t now);
/// Throws Error when it is not what packed_book has made.
std::unique_ptr<BookCopy> copy_of_book(std::string_view bytes);

}  // namespace tutti::launcher
