// SPDX-License-Identifier: BSD-3-Clause
// The buffer of buffered sends and the sends whose data lies in it (MPI 3.1, 3.6): one buffer of the process and
// optionally one of each communicator (MPI 4.1, 3.6). The bookkeeping is stored outside the buffer; each message still
// occupies MPI_BSEND_OVERHEAD bytes more than its data, as the standard lets users compute the size. An automatic
// buffer uses no memory of the program: memory is allocated for each message. In an attached buffer, a message takes
// the first gap that is large enough.
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

    /// The send of a copy of the program's data.
    struct Copy : Send {
        /// The send operation of the request, as long as that may be cancelled. When the copy is done, its result is
        /// stored there and `original->finished` is called. Must stay valid as long as the copy, or be set to
        /// null. Null: no request needs the result.
        Send* original = nullptr;

    private:
        friend class SendBuffer;
        SendBuffer* owner_ = nullptr;
        std::size_t begin_ = 0, end_ = 0;        ///< range in the buffer; automatic: `number_`
        std::uint64_t number_ = 0;               ///< counts the sends in the order in which they began
        std::unique_ptr<std::byte[]> storage_;   ///< automatic: the data
    };

    /// Attaches memory of the program, which must stay valid until detach(). Throws Error(buffer) if a buffer is
    /// already attached.
    void attach(void* memory, std::size_t bytes);
    /// Attaches an automatic buffer, which has no size limit: memory is allocated for each message.
    void attach_automatic();
    /// Detaches the buffer and returns its address and size, {nullptr, 0} for an automatic one. Must be idle. Throws
    /// Error(buffer) if no buffer is attached.
    std::pair<void*, std::size_t> detach();

    /// Returns the send of a copy of `from`'s data; the copy occupies the buffer until that send is done. Throws
    /// Error(buffer) with an explanation if there is not enough space.
    Copy& copy(Send const& from);
    bool idle() const { return sends_.empty(); }
    bool attached() const { return memory_ || automatic_; }
    bool automatic() const { return automatic_; }

    /// Registers `flush`, which completes when all sends that are in the buffer now have left it.
    void add_flush(FlushRequest& flush);

private:
    static void finished(Send& op);
    Copy& insert(Send const& from, std::size_t begin, std::size_t end, std::byte* data);
    void notify_flushes();

    std::byte* memory_ = nullptr;
    std::size_t bytes_ = 0;
    bool automatic_ = false;
    std::uint64_t next_number_ = 0;
    std::map<std::size_t, std::unique_ptr<Copy>> sends_;             ///< by start in the buffer; automatic: by number
    std::vector<std::pair<std::uint64_t, FlushRequest*>> flushes_;   ///< with the first number not waited for
};

/// The buffers of one rank. Communicators are identified by their context.
class SendBuffers {
public:
    /// The buffer of the process, for communicators without a buffer of their own.
    SendBuffer& process_buffer() { return process_buffer_; }
    /// The buffer of a communicator, attached or not; created at the first call.
    SendBuffer& comm_buffer(std::uint64_t context);
    /// The buffer that buffered sends on a communicator use.
    SendBuffer& buffer_for(std::uint64_t context) {
        auto const found = comm_buffers_.empty() ? comm_buffers_.end() : comm_buffers_.find(context);
        return found != comm_buffers_.end() && found->second->attached() ? *found->second : process_buffer_;
    }
    /// Called when a communicator is freed: its own buffer is destroyed once the sends in it have left.
    void release(std::uint64_t context);
    bool idle() const;

private:
    SendBuffer process_buffer_;
    std::map<std::uint64_t, std::unique_ptr<SendBuffer>> comm_buffers_;
    std::vector<std::unique_ptr<SendBuffer>> draining_;   ///< buffers of freed communicators
};

}   // namespace tutti::p2p
