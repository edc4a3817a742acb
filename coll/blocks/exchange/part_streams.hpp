// SPDX-License-Identifier: BSD-3-Clause
// Parts of an allgather that are not read where they lie: ranks that have them stream them through their staging
// memory, each stream for all of its readers together.
//
// In step k every rank first lays out piece k of its own stream, once all its readers have finished step k − 2, then
// reads piece k of the streams that it takes, and says so. Whoever is least far waits only for what others have done
// already, so somebody can always go on. Counters: ready[1] pieces laid out, ack[1] steps finished.
#pragma once

#include "coll/blocks/exchange/acknowledged.hpp"
#include "coll/blocks/exchange/movement.hpp"

namespace tutti::coll {

/// Parts first … end − 1, one after the other, from their `owner`'s buffers.
struct PartStream {
    int owner, first, end;
};

/// `Where` knows of parts: `entry(owner, part)` how long the owner's is and in what pieces it comes; source(part) and
/// target(part), this rank's own and where it belongs; truncation().
template <class Env, class Where>
class PartStreams {
public:
    PartStreams(Env& env, Where& where, Staging<Env>& staging) : env_(env), where_(where), staging_(staging) {}
    FramePool& frames() { return env_.frames(); }

    /// Lays out `out` for its readers, none of them this rank, and takes the streams of others.
    Task run(PartStream out, std::span<int const> readers, std::span<PartStream const> streams) {
        std::uint64_t const to_serve = readers.empty() ? 0 : pieces(out);
        std::uint64_t steps = to_serve;
        for (PartStream const& stream : streams) steps = std::max(steps, pieces(stream));
        for (std::uint64_t k = 0; k < steps; ++k) {
            if (k < to_serve) {
                if (k >= 2) co_await acknowledged(env_, readers, 1, k - 1);
                Piece const p = piece(out, k);
                env_.stage(staging_.buffer(k), where_.source(p.part), p.at, p.bytes);
                env_.ready(1, k + 1);
            }
            for (PartStream const& stream : streams) {
                if (k >= pieces(stream)) continue;
                co_await env_.until_ready(stream.owner, 1, k + 1);
                take(stream, k);
            }
            if (!streams.empty()) env_.ack(1, k + 1);
        }
        co_await acknowledged(env_, readers, 1, to_serve);
    }

private:
    struct Piece {
        int part;
        std::size_t at, bytes;
        Entry whole;
    };

    std::uint64_t pieces(PartStream const& stream) {
        std::uint64_t all = 0;
        for (int part = stream.first; part < stream.end; ++part) all += where_.entry(stream.owner, part).pieces();
        return all;
    }
    Piece piece(PartStream const& stream, std::uint64_t k) {
        int part = stream.first;
        while (k >= where_.entry(stream.owner, part).pieces()) k -= where_.entry(stream.owner, part++).pieces();
        Entry const e = where_.entry(stream.owner, part);
        std::size_t const at = k * e.piece;
        return {part, at, std::min<std::size_t>(e.piece, e.bytes - at), e};
    }
    void take(PartStream const& stream, std::uint64_t k) {
        Piece const p = piece(stream, k);
        if (p.part == env_.rank()) return;
        deliver(env_, where_.target(p.part), p.at, staging_.buffer(stream.owner, p.whole, k), p.bytes, p.whole.bytes,
                stream.owner, where_.truncation());
    }

    Env& env_;
    Where& where_;
    Staging<Env>& staging_;
};

/// Parts of an allgather of which every rank has the sizes, and its own where it belongs.
template <class Env>
struct KnownParts {
    Entry entry(int, int part) const { return staging.entry(args.parts[part].bytes(), 0, Place::stream); }
    Buffer source(int part) const { return args.parts[part]; }
    Buffer target(int part) const { return args.parts[part]; }
    Truncation& truncation() const { return too_long; }

    AllgatherArgs const& args;
    Staging<Env>& staging;
    Truncation& too_long;
};

}   // namespace tutti::coll
