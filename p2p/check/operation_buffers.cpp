// SPDX-License-Identifier: BSD-3-Clause
// The checks of collectives and one-sided operations, which may have several buffers.
#include "p2p/check/operation_buffers.hpp"

#include <algorithm>
#include <utility>

#include "p2p/check/checks.hpp"
#include "runtime/base/error.hpp"
#include "runtime/state/call_site.hpp"

namespace tutti::p2p {
namespace {

// Bytes from the first to the last; larger ranges are not redirected.
constexpr std::size_t max_redirected_bytes = 16 << 20;
// Keeps the program's alignment of operands for the kernels of reductions.
constexpr std::size_t operand_alignment = 64;

/// Returns the same elements at another address.
Data moved(Data const& data, std::ptrdiff_t by) {
    Data other = data;
    other.base =
        reinterpret_cast<std::byte*>(reinterpret_cast<std::uintptr_t>(data.base) + static_cast<std::uintptr_t>(by));
    return other;
}

/// Copies the elements without the gaps.
void copy(Data const& to, Data const& from) {
    if (from.dense()) return to.unpack(0, from.base, from.bytes);
    std::vector<std::byte> packed(from.bytes);
    from.pack(0, packed.data(), packed.size());
    to.unpack(0, packed.data(), packed.size());
}

}   // namespace

OperationBuffers::OperationBuffers(Kind kind, std::string owner, std::vector<Data> sends, std::vector<Data> receives)
    : kind_(kind), owner_(std::move(owner)), sends_(std::move(sends)), receives_(std::move(receives)) {
    for (auto* list : {&sends_, &receives_}) std::erase_if(*list, [](Data const& data) { return data.bytes == 0; });
}

std::ptrdiff_t OperationBuffers::redirect_receives() {
    std::uintptr_t first = UINTPTR_MAX, end = 0;
    for (Data const& data : receives_) {
        AddressRange const range = range_of(data);
        first = std::min<std::uintptr_t>(first, range.first);
        end = std::max<std::uintptr_t>(end, range.first + range.bytes);
    }
    if (receives_.empty() || end - first > max_redirected_bytes) return 0;
    staging_.reset(new std::byte[end - first + 2 * operand_alignment]);
    auto const at = reinterpret_cast<std::uintptr_t>(staging_.get());
    // Correct even if the difference wraps around, because the alignment is a power of two.
    std::uintptr_t const same = (first - at) % operand_alignment;
    return staging_offset_ = static_cast<std::ptrdiff_t>(at + same - first);
}

void OperationBuffers::copy_to_staging() {
    if (!staging_) return;
    for (Data const& data : receives_) copy(moved(data, staging_offset_), data);
}

void OperationBuffers::copy_from_staging() {
    if (!staging_) return;
    for (Data const& data : receives_) copy(data, moved(data, staging_offset_));
}

std::string OperationBuffers::describe(Pending const& part) const {
    auto const& list = part.receives ? receives_ : sends_;
    std::string const amount = list.size() == 1 ? part.data.amount() : join(list.size(), " parts");
    return join(part.function.name(), "(", amount, ", ", owner_, ")");
}

void Checks::on_begin(OperationBuffers& buffers) {
    for (Data const& data : buffers.sends_) check_overlap(data, false);
    for (Data const& data : buffers.receives_) {
        if (buffers.is_one_sided()) release_overlapped_results(buffers, data);
        check_overlap(data, true);
    }
    release(buffers);
    auto const add = [&](Data const& data, bool receives) {
        // If the operation writes to the program's memory, its own writes cannot be distinguished from the program's.
        bool const compared = !receives || buffers.staging_;
        Pending part{nullptr,
                     receives,
                     data,
                     compared ? digest_if_mapped(data) : std::nullopt,
                     process_.call_function,
                     program_site(process_.call_site)};
        part.operation = &buffers;
        buffers.parts_.push_back(pending_.add_part(std::move(part)));
    };
    for (Data const& data : buffers.sends_) add(data, false);
    for (Data const& data : buffers.receives_) add(data, true);
    buffers.copy_to_staging();
}

/// The results of earlier operations in the same memory stay in `staging_`, to which a target may still send them.
void Checks::release_overlapped_results(OperationBuffers const& buffers, Data const& data) {
    using Kind = OperationBuffers::Kind;
    for (Pending const* other; (other = pending_.overlapping(data, true)) != nullptr;) {
        OperationBuffers* const earlier = other->operation;
        if (!earlier || !earlier->is_one_sided() || !other->receives) return;
        bool const both_fetch = buffers.kind_ == Kind::fetching && earlier->kind_ == Kind::fetching;
        if (!both_fetch && reported_overlaps_.emplace(other->site, program_site(process_.call_site)).second)
            report_overlap(*other, data, true, warn);
        release(*earlier);
    }
}

void Checks::on_arrived(OperationBuffers& buffers) {
    if (buffers.parts_.empty()) return;   // given up earlier
    for (auto const& part : buffers.parts_)
        if (part->second.receives) compare(part->second);
    buffers.copy_from_staging();
    for (auto const& part : buffers.parts_)
        if (part->second.receives) part->second.digest = digest_if_mapped(part->second.data);
}

void Checks::before_completion(OperationBuffers& buffers) {
    for (auto const& part : buffers.parts_) compare(part->second);
    release(buffers);
}

void Checks::release(OperationBuffers& buffers) {
    for (auto const& part : buffers.parts_) pending_.remove_part(part);
    buffers.parts_.clear();
}

}   // namespace tutti::p2p
