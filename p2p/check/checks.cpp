// SPDX-License-Identifier: BSD-3-Clause
// The checks of sends, receives and communicators, and the digests of buffers.
#include "p2p/check/checks.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <utility>

#include "runtime/base/error.hpp"
#include "runtime/state/call_site.hpp"

namespace tutti::p2p {
namespace {

constexpr std::size_t least_looked_at = 4096;   // smaller receives are not checked for mapped memory
constexpr std::size_t most_aside = 16 << 20;    // bytes; larger receives go directly to their buffer, unchecked

void const* name_of(Receive const& op) { return op.request ? static_cast<void const*>(op.request) : &op; }

Key key_of(Receive const& op) { return {op.key.context, op.status.source, op.status.tag}; }

/// Returns the part of the buffer that the message has filled; with gaps, only whole elements.
Data filled(Receive const& op) {
    Data data = op.data;
    data.bytes = op.status.bytes;
    if (data.dense() || data.type->size() == 0) return data;
    data.count = static_cast<std::int64_t>(data.bytes) / data.type->size();
    data.bytes = static_cast<std::size_t>(data.count * data.type->size());
    return data;
}

std::uint64_t site_of(Process const& process) { return program_site(process.call_site); }

}   // namespace

void Checks::sends(Send& op) {
    refuse_overlap(op.data, false);
    op.note = note_of(op);
    if (op.request && op.mode != Mode::buffered && op.data.bytes != 0)
        keep(op.data, *op.request, false, digest_if_mapped(op.data));
}

/// A persistent send counts as not synchronous: from its second start on, its mode has been changed by
/// CheckedTransport.
Note Checks::note_of(Send const& op) {
    SentNote sent;
    sent.rank = process_.rank();
    sent.number = order_.tick();
    sent.synchronous = op.mode == Mode::synchronous && !(op.request && op.request->persistent);
    sent.uncertain = order_.is_uncertain();
    sent.site = site_of(process_);
    if (process_.call_name) sent.call = process_.call_name;
    sent.clock = order_.clock();
    return sent.to_bytes();
}

void Checks::receives(Receive& op, bool at_once) {
    wildcards_.begins(name_of(op), op.key, op.data.base);
    op.note.reset();
    if (op.request) op.request->special = true;
    look_for_memory(op);
    refuse_overlap(op.data, true);
    if (!op.request || op.data.bytes == 0) return;
    if (at_once) return void(keep(op.data, *op.request, true, std::nullopt));
    Pending& mine = keep(op.data, *op.request, true, digest_if_mapped(op.data));
    if (!mine.digest || op.data.bytes > most_aside) return;
    op.data.base = mine.aside.make(op.data.bytes);
    op.data.type = nullptr;
}

Pending& Checks::keep(Data const& data, Request& request, bool receives, std::optional<std::uint64_t> digest) {
    request.special = true;
    return pending_.add({&request, receives, data, digest, process_.call_name, site_of(process_), nullptr, 0, false,
                         given_up_.beginning()});
}

std::optional<std::uint64_t> Checks::digest_if_mapped(Data const& data) {
    AddressRange const range = range_of(data);
    if (!memory_.holds(reinterpret_cast<void const*>(range.first), range.bytes)) return std::nullopt;
    return digest_of(data);
}

void Checks::settle(Request& request) {
    if (request.status.cancelled) wildcards_.forget(&request);
    else wildcards_.completed(&request, *request.comm, !request.status.ignored);
    Pending const* const mine = pending_.find(request);
    if (!mine) return;
    if (!request.status.cancelled) compare(*mine);
    pending_.remove(request);
}

void Checks::received(Receive const& op, Comm const& comm, bool status_taken) {
    wildcards_.arrives(&op, key_of(op), op.note, filled(op));
    wildcards_.completed(&op, comm, status_taken);
}

void Checks::seen(Unexpected const& message) {
    if (!message.note) return;
    SentNote const sent = SentNote::from_bytes(message.note);
    order_.learn(sent.clock, sent.uncertain);
}

void Checks::compare(Pending const& pending) {
    if (!pending.digest) return;
    std::optional<std::uint64_t> const now = digest_if_mapped(pending.data);
    if (now ? now != pending.digest : pending.data.dense()) tell_changed(pending, !now);
}

void Checks::arrives(Request& request, Receive& op) {
    Pending* const mine = pending_.find(request);
    if (!mine) return wildcards_.arrives(&request, key_of(op), op.note, filled(op));
    if (std::byte const* const content = mine->aside.get()) {
        op.data = mine->data;
        if (!op.status.cancelled) {
            compare(*mine);
            op.data.scatter(0, content, op.status.bytes);
        }
        mine->aside.reset();
    }
    wildcards_.arrives(&request, key_of(op), op.note, filled(op));
    if (mine->forgotten) return pending_.remove(request);
    mine->digest = digest_if_mapped(mine->data);
}

void Checks::cancels(Request const& request) {
    if (Pending* const mine = pending_.find(request)) mine->is_cancelled = true;
}

void Checks::forget(Request& request) {
    Pending* const mine = pending_.find(request);
    if (mine && request.active && !mine->is_cancelled)
        given_up_.add(mine->receives, mine->begun, mine->words(), mine->site);
    if (mine && mine->aside.get()) mine->forgotten = true;
    else if (mine) pending_.remove(request);
}

std::string Checks::call_in_words(Data const& data) const { return join(process_.call_name, "(", data.amount(), ")"); }

void Checks::refuse_overlap(Data const& data, bool receives) const {
    if (Pending const* const other = pending_.overlapping(data, receives)) tell_overlap(*other, data, receives, report);
}

void Checks::tell_overlap(Pending const& other, Data const& data, bool receives,
                          void (*tell)(Process&, Mistake const&)) const {
    Mistake::Part const parts[] = {
        {process_.rank(), other.words(), "not complete yet", other.site},
        {process_.rank(), call_in_words(data), receives ? "receives into the same memory" : "sends the same memory",
         site_of(process_)}};
    tell(process_, {"T11",
                    join("the buffers of two operations overlap at rank ", process_.rank(),
                         !other.receives   ? ", and one of them is still being sent"
                         : other.operation ? ", and a result may come into them at any time"
                                           : ", and a message may come into them at any time"),
                    join("complete the first one (", other.completion(),
                         ") before its memory is used again, or give each its own"),
                    parts});
}

void Checks::tell_changed(Pending const& pending, bool freed) const {
    char const* const what = freed ? "was given back" : pending.receives ? "was written to" : "was changed";
    Mistake::Part const parts[] = {
        {process_.rank(), pending.words(), "began here", pending.site},
        {process_.rank(), process_.call_name, join("until here its buffer ", what), site_of(process_)}};
    report(process_, {pending.receives ? "T11" : "T10",
                      join("rank ", process_.rank(), "'s ", pending.role(), " buffer ", what,
                           " before the operation was complete"),
                      join("leave the buffer alone until ", pending.end()), parts});
}

/// MPI writes no more bytes than arrive, so this need not fail, but it is rarely intended.
void Checks::look_for_memory(Receive const& op) {
    Data const& data = op.data;
    if (!data.dense() || data.bytes < least_looked_at || memory_.holds(data.base, data.bytes)) return;
    if (!without_memory_.insert(site_of(process_)).second) return;
    Mistake::Part const parts[] = {{process_.rank(), call_in_words(data), "", site_of(process_)}};
    warn(process_, {"T17", "a receive has more room than there is memory behind its buffer",
                    "the count is how many elements the buffer has room for, and no limit for safety", parts});
}

void Checks::communicator_freed(Comm const& comm, char const* call) {
    for (Pending* one : pending_.on(comm)) {
        one->given_up = call;
        one->given_up_at = site_of(process_);
    }
}

void Checks::communicator_disconnected(Comm const& comm, char const* call) {
    std::vector<Pending*> const open = pending_.on(comm);
    if (open.empty()) return;
    Mistake::Part const parts[] = {
        {process_.rank(), open.front()->words(),
         open.size() == 1 ? "not complete" : join("not complete, and ", open.size() - 1, " more"), open.front()->site},
        {process_.rank(), join(call, "(", comm.words(), ")"), {}, site_of(process_)}};
    report(process_, {"T16", "a communicator is disconnected while operations on it are not complete",
                      "complete them first (MPI_Waitall): MPI_Comm_disconnect may only be called then", parts});
}

void Checks::finish() {
    wildcards_.finish();
    given_up_.finish();
    std::vector<Pending const*> const open = pending_.given_up();
    if (open.empty()) return;
    Pending const& one = *open.front();
    Mistake::Part const parts[] = {
        {process_.rank(), one.words(),
         open.size() == 1 ? "never completed" : join("never completed, and ", open.size() - 1, " more"), one.site},
        {process_.rank(), join(one.given_up, "(", one.request->comm->words(), ")"), {}, one.given_up_at}};
    warn(process_, {"T16", "a communicator was freed, and operations on it were never completed",
                    "complete them before or after (MPI_Waitall), or cancel them (MPI_Cancel)", parts});
}

namespace {

constexpr std::size_t word = 8, lanes = 8, block = lanes * word;
constexpr std::size_t piece = 64 * block;   // gathered at a time

/// With either argument fixed, this is a bijection in the other one, so any change of a single word changes the result.
/// The rotation moves the upper bits down, because products do not propagate them, so that they affect the next step.
std::uint64_t with(std::uint64_t before, std::uint64_t next) {
    return std::rotl((before ^ next) * 0x9e3779b97f4a7c15, 29);
}

std::uint64_t load(std::byte const* at, std::size_t bytes = word) {
    std::uint64_t value = 0;
    std::memcpy(&value, at, bytes);
    return value;
}

/// Digests whole blocks in eight independent lanes. Advances `at` and `bytes` to the remainder.
std::uint64_t digest_blocks(std::uint64_t before, std::byte const*& at, std::size_t& bytes) {
    std::array<std::uint64_t, lanes> all;
#pragma GCC unroll 8   // so that the lanes stay in registers
    for (std::size_t i = 0; i < lanes; ++i) all[i] = before + i;
    for (; bytes >= block; bytes -= block, at += block)
#pragma GCC unroll 8
        for (std::size_t i = 0; i < lanes; ++i) all[i] = with(all[i], load(at + i * word));
    std::uint64_t result = before;
#pragma GCC unroll 8
    for (std::uint64_t const lane : all) result = with(result, lane);
    return result;
}

/// Continues a digest from `before` with further bytes.
std::uint64_t digest(std::uint64_t before, std::byte const* at, std::size_t bytes) {
    std::uint64_t result = before ^ bytes;
    if (bytes >= block) result = digest_blocks(result, at, bytes);
    for (; bytes >= word; bytes -= word, at += word) result = with(result, load(at));
    return bytes == 0 ? result : with(result, load(at, bytes));
}

}   // namespace

AddressRange range_of(Data const& data) {
    if (data.dense()) return {reinterpret_cast<std::uintptr_t>(data.base), data.bytes};
    return AddressRange::of(data.base, data.count, *data.type);
}

std::uint64_t digest_of(Data const& data) {
    if (data.dense()) return digest(0, data.base, data.bytes);
    std::array<std::byte, piece> packed;
    std::uint64_t all = 0;
    for (std::size_t at = 0; at < data.bytes; at += packed.size()) {
        std::size_t const bytes = std::min(packed.size(), data.bytes - at);
        data.gather(at, packed.data(), bytes);
        all = digest(all, packed.data(), bytes);
    }
    return all;
}

}   // namespace tutti::p2p
