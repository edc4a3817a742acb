// SPDX-License-Identifier: BSD-3-Clause
// The specialisation of Messages (messages.hpp) for operations over several nodes: messages of p2p/, over shared memory
// or the network. Data is sent directly from the user's buffer if the part is a whole buffer or is contiguous, and
// received directly into its destination if that is contiguous.
#pragma once

#include <memory>

#include "coll/blocks/message_parts.hpp"
#include "coll/env/net_env.hpp"
#include "p2p/request.hpp"
#include "runtime/base/error.hpp"
#include "runtime/wait/task.hpp"

namespace tutti::coll {

/// An expected message; cancelled if the operation ends before it has arrived.
struct PendingReceive : InPool {
    explicit PendingReceive(NetEnv& e) : env(e) {}
    PendingReceive(PendingReceive const&) = delete;
    PendingReceive& operator=(PendingReceive const&) = delete;
    ~PendingReceive() {
        if (begun && op.completed.load(std::memory_order_relaxed) == 0) env.abandon(op);
    }
    /// Without `address`, the message is kept packed.
    void begin(void* address, std::size_t bytes, int from) {
        if (!address && bytes > 0) {
            op.packed = PooledBytes(env.frames(), bytes);
            address = op.packed.get();
        }
        op.data = p2p::Data::of_bytes(address, bytes);
        begun = true;
        env.begin(op, from);
    }
    /// Size of the message, which must have arrived; may exceed its buffer. Throws if the message can no longer arrive.
    std::size_t bytes() const {
        if (op.failed() && !op.truncated()) throw Error(op.status.error, p2p::describe_failure(op));
        return op.message_bytes;
    }
    NetEnv& env;
    Incoming op;
    bool begun = false;
};

/// Called after a failure: a send that the engine still holds is deleted when the engine has finished with it.
inline void delete_when_finished(std::unique_ptr<Outgoing> op) {
    if (!op || op->completed.load(std::memory_order_relaxed) != 0) return;
    op.release()->finished = [](p2p::Send& s) { delete &static_cast<Outgoing&>(s); };
}

/// Begins to send a message and appends it to `out`. The data is sent from the user's buffer, unless it must be
/// `copied` or is a piece of a buffer with gaps. A synchronous message does not leave before its receiver asks for it.
template <class List>
void begin_send(NetEnv& env, List& out, MessagePart const& part, int to, bool copied,
                p2p::Mode mode = p2p::Mode::standard) {
    FramePool& pool = env.process_frames();   // the send may complete after the operation
    Outgoing& op = *out.emplace_back(new (pool) Outgoing);
    op.mode = mode;
    ConstBuffer const& b = part.buffer;
    bool const dense = b.type->dense(b.count);
    if (part.bytes == 0) {
        op.data = p2p::Data::of_bytes(nullptr, 0);
    } else if (copied || (!dense && part.bytes < b.bytes())) {
        op.packed = PooledBytes(pool, part.bytes);
        env.load(op.packed.get(), b, part.at, part.bytes);
        op.data = p2p::Data::of_bytes(op.packed.get(), part.bytes);
    } else if (dense) {
        op.data = p2p::Data::of_bytes(first_byte(b) + part.at, part.bytes);
    } else {
        op.data = p2p::Data::of(b.address, b.count, *b.type);
    }
    env.begin(op, to);
}

/// Completes a send that is over. Throws if the message could not arrive.
inline void finish_send(std::unique_ptr<Outgoing> const op) {
    if (op->failure) throw Error(ErrorClass::other, *op->failure);
}

template <>
class Messages<NetEnv> {
public:
    /// Messages that must never be exposed in place (`direct` all ones) are copied before they are sent.
    Messages(NetEnv& env, MessageOptions const& options)
        : env_(env), copies_(options.direct == ~std::size_t{0}),
          max_posted_(options.piece / std::max<std::size_t>(1, options.grain) * options.grain), out_(env.frames()),
          sizes_(env.frames()) {}
    explicit Messages(NetEnv& env, std::size_t grain = 1) : Messages(env, MessageOptions{.grain = grain}) {}
    ~Messages() {
        for (auto& op : out_) delete_when_finished(std::move(op));
    }

    FramePool& frames() { return env_.frames(); }
    bool fits(std::size_t bytes) const { return bytes <= max_posted_; }

    Task send(int to, MessagePart part) {
        begin(to, part, copies_);
        co_await finish(to);
    }
    Task start(int to, MessagePart part) {
        begin(to, part, copies_);
        co_return;
    }
    Task post(int to, MessagePart part) {
        begin(to, part, true);
        co_return;
    }
    Task finish(int to) {
        for (std::size_t i = 0; i < out_.size(); ++i) {
            if (!out_[i] || out_[i]->to != to) continue;
            co_await env_.completion(*out_[i]);
            finish_send(std::move(out_[i]));
        }
        drop_finished();
    }

    template <class Use>
    Task receive(int from, std::size_t bytes, Use use) {
        PendingReceive in(env_);
        post_receive(in, from, bytes, use);
        co_await env_.completion(in.op, from);
        complete_receive(in, from, use);
    }

    template <class Use>
    Task exchange(int to, MessagePart part, int from, std::size_t bytes, Use use) {
        PendingReceive in(env_);
        if (copies_) begin(to, part, true);   // as in exchange_all
        post_receive(in, from, bytes, use);
        if (!copies_) begin(to, part, false);
        co_await env_.completion(in.op, from);
        complete_receive(in, from, use);
        co_await finish(to);
    }

    template <class Part, class Limit, class Use>
    Task exchange_all(std::span<int const> destinations, std::span<int const> sources, Part part, Limit limit,
                      Use use) {
        // Copies are made before anything may arrive, so that a buffer may be exchanged in place.
        if (copies_)
            for (int to : destinations) begin(to, part(to), true);
        PooledVector<std::unique_ptr<PendingReceive>> in(frames());
        in.reserve(sources.size());
        for (int from : sources)
            post_receive(*in.emplace_back(new (frames()) PendingReceive(env_)), from, limit(from), use(from));
        if (!copies_)
            for (int to : destinations) begin(to, part(to), false);
        for (std::size_t i = 0; i < in.size(); ++i) {
            co_await env_.completion(in[i]->op, sources[i]);
            complete_receive(*in[i], sources[i], use(sources[i]));
        }
        for (int to : destinations) co_await finish(to);
    }

    std::size_t received(int from) { return sizes_[from]; }

    using Into = IntoBuffer<NetEnv>;
    Into into(Buffer const& to, std::size_t position, std::size_t = 0) { return {&env_, to, position, 0}; }

    Task close() {
        for (std::size_t i = 0; i < out_.size(); ++i) {
            if (!out_[i]) continue;
            co_await env_.completion(*out_[i]);
            finish_send(std::move(out_[i]));
        }
    }

private:
    void begin(int to, MessagePart const& part, bool copied) { begin_send(env_, out_, part, to, copied); }

    template <class Use>
    void post_receive(PendingReceive& in, int from, std::size_t bytes, Use const& use) {
        std::byte* address = nullptr;
        if constexpr (std::is_same_v<Use, Into>) address = use.address();
        in.begin(address, bytes, from);
    }

    template <class Use>
    void complete_receive(PendingReceive& in, int from, Use& use) {
        sizes_[from] = in.bytes();
        std::byte const* const packed = in.op.packed.get();
        if (packed) use(packed, std::size_t{0}, in.op.status.bytes);
    }
    template <class Use>
    void complete_receive(PendingReceive& in, int from, Use const& use) {
        Use copy = use;
        complete_receive(in, from, copy);
    }

    void drop_finished() { std::erase(out_, nullptr); }

    NetEnv& env_;
    bool const copies_;
    std::size_t const max_posted_;
    PooledVector<std::unique_ptr<Outgoing>> out_;
    PeerMap<std::size_t> sizes_;   ///< size of the last message from a rank
};

}   // namespace tutti::coll
