// SPDX-License-Identifier: BSD-3-Clause
#include "variants.hpp"

namespace bench {

Variants::Variants(const Settings &settings, MPI_Comm comm) : all_{{"default", comm}}
{
    for (const std::string &hint : settings.hints) {
        const auto equals = hint.find('=');
        MPI_Info info;
        MPI_Info_create(&info);
        MPI_Info_set(info, hint.substr(0, equals).c_str(), hint.substr(equals + 1).c_str());
        MPI_Comm copy;
        MPI_Comm_dup_with_info(comm, info, &copy);
        MPI_Info_free(&info);
        all_.push_back({hint.substr(equals + 1), copy});
    }
}

Variants::~Variants()
{
    for (std::size_t i = 1; i < all_.size(); ++i)
        MPI_Comm_free(&all_[i].comm);
}

} // namespace bench
