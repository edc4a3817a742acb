// SPDX-License-Identifier: BSD-3-Clause
// The one-sided operations of the hash table.
#include "table.hpp"

#include <algorithm>
#include <cstddef>

namespace hashtable {
namespace {

/// Returns the displacement of an element's field in the owner's window.
MPI_Aint displacement(std::int64_t element, std::size_t field) {
    return MPI_Aint(std::size_t(element) * sizeof(Element) + field);
}

}   // namespace

Table::Table(int buckets, int overflow, MPI_Comm comm) : buckets_(buckets), overflow_(overflow) {
    MPI_Comm_size(comm, &ranks_);
    const std::size_t count = 1 + std::size_t(buckets) + std::size_t(overflow);
    // Whole pages: otherwise MPICH 4.0.2, with more than one rank, puts data beside the place to which it
    // accumulates.
    const std::size_t page = 4096, bytes = (count * sizeof(Element) + page - 1) / page * page;
    MPI_Win_allocate(MPI_Aint(bytes), 1, MPI_INFO_NULL, comm, &elements_, &window_);
    std::fill(elements_, elements_ + count, Element{});
    MPI_Win_lock_all(MPI_MODE_NOCHECK, window_);   // no rank locks exclusively
    MPI_Win_sync(window_);
    MPI_Barrier(comm);   // no insertion before all elements are empty
}

Table::~Table() {
    MPI_Win_unlock_all(window_);
    MPI_Win_free(&window_);
}

/// The finalizer of MurmurHash3 (Appleby, public domain): adjacent keys get unrelated hashes.
std::uint64_t Table::hash(Key key) {
    key = (key ^ key >> 33) * 0xff51afd7ed558ccd;
    key = (key ^ key >> 33) * 0xc4ceb9fe1a85ec53;
    return key ^ key >> 33;
}

bool Table::insert(Key key) {
    int const owner = owner_of(key);
    std::int64_t at = bucket_of(key), created = 0;
    const Key there = Key(swap_if_zero(owner, at, offsetof(Element, key), std::int64_t(key)));
    bool found = there == 0 || there == key;
    while (!found) {
        std::int64_t next = next_of(owner, at);
        if (next == 0) {
            if (created == 0 && (created = create_element(owner, key)) == 0) return false;
            next = swap_if_zero(owner, at, offsetof(Element, next), created);   // another rank may have been faster
            if (next == 0) next = created;
        }
        at = next;
        found = at == created || get(owner, at).key == key;
    }
    add(owner, at, 1);   // an element made for a key that another rank has inserted meanwhile stays unused
    return true;
}

std::int64_t Table::find(Key key) {
    int const owner = owner_of(key);
    std::int64_t at = bucket_of(key);
    for (Element element = get(owner, at);; element = get(owner, at)) {
        if (element.key == key) return element.value;
        if (element.next == 0) return 0;
        at = element.next;
    }
}

std::map<Key, std::int64_t> Table::own_part() {
    MPI_Win_sync(window_);
    std::map<Key, std::int64_t> part;
    for (int bucket = 1; bucket <= buckets_; ++bucket)
        for (std::int64_t at = bucket; at != 0; at = elements_[at].next) {
            Element const& element = elements_[at];
            if (element.key == 0) continue;
            bool const wrong = bucket_of(element.key) != bucket || !part.emplace(element.key, element.value).second;
            if (wrong) part[element.key] = -1;
        }
    return part;
}

/// Returns the previous value: 0 if the swap succeeded.
std::int64_t Table::swap_if_zero(int rank, std::int64_t element, std::size_t field, std::int64_t value) {
    const std::int64_t zero = 0;
    std::int64_t before;
    MPI_Compare_and_swap(&value, &zero, &before, MPI_INT64_T, rank, displacement(element, field), window_);
    MPI_Win_flush(rank, window_);
    return before;
}

/// Returns the previous value.
std::int64_t Table::add(int rank, std::int64_t element, std::int64_t more) {
    std::int64_t before;
    MPI_Fetch_and_op(&more, &before, MPI_INT64_T, rank, displacement(element, offsetof(Element, value)), MPI_SUM,
                     window_);
    MPI_Win_flush(rank, window_);
    return before;
}

/// Must be atomic, because other ranks may swap the link at the same time.
std::int64_t Table::next_of(int rank, std::int64_t element) {
    std::int64_t next;
    MPI_Fetch_and_op(nullptr, &next, MPI_INT64_T, rank, displacement(element, offsetof(Element, next)), MPI_NO_OP,
                     window_);
    MPI_Win_flush(rank, window_);
    return next;
}

/// The key of an element in a chain is final; value and link may be slightly outdated.
Element Table::get(int rank, std::int64_t element) {
    Element copy;
    MPI_Get(&copy, sizeof copy, MPI_BYTE, rank, displacement(element, 0), sizeof copy, MPI_BYTE, window_);
    MPI_Win_flush(rank, window_);
    return copy;
}

/// Creates an element that is not in a chain yet. Returns its number, or 0 if the overflow area is full.
std::int64_t Table::create_element(int rank, Key key) {
    const std::int64_t used = add(rank, 0, 1);
    if (used >= overflow_) return 0;
    const std::int64_t number = 1 + buckets_ + used;
    const Element element{key, 0, 0};
    MPI_Put(&element, sizeof element, MPI_BYTE, rank, displacement(number, 0), sizeof element, MPI_BYTE, window_);
    MPI_Win_flush(rank, window_);   // complete before another rank can find it
    return number;
}

}   // namespace hashtable
