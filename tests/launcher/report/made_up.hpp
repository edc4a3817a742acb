// SPDX-License-Identifier: BSD-3-Clause
// An artificial recording: calls of ranks in MPI_COMM_WORLD, with times in nanoseconds. The calls of each rank must be
// added in the order of their ends.
#pragma once

#include <algorithm>
#include <array>
#include <map>
#include <numeric>
#include <string>

#include "launcher/report/timeline.hpp"

namespace tutti::launcher {

class SyntheticRecording {
public:
    explicit SyntheticRecording(int ranks) {
        std::vector<int> all(static_cast<std::size_t>(ranks));
        std::iota(all.begin(), all.end(), 0);
        for (int rank : all) {
            RankRecording one;
            one.rank = rank;
            one.ended = 100'000;
            one.texts = {"?"};
            one.comms = {{1, "MPI_COMM_WORLD", all, ranks, rank}};
            recording.ranks.push_back(std::move(one));
        }
    }

    void call(int rank, std::int64_t begin, std::int64_t end, std::string const& name, std::int64_t waited = 0) {
        TraceEvent e;
        e.kind = TraceKind::call;
        e.time = begin;
        e.amount = end - begin;
        e.waited = waited;
        e.text = text(rank, name);
        e.where = place(rank, e.text, name);
        e.tag = 1;
        add(rank, e);
    }
    /// The message is sent just after the begin of the call.
    void send(int rank, std::int64_t begin, std::int64_t end, int to, int tag, std::int64_t bytes,
              std::int64_t waited = 0, std::string const& name = "MPI_Send") {
        TraceEvent e = message(TraceKind::sent, begin + 1, to, tag, bytes);
        e.waited = sent_[{rank, to, tag}]++;
        add(rank, e);
        call(rank, begin, end, name, waited);
    }
    /// The message is matched just before the end of the call, or at its begin if it had arrived before.
    void receive(int rank, std::int64_t begin, std::int64_t end, int from, int tag, std::int64_t bytes,
                 std::int64_t waited = 0, bool receive_first = true) {
        TraceEvent e = message(TraceKind::received, receive_first ? end - 1 : begin + 1, from, tag, bytes);
        e.waited = received_[{from, rank, tag}]++;
        e.flags = receive_first ? TraceEvent::receive_first : 0;
        add(rank, e);
        call(rank, begin, end, "MPI_Recv", waited);
    }
    void collective(int rank, std::int64_t begin, std::int64_t end, std::string const& what, int root,
                    std::int64_t waited) {
        TraceEvent e = message(TraceKind::collective, begin, root, 0, 8);
        e.waited = collectives_[rank]++;
        e.text = text(rank, what);
        add(rank, e);
        call(rank, begin, end, "MPI_" + what.substr(0, what.find('|')), waited);
    }
    void unfinished(int rank, std::int64_t begin, std::string const& name, std::string const& shown) {
        std::uint16_t const number = text(rank, name);
        of(rank).unfinished.push_back({begin, place(rank, number, name), number, 0, shown});
    }

    Timeline timeline() const { return timeline_of(recording); }

    Recording recording;

private:
    using Ends = std::array<int, 3>;

    RankRecording& of(int rank) { return recording.ranks.at(static_cast<std::size_t>(rank)); }
    void add(int rank, TraceEvent const& e) { of(rank).events.push_back(e); }
    static TraceEvent message(TraceKind kind, std::int64_t time, int peer, int tag, std::int64_t bytes) {
        TraceEvent e;
        e.kind = kind;
        e.time = time;
        e.amount = bytes;
        e.where = 1;
        e.peer = peer;
        e.tag = tag;
        return e;
    }
    std::uint16_t text(int rank, std::string const& words) {
        std::vector<std::string>& texts = of(rank).texts;
        auto const found = std::ranges::find(texts, words);
        if (found != texts.end()) return static_cast<std::uint16_t>(found - texts.begin());
        texts.push_back(words);
        return static_cast<std::uint16_t>(texts.size() - 1);
    }
    std::uint64_t place(int rank, std::uint16_t number, std::string const& name) {
        std::pair<std::uint64_t, std::string> const there{number, "line of " + name};
        auto& places = of(rank).source_lines;
        if (std::ranges::find(places, there) == places.end()) places.push_back(there);
        std::ranges::sort(places);
        return number;
    }

    std::map<Ends, std::int64_t> sent_, received_;
    std::map<int, std::int64_t> collectives_;
};

}   // namespace tutti::launcher
