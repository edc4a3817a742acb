// SPDX-License-Identifier: BSD-3-Clause
// What a rank publishes about its MPI calls in the node segment, for the launcher: blocked calls, diagnostics, the
// message of an abort, and busy polling.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>

#include "runtime/base/flag.hpp"

namespace tutti {

// Texts in fields of fixed size, zero-terminated.

/// Writes `text` to a field, without the part that does not fit.
template <std::size_t N>
void write_text(char (&field)[N], std::string_view text) {
    std::size_t const length = std::min(text.size(), N - 1);
    std::memcpy(field, text.data(), length);
    field[length] = 0;
}

/// Returns the text in a field written by another process: up to the terminating zero, or the whole field.
template <std::size_t N>
std::string text_in(char const (&field)[N]) {
    return {field, strnlen(field, N)};
}

/// What a blocked call waits for.
enum class CallKind : std::uint32_t {
    other,
    send,            ///< a send in any mode but the standard one
    standard_send,   ///< a send in standard mode, which waits for its receive only if the message is large
    receive,
    probe,
    messages,   ///< sends and receives: one of several requests
    collective,
    rma,
};

/// Returns true for sends, receives and probes.
constexpr bool is_message(CallKind kind) { return kind >= CallKind::send && kind <= CallKind::messages; }

/// An MPI call of the program, as a rank publishes it. Readers may not trust the contents: the rank may be writing
/// them, or may have overwritten them by an error.
struct PublishedCall {
    static constexpr std::size_t max_addresses = 8;

    CallKind kind;                        ///< of a blocked call; `other` in all other records
    std::uint32_t addresses;              ///< valid entries of `stack`
    std::uint64_t stack[max_addresses];   ///< return addresses in the program, innermost first: of the MPI
                                          ///< call, of the call of the function that made it, and so on
    char text[256];                       ///< the call with its arguments as the program names them, or the name alone
    char script[160];                     ///< "ring.py:12 in pass()": the location according to the program's
                                          ///< interpreter; empty: not interpreted, or unknown

    void write(CallKind what, std::string_view call, std::span<std::uint64_t const> return_addresses,
               std::string_view location) {
        kind = what;
        addresses = static_cast<std::uint32_t>(std::min(return_addresses.size(), max_addresses));
        std::copy_n(return_addresses.begin(), addresses, stack);
        write_text(text, call);
        write_text(script, location);
    }
    /// Returns the valid part of `stack`.
    std::span<std::uint64_t const> return_addresses() const {
        return std::span(stack).first(std::min<std::size_t>(addresses, max_addresses));
    }
};

/// An error of the program, as a rank publishes it.
struct PublishedError {
    char code[40];         ///< "T03", "MPI_ERR_RANK", "MPI_Abort"; empty: none, or not certain
    char headline[1024];   ///< in the record of a blocked call, continues the line "rank 1 "
    char help[512];        ///< what to do; empty: the explanation of the code by `mpiexec --explain`

    void write(std::string_view with_code, std::string_view with_headline, std::string_view with_help) {
        write_text(code, with_code);
        write_text(headline, with_headline);
        write_text(help, with_help);
    }
};

// Sets of ranks as three numbers, as in MPI_Group_range_incl.
/// The ranks first, first + stride, … up to last; `last` itself need not be a member.
struct RankRange {
    int first = 0, last = 0, stride = 1;

    /// A stride below 1, which can only come from another process' memory, counts as 1.
    bool contains(int rank) const {
        return first <= rank && rank <= last && (rank - first) % (stride < 1 ? 1 : stride) == 0;
    }
    bool operator==(RankRange const&) const = default;
};

// Description of a rank that has been blocked for a while: the call, its location in the program, and the ranks whose
// actions would release it. The rank writes it; the launcher reads it to decide whether ranks are deadlocked (the
// argument is in launcher/diagnosis/proof.md).
//
// One writer, any number of readers: `changes` is odd while the record is valid. The writer makes it odd after
// writing the record and even before modifying any of it, so data read between two reads of the same odd value is
// consistent; readers discard anything else.

/// What would release a blocked rank.
enum class Awaiting : std::uint32_t {
    unknown,   ///< unknown event, such as the user's own completion of a generalized request
    all,       ///< an action of every awaited rank; naming one of several is enough, as each is necessary
    any,       ///< an action of any awaited rank
};

/// Bytes of messages between a rank and suspected ranks of other nodes (Segment::suspected).
struct NetworkBytes {
    std::uint64_t sent = 0;       ///< includes bytes that will be sent without an action of any rank
    std::uint64_t received = 0;   ///< received and processed
};

/// What one thread of the rank waits for.
struct BlockedThread {
    static constexpr std::size_t max_ranges = 48;

    Awaiting awaiting;
    std::uint32_t ranges;            ///< valid entries of `awaited`
    std::uint32_t further_ranges;    ///< further entries behind them: ranks whose actions would advance something
                                     ///< here that other ranks may wait for; those of the first thread hold for
                                     ///< all threads
    RankRange awaited[max_ranges];   ///< in MPI_COMM_WORLD
    PublishedCall call;
    PublishedError error;        ///< that the rank itself has detected, for example a message with another tag
    std::int32_t waiting_rank;   ///< a rank that would wait because of it; −1: the error holds in any case
};

struct alignas(cache_line) Blocked {
    static constexpr std::size_t max_threads = 8;

    std::atomic<std::uint64_t> changes;          ///< odd: everything after `received` is valid
    std::atomic<std::uint64_t> answered_query;   ///< the last query (SegmentHeader::queries) after which the rank has
                                                 ///< polled everything that may have arrived, without progress
    std::atomic<std::uint64_t> progress_count;   ///< how often anything advanced while this rank waited or polled
    std::atomic<std::uint64_t> sent;             ///< NetworkBytes at the time of that answer
    std::atomic<std::uint64_t> received;

    /// Valid entries of `thread`, at least one. If other threads exist that could act, or that do not fit in here,
    /// what the listed ones wait for is unknown.
    std::uint32_t threads;
    BlockedThread thread[max_threads];
};

// A usage error that the rank's library has detected, for the launcher to report: mpiexec prints the headline, one
// line per location, and what to do. The launcher translates addresses into source lines.
//
// The rank fills the record while `kind` is `none` and stores `kind` last. An error stays, and the launcher ends
// the rank. A warning belongs to the launcher, which reads it and resets `kind` to `none`; a rank whose warning is
// not read in time withdraws it by an atomic exchange, so that exactly one of the two reports it. Where the watchdog
// replaces the launcher (runtime/job/watchdog.hpp), a rank that has warned requests by `print_warnings`, at its end,
// that the warnings be printed, and waits for that in the same way.

struct Diagnostic {
    static constexpr std::size_t max_locations = 4;

    /// One rank's part in the error.
    struct Location {
        std::int32_t rank;    ///< in MPI_COMM_WORLD
        PublishedCall call;   ///< "MPI_Bcast(4 MPI_INT, root 0, MPI_COMM_WORLD)"
        char remark[128];     ///< "arrived, never received"; usually empty
    };

    enum class Kind : std::uint32_t { none, error, warning, print_warnings };

    std::atomic<Kind> kind;
    PublishedError error;
    std::uint32_t locations;
    Location location[max_locations];
};

// The message with which a rank's library ends the job, and its location. The rank writes it; the launcher reads it
// and translates the addresses into source lines while the process still exists.

struct AbortMessage {
    enum State : std::uint32_t {
        none,
        written,   ///< the rest is written and final; the message is on standard error as well, or will be soon
        read,      ///< the launcher has read everything and no longer needs the process
    };

    std::atomic<State> state;
    PublishedError error;   ///< its headline is the message; a longer message is not stored
    PublishedCall call;     ///< without text: none
};

// A rank that polls repeatedly without progress, by MPI_Test or MPI_Iprobe. Such a rank may do other work between its
// polls, so this record proves nothing.
//
// One writer, any number of readers, as for Blocked: the record is consistent while `changes` is odd.

struct BusyPoll {
    std::atomic<std::uint64_t> changes;
    std::atomic<std::int64_t> since, last;   ///< now_ns() at the first and the latest record since anything advanced
    std::uint64_t progress_count;            ///< value of Blocked::progress_count during all that time
    PublishedCall call;
};

}   // namespace tutti
