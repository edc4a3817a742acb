// SPDX-License-Identifier: BSD-3-Clause
// The ranks of a communicator by sockets, for two-level reductions: inside each socket one member finishes a slice,
// then the slice's own rank combines what the sockets have; in its own socket it is that member itself. Sockets are the
// teams right below the outermost one, in the order of their lowest ranks; a flat hierarchy is one socket. They need
// not be of equal size.
// YHCCL (Peng et al., SC 2023), section 3.3, socket-aware optimisation.
#pragma once

#include <algorithm>
#include <span>
#include <vector>

#include "topo/hierarchy/hierarchy.hpp"

namespace tutti::coll {

class Sockets {
public:
    Sockets(topo::Hierarchy const& tree, int rank)
        : ranks_(at(tree.size())), socket_of_(ranks_), index_of_(ranks_) {
        int const level = std::max(0, tree.levels() - 2);
        for (std::size_t r = 0; r < ranks_; ++r) {
            std::span<int const> const together = tree.ranks_under(level, static_cast<int>(r));
            if (at(together.front()) != r) continue;
            for (std::size_t i = 0; i < together.size(); ++i) {
                socket_of_[at(together[i])] = count();
                index_of_[at(together[i])] = static_cast<int>(i);
            }
            members_.push_back(together);
        }
        mine_ = socket_of_[at(rank)];
        my_index_ = index_of_[at(rank)];
        share_out();
    }

    int count() const { return static_cast<int>(members_.size()); }
    int mine() const { return mine_; }
    int my_index() const { return my_index_; }
    std::span<int const> members(int socket) const { return members_[at(socket)]; }
    std::span<int const> members() const { return members(mine_); }
    int socket_of(int rank) const { return socket_of_[at(rank)]; }
    int size(int socket) const { return static_cast<int>(members(socket).size()); }

    /// The index of the member that finishes a slice in a socket.
    int finisher_index(int socket, int slice) const {
        return index_of_[at(slice)] * size(socket) / size(socket_of_[at(slice)]);
    }
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
        finished_.resize(at(size(mine_)));
        for (int socket = 0; socket < count(); ++socket) {
            std::vector<std::size_t> taken(at(size(socket)));
            for (int slice = 0; slice < static_cast<int>(ranks_); ++slice) {
                int const index = finisher_index(socket, slice);
                places_ = std::max(places_, taken[at(index)] + 1);
                place_[at(socket) * ranks_ + at(slice)] = taken[at(index)]++;
                if (socket == mine_) finished_[at(index)].push_back(slice);
            }
        }
    }

    std::size_t ranks_, places_ = 0;
    std::vector<std::span<int const>> members_;   ///< ascending
    std::vector<int> socket_of_, index_of_;
    std::vector<std::vector<int>> finished_;
    std::vector<std::size_t> place_;
    int mine_ = 0, my_index_ = 0;
};

}  // namespace tutti::coll
