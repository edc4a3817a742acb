// SPDX-License-Identifier: BSD-3-Clause
// Counters in the order of counters.def, then the lines of the ledger; the last line may be that of all others.
#include "launcher/nodes/book_copy.hpp"

#include <cstdint>
#include <vector>

#include "launcher/nodes/pack.hpp"

namespace tutti::launcher {
namespace {

struct Line {
    std::string communicator, collective, algorithm;
    int ranks = 0;
    std::uint64_t calls = 0, bytes = 0, time = 0, longest = 0;
};

struct Whole {
    int rank = 0;
    std::vector<std::uint64_t> counters;
    std::vector<Line> lines;
};

template <class A>
void members(A& a, Line& l) {
    a(l.communicator, l.collective, l.algorithm, l.ranks, l.calls, l.bytes, l.time, l.longest);
}
template <class A>
void members(A& a, Whole& w) {
    a(w.rank, w.counters, w.lines);
}

/// All counters of a card that the tables show.
template <class AnyCard, class Visit>
void each_counter(AnyCard& card, Visit const& visit) {
#define COUNTER(group, kind, name, where, sentence) visit(card.where);
#include "runtime/counters.def"
#undef COUNTER
    visit(card.times.started);
    visit(card.times.ended);
}

Line copied(LedgerLine const& from) {
    return {from.communicator, from.collective,     from.algorithm,    from.ranks,
            from.calls.read(), from.bytes.read(), from.time.read(), from.longest.read()};
}

}  // namespace

std::string packed_book(Book const& book, std::uint64_t now) {
    Whole whole{book.rank, {}, {}};
    each_counter(*book.card, [&](Counter const& c) { whole.counters.push_back(c.read()); });
    bool const never_ended = book.card->times.started.read() != 0 && book.card->times.ended.read() == 0;
    if (never_ended) whole.counters.back() = now;
    for (LedgerLine const& line : book.ledger->lines()) whole.lines.push_back(copied(line));
    if (book.ledger->others().calls.read() != 0) whole.lines.push_back(copied(book.ledger->others()));
    return packed(whole);
}

std::unique_ptr<BookCopy> copy_of_book(std::string_view bytes) {
    auto const whole = unpacked<Whole>(bytes);
    auto copy = std::make_unique<BookCopy>();
    copy->rank = whole.rank;
    std::size_t next = 0;
    each_counter(copy->card, [&](Counter& c) {
        if (next == whole.counters.size()) fail(ErrorClass::other, "a rank's counters came incomplete");
        c.set(whole.counters[next++]);
    });
    for (Line const& from : whole.lines) {
        LedgerLine& to = copy->ledger.line(from.communicator, from.ranks, from.collective, from.algorithm);
        to.calls.set(from.calls);
        to.bytes.set(from.bytes);
        to.time.set(from.time);
        to.longest.set(from.longest);
    }
    return copy;
}

}  // namespace tutti::launcher
