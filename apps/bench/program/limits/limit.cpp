// SPDX-License-Identifier: BSD-3-Clause
#include "limit.hpp"

namespace bench {
namespace {

// Another form of an operation moves the same data.
std::string same_traffic(const std::string &operation)
{
    if (operation == "gatherv" || operation == "scatterv" || operation == "allgatherv")
        return operation.substr(0, operation.size() - 1);
    if (operation == "alltoallv" || operation == "alltoallw")
        return "alltoall";
    if (operation == "fence")
        return "barrier";
    return operation == "reduce_scatter_block" ? "reduce_scatter" : operation;
}

} // namespace

std::vector<LimitKernel> limit_kernels(const std::string &operation, std::size_t bytes)
{
    if (const auto kernels = one_sided_kernels(operation, bytes); !kernels.empty())
        return kernels;
    const std::string name = same_traffic(operation);
    const Kernel all = kernel_by_all(name), receiver = kernel_by_receiver(name);
    const Kernel channels = kernel_through_channels(name);
    if (!all)
        return {};
    if (bytes == 0) // nothing is copied
        return {{"flags", all}, {"lines", channels, Traffic::ahead, true, Channels::Layout::lines}};
    std::vector<LimitKernel> kernels;
    if (bytes > most_through_channels) {
        for (Traffic traffic : all_traffic)
            kernels.push_back({"one copy by all", all, traffic});
        return kernels;
    }
    constexpr Traffic small[] = {Traffic::ahead, Traffic::string}; // every cache holds it: nothing to stream
    for (Traffic traffic : small) {
        kernels.push_back({"one copy by all", all, traffic});
        if (receiver)
            kernels.push_back({"one copy by the receiver", receiver, traffic});
        if (channels)
            kernels.push_back({"slots", channels, traffic, true, Channels::Layout::slots});
    }
    if (channels)
        kernels.push_back({"lines", channels, Traffic::ahead, true, Channels::Layout::lines});
    return kernels;
}

} // namespace bench
