// SPDX-License-Identifier: BSD-3-Clause
// The buffers of one pending operation of the program that may have several: a collective or a one-sided operation (MPI
// 4.1, 6.12 and 12.7). An operation is pending from its start until a call has completed it. Checks keeps the buffers
// with those of pending sends and receives.
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
        /// One-sided accumulate with a result. Several may share a result buffer, as in programs that ignore results.
        fetching,
    };

    /// `owner`: description of the communicator or window. `receives`: buffers that are written, or read and written.
    /// Data without bytes is ignored. The types must stay valid as long as the object.
    OperationBuffers(Kind kind, std::string owner, std::vector<Data> sends, std::vector<Data> receives);

    /// Redirects the writes of the operation to other memory until it has completed there, unless its buffers are too
    /// far apart or too large. Must be called at most once, before the first start. Returns the number of bytes to add
    /// to an address in a receive buffer to obtain the address in that memory. 0: the operation writes to the program's
    /// memory.
    std::ptrdiff_t redirect_receives();

    bool is_one_sided() const { return kind_ != Kind::collective; }
    /// Describes the operation in reports about one of its buffers: "MPI_Iallreduce(4 MPI_INT, MPI_COMM_WORLD)".
    std::string describe(Pending const& part) const;

private:
    friend class Checks;

    void copy_to_staging();
    void copy_from_staging();

    Kind const kind_;
    std::string const owner_;
    std::vector<Data> sends_, receives_;
    std::unique_ptr<std::byte[]> staging_;         ///< null: not redirected
    std::ptrdiff_t staging_offset_ = 0;            ///< offset from the program's buffers to `staging_`
    std::vector<PendingOperations::Part> parts_;   ///< while the operation is pending: the sends, then the receives
};

}   // namespace tutti::p2p
