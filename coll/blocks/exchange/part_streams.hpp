// SPDX-License-Identifier: BSD-3-Clause
// Parts of an allgather that could not be read where they lie: ranks that have them stream them through their staging
// memory, each stream for all of its readers together.
//
// In step k every rank first lays out piece k of its own stream, once all its readers have finished step k − 2, then
// reads piece k of the streams that it takes, and says so. Whoever is least far waits only for what others have done
// already, so somebody can always go on. Counters: ready[1] pieces laid out, ack[1] steps finished.
#pragma once

#include "coll/blocks/exchange/movement.hpp"

namespace tutti::coll {

template <class Env>
class PartStreams {
public:
    /// Parts first … end − 1, one after the other, from their `owner`'s buffers.
    struct Stream {
        int owner, first, end;
    };

    PartStreams(Env& env, AllgatherArgs const& a, Staging<Env>& staging) : env_(env), a_(a), staging_(staging) {}

    FramePool& frames() { return env_.frames(); }
    /// Lays out `out` for its readers, none of them this rank, and takes the streams of others.
    Task run(Stream out, std::span<int const> readers, std::span<Stream const> streams) {
        std::uint64_t const to_serve = readers.empty() ? 0 : pieces(out);
        std::uint64_t steps = to_serve;
        for (Stream const& stream : streams) steps = std::max(steps, pieces(stream));
        for (std::uint64_t k = 0; k < steps; ++k) {
            if (k < to_serve) {
                for (int reader : readers)
                    if (k >= 2) co_await env_.until_ack(reader, 1, k - 1);
                Piece const p = piece(out, k);
                env_.stage(staging_.buffer(k), a_.parts[p.part], p.at, p.bytes);
                env_.ready(1, k + 1);
            }
            for (Stream const& stream : streams) {
                if (k >= pieces(stream)) continue;
                co_await env_.until_ready(stream.owner, 1, k + 1);
                take(stream, k);
            }
            if (!streams.empty()) env_.ack(1, k + 1);
        }
        for (int reader : readers)
            if (to_serve > 0) co_await env_.until_ack(reader, 1, to_serve);
    }

private:
    struct Piece {
        int part;
        std::size_t at, bytes;
    };

    std::uint64_t pieces(int part) const { return (a_.parts[part].bytes() + staging_.piece() - 1) / staging_.piece(); }
    std::uint64_t pieces(Stream const& stream) const {
        std::uint64_t all = 0;
        for (int part = stream.first; part < stream.end; ++part) all += pieces(part);
        return all;
    }
    Piece piece(Stream const& stream, std::uint64_t k) const {
        int part = stream.first;
        for (; k >= pieces(part); ++part) k -= pieces(part);
        std::size_t const at = k * staging_.piece();
        return {part, at, std::min(staging_.piece(), a_.parts[part].bytes() - at)};
    }
    void take(Stream const& stream, std::uint64_t k) {
        Piece const p = piece(stream, k);
        if (p.part == env_.rank()) return;
        Entry const there = staging_.entry(p.bytes, 0, Place::stream);
        env_.store(a_.parts[p.part], p.at, staging_.buffer(stream.owner, there, k), p.bytes);
    }

    Env& env_;
    AllgatherArgs const& a_;
    Staging<Env>& staging_;
};

}  // namespace tutti::coll
