// SPDX-License-Identifier: BSD-3-Clause
// Writes a rank's trace. All of it is called by one thread at a time, inside the rank's lock. Nothing but the
// constructor throws: an event that refers to what there is no memory for is left out.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "runtime/base/error.hpp"
#include "runtime/trace/trace.hpp"

namespace tutti {

class Tracer {
public:
    /// `trace`, zeroed but for its room, outlives it.
    explicit Tracer(Trace& trace);

    /// An MPI call begins in this thread: its name (static storage) and return address.
    void enter(char const* call, void const* site);
    /// The last one that began in this thread is over.
    void leave();
    /// This thread's call has waited.
    void waited(std::int64_t nanoseconds);

    /// The time of something that a call begins with: that of its own begin, which is so near that the clock need not
    /// be asked again, as long as nothing has happened in it.
    std::int64_t time_of_begin();
    /// A message has left, at a time of now_ns(), for a rank of the world. Context, source (of the communicator) and
    /// tag are the message's.
    void sent(std::int64_t when, std::uint64_t context, int source, int tag, int world_dest, std::size_t bytes);
    /// A message has found its receive. `receive_first`: that had waited for it.
    void received(std::uint64_t context, int source, int tag, std::size_t bytes, bool receive_first);
    /// A collective operation begins. `words()` tells which, and by which algorithm: "bcast|numa+node|pipelined_chain";
    /// the same for the same `line`, which lives as long as the process.
    template <class Words>
    void collective(std::uint64_t context, int root, std::size_t bytes, void const* line, Words const& words) {
        unless_out_of_memory([&] {
            Text const text = text_of(line, [&] { return Text{new_text(words()), false}; });
            return begin_collective(context, root, bytes, text.number), true;
        });
    }
    /// There is a communicator, or it has another name. `members`: of the world, by rank.
    void communicator(std::uint64_t context, int rank, std::span<int const> members, std::string_view name);

private:
    struct Text {
        std::uint16_t number;
        bool local;   ///< a call that neither communicates nor waits: not traced
    };
    /// What was looked up last under the keys that share a place: programs do the same things again and again.
    template <class Key, class Value>
    struct Recent {
        Key key{};
        Value value{};
    };
    static constexpr unsigned place_bits = 6;
    template <class Key, class Value>
    using RecentOnes = std::array<Recent<Key, Value>, 1U << place_bits>;

    static std::size_t place_of(std::uint64_t key) { return key * 0x9e3779b97f4a7c15 >> (64 - place_bits); }
    /// `make()`: what is to be known of the words that lie at `key`, the first time.
    template <class Make>
    Text text_of(void const* key, Make const& make) {
        auto& recent = recent_texts_[place_of(reinterpret_cast<std::uintptr_t>(key))];
        if (recent.key != key) [[unlikely]] {
            auto const known = texts_.find(key);
            recent = {key, known != texts_.end() ? known->second : texts_.emplace(key, make()).first->second};
        }
        return recent.value;
    }

    void begin_collective(std::uint64_t context, int root, std::size_t bytes, std::uint16_t text);
    void message(TraceEvent event, std::uint64_t key, std::uint64_t context, int tag, std::size_t bytes);
    void describe(OpenCall& call, char const* name, void const* site);
    void add_communicator(std::uint64_t context, int rank, std::span<int const> members, std::string_view name);
    void add(TraceEvent const& event);
    OpenCall* open_call();
    std::int64_t count(std::uint64_t key);
    std::uint16_t new_text(std::string_view words);
    bool of_program(std::uint64_t address);
    std::uint64_t calling_place(std::uint64_t site);
    void read_maps();
    std::uint32_t thread_number();
    bool merged(OpenCall const& call, std::int64_t now);

    Trace& trace_;
    std::uint64_t events_ = 0;
    std::uint64_t next_ = 0;   ///< place of the next event in the ring
    unsigned open_calls_ = 0;
    OpenCall* newest_call_ = nullptr;   ///< the last one that has begun, over or not
    std::unordered_map<void const*, Text> texts_;
    RecentOnes<void const*, Text> recent_texts_{};
    std::unordered_map<std::uint64_t, std::int64_t> counts_;   ///< of messages and collectives, by a hash of their kind
    RecentOnes<std::uint64_t, std::int64_t*> recent_counts_{};
    std::unordered_map<std::uint64_t, std::uint32_t> comms_;   ///< by context: place in the trace
    std::vector<std::uintptr_t> threads_;
    std::uintptr_t last_thread_ = 0;   ///< of these, and its number
    std::uint32_t last_thread_number_ = 0;
    std::vector<std::pair<std::uint64_t, std::uint64_t>> code_;   ///< addresses of the program and its libraries
    std::unordered_set<std::uint64_t> unknown_;                   ///< addresses that are in none of them
    std::pair<std::uint64_t, std::uint64_t> last_code_{};
};

}   // namespace tutti
