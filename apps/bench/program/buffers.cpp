// SPDX-License-Identifier: BSD-3-Clause
// The buffers of an operation, the check of its results, and the communicators that are measured.
#include <algorithm>
#include <bit>
#include <cstdint>

#include "measure.hpp"
#include "operation.hpp"

namespace bench {
namespace {

std::size_t numbers(Blocks blocks, int count, int ranks) {
    switch (blocks) {
    case Blocks::none: return 0;
    case Blocks::one: return std::size_t(count);
    case Blocks::one_per_rank: return std::size_t(count) * std::size_t(ranks);
    case Blocks::one_per_neighbor: return std::size_t(count) * Grid::neighbors;
    }
    return 0;
}

Grid grid_of(MPI_Comm comm) {
    Grid grid{};
    int periods[2], coordinates[2];
    MPI_Cart_get(comm, 2, grid.extent, periods, coordinates);
    for (int dimension = 0; dimension < 2; ++dimension)
        MPI_Cart_shift(comm, dimension, 1, &grid.around[2 * dimension], &grid.around[2 * dimension + 1]);
    return grid;
}

}   // namespace

BufferSizes::BufferSizes(Operation const& operation, std::size_t bytes, int operations, MPI_Comm comm)
    : operation(operation) {
    MPI_Comm_size(comm, &ranks);
    peers = operation.has_neighbors() ? Grid::neighbors : ranks;
    count = int(bytes / sizeof(double));
    const std::size_t times = operation.accesses() ? std::size_t(operations) : 1;
    send = times * numbers(operation.send, count, ranks);
    receive = times * numbers(operation.receive, count, ranks);
    window = operation.accesses() ? times * std::size_t(count) : operation.has_window() ? 8 : 0;
}

std::vector<double> make_buffer(std::size_t numbers) {
    std::vector<double> buffer;
    buffer.reserve(std::max(numbers, (std::size_t{64} << 10) / sizeof(double)));
    buffer.resize(numbers);
    return buffer;
}

Buffers::Buffers(BufferSizes const& sizes, double* send_memory, double* receive_memory, OneSided const& one_sided,
                 MPI_Comm comm)
    : operation_(sizes.operation), send_(send_memory, sizes.send), receive_(receive_memory, sizes.receive),
      window_(one_sided.own_memory, sizes.window) {
    MPI_Comm_rank(comm, &call.rank);
    call.ranks = sizes.ranks;
    call.count = sizes.count;
    call.comm = comm;
    counts_.assign(std::size_t(sizes.peers), call.count);
    types_.assign(std::size_t(sizes.peers), MPI_DOUBLE);
    for (int peer = 0; peer < sizes.peers; ++peer) {
        displacements_.push_back(peer * call.count);
        byte_displacements_.push_back(peer * call.count * int(sizeof(double)));
    }
    int topology = MPI_UNDEFINED;
    MPI_Topo_test(comm, &topology);
    if (topology == MPI_CART) call.grid = grid_of(comm);
    call.send = send_.data();
    call.receive = receive_.data();
    call.counts = counts_.data();
    call.displacements = displacements_.data();
    call.byte_displacements = byte_displacements_.data();
    call.types = types_.data();
    call.one_sided = one_sided;
}

double Buffers::encoded(double number) const {
    return operation_.integers ? std::bit_cast<double>(std::int64_t(number)) : number;
}

double Buffers::decoded(double encoded) const {
    return operation_.integers ? double(std::bit_cast<std::int64_t>(encoded)) : encoded;
}

void Buffers::synchronize() const {
    if (call.one_sided.locked) MPI_Win_sync(call.one_sided.win);
}

void Buffers::alter(int iteration) {
    bool const is_read = operation_.accesses() && !operation_.expected_in_window;
    for (std::size_t i = 0; i < send_.size(); ++i) send_[i] = encoded(value(call.rank, i, iteration));
    std::fill(receive_.begin(), receive_.end(), encoded(-1));
    for (std::size_t i = 0; i < window_.size(); ++i)
        window_[i] = encoded(is_read ? value(call.rank, i, iteration) : -1);
    synchronize();
}

void Buffers::touch(int iteration, bool last) {
    if (operation_.has_window()) return;
    constexpr std::size_t line = 64 / sizeof(double);
    for (std::size_t i = 0; i < send_.size(); i += line)
        send_[i] = last ? value(call.rank, i, iteration) : double(-iteration);
    for (std::size_t i = 0; i < receive_.size(); i += line) receive_[i] = -1.0;
}

std::string Buffers::first_wrong(std::span<double const> numbers, Expected expected, int iteration, bool all) const {
    const std::size_t stride = all || numbers.size() < 512 ? 1 : numbers.size() / 61;
    for (std::size_t i = 0; i < numbers.size(); i += stride) {
        double const right = expected(call, i, iteration), number = decoded(numbers[i]);
        if (number != right)
            return "rank " + std::to_string(call.rank) + ", iteration " + std::to_string(iteration) + ", number " +
                   std::to_string(i) + ": " + std::to_string(number) + " instead of " + std::to_string(right);
    }
    return "";
}

std::string Buffers::wrong(int iteration, bool all) const {
    if (operation_.check_result) return all ? operation_.check_result(call) : "";
    synchronize();
    std::string found;
    if (operation_.receives(call)) found = first_wrong(receive_, operation_.expected, iteration, all);
    if (found.empty() && operation_.expected_in_window && call.rank == call.one_sided.target)
        found = first_wrong(window_, operation_.expected_in_window, iteration, all);
    return found;
}

namespace {

MPI_Comm make_grid(MPI_Comm comm) {
    int ranks, extent[2] = {0, 0};
    int const closed[2] = {1, 1};
    MPI_Comm_size(comm, &ranks);
    MPI_Dims_create(ranks, 2, extent);
    MPI_Comm grid;
    MPI_Cart_create(comm, 2, extent, closed, 0, &grid);
    return grid;
}

}   // namespace

Variants::Variants(Settings const& settings, MPI_Comm comm) : all_{{"default", comm, make_grid(comm)}} {
    for (std::string const& hint : settings.hints) {
        auto const equals = hint.find('=');
        MPI_Info info;
        MPI_Info_create(&info);
        MPI_Info_set(info, hint.substr(0, equals).c_str(), hint.substr(equals + 1).c_str());
        Variant variant{hint.substr(equals + 1), MPI_COMM_NULL, MPI_COMM_NULL};
        MPI_Comm_dup_with_info(comm, info, &variant.comm);
        MPI_Comm_dup_with_info(all_[0].grid, info, &variant.grid);
        MPI_Info_free(&info);
        all_.push_back(variant);
    }
}

Variants::~Variants() {
    for (std::size_t i = 0; i < all_.size(); ++i) {
        if (i > 0) MPI_Comm_free(&all_[i].comm);
        MPI_Comm_free(&all_[i].grid);
    }
}

}   // namespace bench
