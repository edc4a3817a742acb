// SPDX-License-Identifier: BSD-3-Clause
// Allgather(v): every rank says where its part lies and gets everybody else's, from rank + 1 on. Small parts travel in
// the slots and nobody waits for their readers; large ones in one piece are read from their owners' memory; the rest is
// laid out once in the owner's staging memory, or streamed through it, for all readers together.
// p − 1 steps. Bytes per rank: n in and (p − 1) n out for small parts, (p − 1) n for large ones.
//
// Streams: in step k each rank first lays out piece k of its own part, once all readers have piece k − 2, then reads
// piece k of the others'. Whoever is least far waits only for what others have done already, so somebody can always go
// on.
#include "coll/algorithm.hpp"
#include "coll/movement.hpp"

namespace tutti::coll::algorithms::allgather {
namespace {

template <class Env>
class Gathering {
public:
    Gathering(Env& env, AllgatherArgs const& args)
        : env_(env), args_(args), mine_(args.is_in_place ? args.parts[env.rank()] : args.mine),
          limits_(Limits::of(args)), staging_(env, limits_.piece) {}

    FramePool& frames() { return env_.frames(); }
    bool unfinished() const { return table_ || left_; }
    Truncation& truncation() { return truncation_; }

    void post();
    void take_own() {
        deliver_own(env_, args_.parts[env_.rank()], mine_, working_set(mine_.bytes()), truncation_);
    }
    void take(int peer);
    Task finish();

private:
    Entry& my_entry() { return *reinterpret_cast<Entry*>(env_.slot(env_.slot_bytes())); }
    Entry const& entry(int peer) { return *reinterpret_cast<Entry const*>(env_.slot(peer, env_.slot_bytes())); }
    Task serve(std::uint64_t k);
    Task read(int peer, std::uint64_t k);
    /// Everybody writes everybody's part.
    std::size_t working_set(std::size_t part) const {
        auto const p = static_cast<std::size_t>(env_.size());
        return part * p * (p + 1);
    }
    /// Does this peer read my part as a stream? Known once it has answered.
    bool reads_stream(int peer) { return my_entry().place == Place::stream || env_.taken_by(peer) >= refused; }

    Env& env_;
    AllgatherArgs const& args_;
    Buffer const mine_;
    Limits const limits_;
    Staging<Env> staging_;
    Truncation truncation_;
    bool table_ = false, left_ = false;
    std::vector<int> streams_;      ///< peers whose part comes to me as a stream
};

template <class Env>
void Gathering<Env>::post() {
    std::size_t const n = mine_.bytes();
    if (n <= env_.slot_bytes()) {
        Env::load(env_.slot(n), mine_, 0, n);
        env_.publish(1 + n);
        return;
    }
    table_ = true;
    env_.expose_staged();
    my_entry() = staging_.lay_out(mine_, limits_);
    env_.publish(table_step);
}

template <class Env>
void Gathering<Env>::take(int peer) {
    Buffer const to = args_.parts[peer];
    std::size_t const n = env_.published(peer) - 1;
    if (n + 1 != table_step) return deliver<Env>(to, 0, env_.slot(peer, n), n, n, peer, truncation_);
    Entry const& e = entry(peer);
    if (e.place == Place::stream) {
        streams_.push_back(peer);
        left_ = true;
    } else if (e.place == Place::staging) {
        deliver<Env>(to, 0, staging_.laid_out(peer, e.at), e.bytes, e.bytes, peer, truncation_);
        env_.taken(peer, has_all);
    } else if (fetch_part(env_, peer, e, to, staging_.bounce(), working_set(e.bytes), truncation_)) {
        env_.taken(peer, has_all);
    } else {
        streams_.push_back(peer);
        left_ = true;
        env_.taken(peer, refused);
    }
}

template <class Env>
Task Gathering<Env>::serve(std::uint64_t k) {
    Entry const& e = my_entry();
    for (int peer = 0; k >= 2 && peer < env_.size(); ++peer)
        if (peer != env_.rank() && reads_stream(peer)) co_await env_.until_taken(peer, refused + k - 1);
    std::size_t const at = k * e.piece;
    Env::load(staging_.buffer(k), mine_, at, std::min<std::size_t>(e.piece, e.bytes - at));
    env_.ready(0, k + 1);
}

template <class Env>
Task Gathering<Env>::read(int peer, std::uint64_t k) {
    co_await env_.until_ready(peer, 0, k + 1);
    Entry const& e = entry(peer);
    std::size_t const at = k * e.piece;
    deliver<Env>(args_.parts[peer], at, staging_.buffer(peer, e, k), std::min<std::size_t>(e.piece, e.bytes - at),
                 e.bytes, peer, truncation_);
    env_.taken(peer, refused + k + 1);
}

template <class Env>
Task Gathering<Env>::finish() {
    std::uint64_t to_serve = 0, steps = 0;
    for (int peer = 0; table_ && peer < env_.size(); ++peer) {
        if (peer == env_.rank()) continue;
        if (my_entry().place != Place::stream) co_await env_.until_taken(peer, has_all);
        if (reads_stream(peer)) to_serve = my_entry().pieces();
    }
    for (int peer : streams_) steps = std::max(steps, entry(peer).pieces());
    for (std::uint64_t k = 0; k < std::max(steps, to_serve); ++k) {
        if (k < to_serve) co_await serve(k);
        for (int peer : streams_)
            if (k < entry(peer).pieces()) co_await read(peer, k);
    }
    for (int peer = 0; to_serve > 0 && peer < env_.size(); ++peer)
        if (peer != env_.rank() && reads_stream(peer)) co_await env_.until_taken(peer, refused + to_serve);
}

template <class Env>
Task receiver_reading(Env& env, AllgatherArgs const& a) {
    int const rank = env.rank();
    Gathering<Env> g(env, a);
    g.post();
    if (!a.is_in_place) g.take_own();
    for (int i = 1, peer = rank; i < env.size(); ++i) {
        if (++peer == env.size()) peer = 0;
        co_await env.until(peer);
        g.take(peer);
    }
    if (g.unfinished()) co_await g.finish();
    g.truncation().check();
}

}  // namespace

constinit const Algorithm<AllgatherArgs> receiver_reading_algorithm = {
    "receiver_reading", "small parts in slots, large ones read by everybody from their owners", "Tutti", needs_nothing,
    movement_parameters, TUTTI_RUNS(receiver_reading)};

}  // namespace tutti::coll::algorithms::allgather
