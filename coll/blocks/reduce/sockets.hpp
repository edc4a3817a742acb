// SPDX-License-Identifier: BSD-3-Clause
// The ranks of a communicator by sockets, for two-level reductions: inside each socket one member finishes a slice,
// then the slice's own rank combines what the sockets have; in its own socket it is that member itself. Sockets are the
// teams right below the outermost one; a flat hierarchy is one socket. They need not be of equal size.
// YHCCL (Peng et al., SC 2023), section 3.3, socket-aware optimisation.
#pragma once

#include "coll/env/division.hpp"

namespace tutti::coll {

class Sockets : public Division {
public:
    Sockets(topo::Hierarchy const& tree, int rank)
        : Division(tree, rank), ranks_(at(tree.size())), my_index_(index_of(rank)) {
        share_out();
    }

    int my_index() const { return my_index_; }
    /// The index of the member that finishes a slice in a socket.
    int finisher_index(int socket, int slice) const { return index_of(slice) * size(socket) / size(of(slice)); }
    int finisher(int socket, int slice) const { return members(socket)[at(finisher_index(socket, slice))]; }
    /// The slices that a member of this rank's socket finishes, ascending.
    std::span<int const> finished_by(int index) const { return finished_[at(index)]; }
    /// The place of a slice among those of its finisher in a socket, and how many places suffice everywhere.
    std::size_t place(int socket, int slice) const { return place_[at(socket) * ranks_ + at(slice)]; }
    std::size_t places() const { return places_; }

private:
    static std::size_t at(int i) { return static_cast<std::size_t>(i); }

    void share_out() {
        place_.resize(at(count()) * ranks_);
        finished_.resize(at(size(mine())));
        for (int socket = 0; socket < count(); ++socket) {
            std::vector<std::size_t> taken(at(size(socket)));
            for (int slice = 0; slice < static_cast<int>(ranks_); ++slice) {
                int const index = finisher_index(socket, slice);
                places_ = std::max(places_, taken[at(index)] + 1);
                place_[at(socket) * ranks_ + at(slice)] = taken[at(index)]++;
                if (socket == mine()) finished_[at(index)].push_back(slice);
            }
        }
    }

    std::size_t ranks_, places_ = 0;
    std::vector<std::vector<int>> finished_;
    std::vector<std::size_t> place_;
    int my_index_;
};

}   // namespace tutti::coll
