// SPDX-License-Identifier: BSD-3-Clause
// The program's buffers of one operation that may have several, a collective or a one-sided one, while it is pending
// (MPI 4.1, 6.12 and 12.7): from its start until a call has completed it. Checks keeps them among the pending
// operations, as it keeps those of sends and receives.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "p2p/check/pending.hpp"

namespace tutti::p2p {

class OperationBuffers {
public:
    enum class Kind {
        collective,
        one_sided,
        fetching,   ///< one-sided, an accumulate with a result. Those may share one, as programs do that do not use it
    };

    /// `on`: the communicator or window, in words. `receives` are written to, or read and written to. Data without
    /// bytes is left out. The types must outlive the object.
    OperationBuffers(Kind kind, std::string on, std::vector<Data> sends, std::vector<Data> receives);

    /// Lets what the operation writes go to other memory until it has completed there, if the library knows of no
    /// reason against that. Once, before the first start. Returns what has to be added to each address in a receive
    /// buffer, in bytes, to reach the same place there; 0: the operation writes to the program's memory.
    std::ptrdiff_t lay_aside();

    bool is_one_sided() const { return kind_ != Kind::collective; }
    /// What a report says of one of them: "MPI_Iallreduce(4 MPI_INT, MPI_COMM_WORLD)".
    std::string words(Pending const& part) const;

private:
    friend class Checks;

    void copy_to_aside();
    void copy_from_aside();

    Kind const kind_;
    std::string const on_;
    std::vector<Data> sends_, receives_;
    std::unique_ptr<std::byte[]> aside_;           ///< null: nothing is laid aside
    std::ptrdiff_t to_aside_ = 0;                  ///< from the program's buffers to `aside_`
    std::vector<PendingOperations::Part> parts_;   ///< while it is pending: the sends, then the receives
};

}   // namespace tutti::p2p
