// SPDX-License-Identifier: BSD-3-Clause
// A buffer of buffered sends and the sends that lie in it (MPI 3.1, 3.6): the process's, or a communicator's own (MPI
// 4.1, 3.6). Bookkeeping is kept outside; each message still costs MPI_BSEND_OVERHEAD bytes more than its data, as the
// standard has users reckon. An automatic buffer has no memory of the program's: each message gets some of its own.
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "p2p/matching/operation.hpp"

namespace tutti::p2p {

class FlushRequest;

class SendBuffer {
public:
    static constexpr std::size_t overhead = 96;   ///< MPI_BSEND_OVERHEAD of the ABI; checked in mpi_h/

    /// A send of a copy of the program's data.
    struct Copy : Send {
        /// The send of a request that may still be cancelled: it learns how the copy ended, and its `finished` is
        /// called. Outlives the copy, or is taken away. Null: nobody asks any more.
        Send* original = nullptr;

    private:
        friend class SendBuffer;
        SendBuffer* owner_ = nullptr;
        std::size_t begin_ = 0, end_ = 0;    ///< in the buffer; automatic: its number
        std::uint64_t number_ = 0;           ///< in order of their beginning
        std::unique_ptr<std::byte[]> own_;   ///< automatic: its data
    };

    /// Throws Error(buffer) when there is one already.
    void attach(void* memory, std::size_t bytes);
    /// The same without bounds: memory is found for each message.
    void attach_automatic();
    /// Forgets the buffer and tells what it was; an automatic one was {nullptr, 0}. Only when idle. Throws
    /// Error(buffer) when there is none.
    std::pair<void*, std::size_t> detach();

    /// A send of a copy of `from`'s data, which lies in the buffer until it is done. Throws Error(buffer) with a
    /// sentence when the room does not suffice.
    Copy& copy(Send const& from);
    bool idle() const { return sends_.empty(); }
    bool attached() const { return memory_ || automatic_; }
    bool automatic() const { return automatic_; }

    /// `flush` completes when all sends that are in the buffer now have left it.
    void tell(FlushRequest& flush);

private:
    static void finished(Send& op);
    Copy& place(Send const& from, std::size_t begin, std::size_t end, std::byte* data);
    void tell_flushes();

    std::byte* memory_ = nullptr;
    std::size_t bytes_ = 0;
    bool automatic_ = false;
    std::uint64_t next_number_ = 0;
    std::map<std::size_t, std::unique_ptr<Copy>> sends_;   ///< by where they begin in the buffer; automatic: by number
    std::vector<std::pair<std::uint64_t, FlushRequest*>> flushes_;   ///< and the first number that they do not wait for
};

/// The buffers of one rank. Contexts name communicators.
class SendBuffers {
public:
    /// The process's own: for communicators without one.
    SendBuffer& common() { return common_; }
    /// A communicator's own, attached or not; made when first asked for.
    SendBuffer& own(std::uint64_t context);
    /// Where buffered sends of a communicator are kept.
    SendBuffer& of(std::uint64_t context) {
        auto const found = own_.empty() ? own_.end() : own_.find(context);
        return found != own_.end() && found->second->attached() ? *found->second : common_;
    }
    /// A communicator has been freed: its own buffer goes once the sends in it have left.
    void forget(std::uint64_t context);
    bool idle() const;

private:
    SendBuffer common_;
    std::map<std::uint64_t, std::unique_ptr<SendBuffer>> own_;
    std::vector<std::unique_ptr<SendBuffer>> leaving_;   ///< of freed communicators
};

}   // namespace tutti::p2p
