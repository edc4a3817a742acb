// SPDX-License-Identifier: BSD-3-Clause
// The buffer of MPI_Buffer_attach and the sends that lie in it (MPI 3.1, 3.6). Bookkeeping is kept outside; each
// message still costs MPI_BSEND_OVERHEAD bytes more than its data, as the standard has users reckon.
#pragma once

#include <cstddef>
#include <map>
#include <memory>

#include "p2p/operation.hpp"

namespace tutti::p2p {

class SendBuffer {
public:
    static constexpr std::size_t overhead = 96;   ///< MPI_BSEND_OVERHEAD of the ABI; checked in mpi_h/

    /// Throws Error(buffer) when there is one already.
    void attach(void* memory, std::size_t bytes);
    /// Forgets the buffer and tells what it was. Only when idle. Throws Error(buffer) when there is none.
    std::pair<void*, std::size_t> detach();

    /// A send of a copy of `from`'s data, which lies in the buffer until it is done. Throws Error(buffer) with a
    /// sentence when the room does not suffice.
    Send& copy(Send const& from);
    bool idle() const { return sends_.empty(); }
    bool attached() const { return memory_ != nullptr; }

private:
    struct Copy : Send {
        SendBuffer* owner = nullptr;
        std::size_t end = 0;
    };
    static void finished(Send& op);

    std::byte* memory_ = nullptr;
    std::size_t bytes_ = 0;
    std::map<std::size_t, std::unique_ptr<Copy>> sends_;   ///< by where they begin in the buffer
};

}  // namespace tutti::p2p
