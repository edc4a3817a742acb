// SPDX-License-Identifier: BSD-3-Clause
#include "variants.hpp"

namespace bench {
namespace {

MPI_Comm make_grid(MPI_Comm comm)
{
    int ranks, extent[2] = {0, 0};
    const int closed[2] = {1, 1};
    MPI_Comm_size(comm, &ranks);
    MPI_Dims_create(ranks, 2, extent);
    MPI_Comm grid;
    MPI_Cart_create(comm, 2, extent, closed, 0, &grid);
    return grid;
}

} // namespace

Variants::Variants(const Settings &settings, MPI_Comm comm) : all_{{"default", comm, make_grid(comm)}}
{
    for (const std::string &hint : settings.hints) {
        const auto equals = hint.find('=');
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

Variants::~Variants()
{
    for (std::size_t i = 0; i < all_.size(); ++i) {
        if (i > 0)
            MPI_Comm_free(&all_[i].comm);
        MPI_Comm_free(&all_[i].grid);
    }
}

} // namespace bench
