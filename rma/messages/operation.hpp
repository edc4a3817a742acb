// SPDX-License-Identifier: BSD-3-Clause
// What is under way for an origin and for a target, as operations of p2p that go when they are done.
#pragma once

#include "rma/messages/messages.hpp"
#include "runtime/base/error.hpp"
#include "runtime/wait/pooled.hpp"

namespace tutti::rma {

/// Of MPI_Rput and its like: complete when everything that it counts is.
class Messages::OperationRequest final : public OneSidedRequest {
public:
    explicit OperationRequest(Window& window) : window_(window) { comm = window.comm; }

    void advance() override { p2p::engine(window_.process).poll(); }
    void begun() { ++parts_; }
    void ended(std::string const* failure) {
        complete = --parts_ == 0;
        if (!failure) return;
        status.error = ErrorClass::other;
        if (!unless_out_of_memory([&] { return error_text = *failure, true; }))
            error_text = "no memory";   // so short that it takes none
    }

private:
    Window& window_;
    unsigned parts_ = 1;   ///< with the call that makes it
};

/// Data of an origin, in a message of its own.
struct Messages::DataOut final : Sending, InPool {
    Peer* to = nullptr;
    Ref<Datatype> type;   ///< while the layout is needed
    Ref<OperationRequest> request;
    std::vector<std::byte> own;
};

/// What an origin waits for: the data of one command or of several, or only the word that all is done.
struct Messages::Answer final : p2p::Receive, InPool {
    struct Part {
        p2p::Data into;
        std::size_t position, bytes;   ///< in the packed elements
        Ref<Datatype> type;            ///< while the layout is needed
        Ref<OperationRequest> request;
    };
    Messages* owner = nullptr;
    Peer* from = nullptr;
    std::uint32_t number = 0;
    std::vector<Part> parts;
    std::size_t bytes = 0;
    bool direct = false;          ///< it goes straight to where it belongs
    std::vector<std::byte> own;   ///< else it comes here

    /// One more part. Throws std::bad_alloc: there is none.
    void expect(Part part);
};

/// What a target answers.
struct Messages::Reply final : Sending, InPool {
    Messages* owner = nullptr;
    Peer* to = nullptr;   ///< that it counts for as leaving; else null
    std::vector<std::byte> own;
};

/// Data that comes to a target in a message of its own.
struct Messages::DataIn final : p2p::Receive, InPool {
    Messages* owner = nullptr;
    Peer* from = nullptr;
    Waiting* waiting = nullptr;   ///< whose data it is; null: it is put into the window
    TypedMemory elements{};       ///< where a piece of a put goes from `own`, unless it has no gaps
    std::shared_ptr<RemoteType const> type;
    std::size_t position = 0;
    std::vector<std::byte> own;
};

}   // namespace tutti::rma
