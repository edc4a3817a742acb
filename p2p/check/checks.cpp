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

constexpr std::size_t min_checked_bytes = 4096;      // smaller receives are not checked for mapped memory
constexpr std::size_t max_staged_bytes = 16 << 20;   // bytes; larger receives go directly to their buffer, unchecked

void const* receive_id(Receive const& op) { return op.request ? static_cast<void const*>(op.request) : &op; }

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

void Checks::on_send(Send& op) {
    check_overlap(op.data, false);
    op.piggyback = make_piggyback(op);
    if (op.request && op.mode != Mode::buffered && op.data.bytes != 0)
        add_pending(op.data, *op.request, false, digest_if_mapped(op.data));
}

/// A persistent send counts as not synchronous: from its second start on, its mode has been changed by
/// CheckedTransport.
Piggyback Checks::make_piggyback(Send const& op) {
    SendPiggyback sent;
    sent.rank = process_.rank();
    sent.number = clock_.tick();
    sent.synchronous = op.mode == Mode::synchronous && !(op.request && op.request->persistent);
    sent.uncertain = clock_.is_uncertain();
    sent.site = site_of(process_);
    sent.function = process_.call_function;
    sent.clock = clock_.values();
    return sent.to_bytes();
}

void Checks::on_receive(Receive& op, bool already_arrived) {
    wildcards_.on_begin(receive_id(op), op.key, op.data.base);
    op.piggyback.reset();
    if (op.request) op.request->needs_finalize = true;
    check_buffer_mapped(op);
    check_overlap(op.data, true);
    if (!op.request || op.data.bytes == 0) return;
    if (already_arrived) return void(add_pending(op.data, *op.request, true, std::nullopt));
    Pending& pending = add_pending(op.data, *op.request, true, digest_if_mapped(op.data));
    if (!pending.digest || op.data.bytes > max_staged_bytes) return;
    op.data.base = pending.staging.allocate(op.data.bytes);
    op.data.type = nullptr;
}

Pending& Checks::add_pending(Data const& data, Request& request, bool receives, std::optional<std::uint64_t> digest) {
    request.needs_finalize = true;
    return pending_.add({&request,
                         receives,
                         data,
                         digest,
                         process_.call_function,
                         site_of(process_),
                         {},
                         0,
                         false,
                         freed_active_.start_point()});
}

std::optional<std::uint64_t> Checks::digest_if_mapped(Data const& data) {
    AddressRange const range = range_of(data);
    if (!memory_.is_mapped(reinterpret_cast<void const*>(range.first), range.bytes)) return std::nullopt;
    return digest_of(data);
}

void Checks::before_completion(Request& request) {
    if (request.status.cancelled) wildcards_.forget(&request);
    else wildcards_.on_complete(&request, *request.comm, !request.status.ignored);
    Pending const* const pending = pending_.find(request);
    if (!pending) return;
    if (!request.status.cancelled) compare(*pending);
    pending_.remove(request);
}

void Checks::on_blocking_receive(Receive const& op, Comm const& comm, bool status_read) {
    wildcards_.on_arrived(&op, key_of(op), op.piggyback, filled(op));
    wildcards_.on_complete(&op, comm, status_read);
}

void Checks::on_probe(Unexpected const& message) {
    if (!message.piggyback) return;
    SendPiggyback const sent = SendPiggyback::from_bytes(message.piggyback);
    clock_.merge(sent.clock, sent.uncertain);
}

void Checks::compare(Pending const& pending) {
    if (!pending.digest) return;
    std::optional<std::uint64_t> const now = digest_if_mapped(pending.data);
    if (now ? now != pending.digest : pending.data.dense()) report_changed(pending, !now);
}

void Checks::on_arrived(Request& request, Receive& op) {
    Pending* const pending = pending_.find(request);
    if (!pending) return wildcards_.on_arrived(&request, key_of(op), op.piggyback, filled(op));
    if (std::byte const* const content = pending->staging.get()) {
        op.data = pending->data;
        if (!op.status.cancelled) {
            compare(*pending);
            op.data.unpack(0, content, op.status.bytes);
        }
        pending->staging.reset();
    }
    wildcards_.on_arrived(&request, key_of(op), op.piggyback, filled(op));
    if (pending->is_freed) return pending_.remove(request);
    pending->digest = digest_if_mapped(pending->data);
}

void Checks::on_cancel(Request const& request) {
    if (Pending* const pending = pending_.find(request)) pending->is_cancelled = true;
}

void Checks::on_request_free(Request& request) {
    Pending* const pending = pending_.find(request);
    if (pending && request.active && !pending->is_cancelled)
        freed_active_.add(pending->receives, pending->start, pending->describe(), pending->site);
    if (pending && pending->staging.get()) pending->is_freed = true;
    else if (pending) pending_.remove(request);
}

std::string Checks::describe_call(Data const& data) const {
    return join(process_.call_function.name(), "(", data.amount(), ")");
}

void Checks::check_overlap(Data const& data, bool receives) const {
    if (Pending const* const other = pending_.overlapping(data, receives))
        report_overlap(*other, data, receives, report);
}

void Checks::report_overlap(Pending const& other, Data const& data, bool receives,
                            void (*emit)(Process&, UsageError const&)) const {
    UsageError::Call const parts[] = {
        {process_.rank(), other.describe(), "not complete yet", other.site},
        {process_.rank(), describe_call(data), receives ? "receives into the same memory" : "sends the same memory",
         site_of(process_)}};
    emit(process_, {"T11",
                    join("the buffers of two operations overlap at rank ", process_.rank(),
                         !other.receives   ? ", and one of them is still being sent"
                         : other.operation ? ", and a result may be written to them at any time"
                                           : ", and a message may be written to them at any time"),
                    join("complete the first one (", other.completing_calls(),
                         ") before its memory is used again, or use separate buffers"),
                    parts});
}

void Checks::report_changed(Pending const& pending, bool freed) const {
    char const* const what = freed ? "was freed" : pending.receives ? "was written to" : "was changed";
    UsageError::Call const parts[] = {
        {process_.rank(), pending.describe(), "began here", pending.site},
        {process_.rank(), process_.call_function.name(), join("until here its buffer ", what), site_of(process_)}};
    report(process_, {pending.receives ? "T11" : "T10",
                      join("rank ", process_.rank(), "'s ", pending.role(), " buffer ", what,
                           " before the operation was complete"),
                      join("do not change or free the buffer until ", pending.reuse_condition()), parts});
}

/// MPI writes no more bytes than arrive, so this need not fail, but it is rarely intended.
void Checks::check_buffer_mapped(Receive const& op) {
    Data const& data = op.data;
    if (!data.dense() || data.bytes < min_checked_bytes || memory_.is_mapped(data.base, data.bytes)) return;
    if (!reported_unmapped_.insert(site_of(process_)).second) return;
    UsageError::Call const parts[] = {{process_.rank(), describe_call(data), "", site_of(process_)}};
    warn(process_, {"T17", "the count of a receive exceeds the memory of its buffer",
                    "pass as the count how many elements fit into the buffer", parts});
}

void Checks::on_comm_free(Comm const& comm, Function function) {
    for (Pending* one : pending_.on(comm)) {
        one->comm_freed_by = function;
        one->comm_freed_at = site_of(process_);
    }
}

void Checks::on_comm_disconnect(Comm const& comm, Function function) {
    std::vector<Pending*> const open = pending_.on(comm);
    if (open.empty()) return;
    UsageError::Call const parts[] = {
        {process_.rank(), open.front()->describe(),
         open.size() == 1 ? "not complete" : join("not complete, and ", open.size() - 1, " more"), open.front()->site},
        {process_.rank(), join(function.name(), "(", comm.description(), ")"), {}, site_of(process_)}};
    report(process_, {"T16", "a communicator is disconnected while operations on it are not complete",
                      "complete them (MPI_Waitall) before MPI_Comm_disconnect", parts});
}

void Checks::on_finalize() {
    wildcards_.report_deferred();
    freed_active_.finish();
    std::vector<Pending const*> const open = pending_.with_freed_comm();
    if (open.empty()) return;
    Pending const& one = *open.front();
    UsageError::Call const parts[] = {
        {process_.rank(), one.describe(),
         open.size() == 1 ? "never completed" : join("never completed, and ", open.size() - 1, " more"), one.site},
        {process_.rank(),
         join(one.comm_freed_by.name(), "(", one.request->comm->description(), ")"),
         {},
         one.comm_freed_at}};
    warn(process_, {"T16", "a communicator was freed, and operations on it were never completed",
                    "complete them (MPI_Waitall), before or after MPI_Comm_free, or cancel them (MPI_Cancel)", parts});
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
        data.pack(at, packed.data(), bytes);
        all = digest(all, packed.data(), bytes);
    }
    return all;
}

}   // namespace tutti::p2p
