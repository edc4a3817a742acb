// SPDX-License-Identifier: BSD-3-Clause
// What launchers tell each other of ranks, for launcher/nodes/pack.hpp.
#pragma once

#include "launcher/diagnosis/unblocked_ranks.hpp"
#include "launcher/nodes/pack.hpp"

namespace tutti {

template <class A>
void members(A& a, RankRange& r) {
    a(r.first, r.last, r.stride);
}

}   // namespace tutti

namespace tutti::launcher {

template <class A>
void members(A& a, RankWait& w) {
    a(w.state, w.awaiting, w.awaited, w.others, w.also);
}
template <class A>
void members(A& a, RankNews& n) {
    a(n.rank, n.changes, n.wait);
}
template <class A>
void members(A& a, Question::Suspect& s) {
    a(s.rank, s.changes);
}
template <class A>
void members(A& a, Question& q) {
    a(q.number, q.suspects);
}
template <class A>
void members(A& a, Answer& one) {
    a(one.number, one.unchanged, one.moves, one.sent, one.received);
}
template <class A>
void members(A& a, Still& s) {
    a(s.nodes, s.polling);
}
template <class A>
void members(A& a, NodeNews& n) {
    a(n.ranks, n.answer, n.still);
}
template <class A>
void members(A& a, BlockedRank& b) {
    a(b.rank, b.changes, b.moves, b.wait, b.call, b.script, b.stack, b.noticed_of, b.code, b.headline, b.help, b.also,
      b.polling_s);
}
template <class A>
void members(A& a, Place& p) {
    a(p.words, p.without_g);
}
template <class A>
void members(A& a, PlacedRank& p) {
    a(p.blocked, p.place, p.also);
}
template <class A>
void members(A& a, UnblockedRank& u) {
    a(u.rank, u.doing, u.call, u.place, u.now);
}
template <class A>
void members(A& a, MadeCall& c) {
    a(c.rank, c.call, c.stack, c.place);
}
template <class A>
void members(A& a, RanksSeen& s) {
    a(s.waiting, s.unblocked, s.calls);
}
template <class A>
void members(A& a, Inquiry& i) {
    a(i.ranks, i.unblocked, i.calls);
}
template <class A>
void members(A& a, ReportLine& l) {
    a(l.ranks, l.call, l.place, l.remark, l.stack);
}
template <class A>
void members(A& a, Report& r) {
    a(r.code, r.headline, r.lines, r.help, r.notes, r.severity);
}

}   // namespace tutti::launcher
