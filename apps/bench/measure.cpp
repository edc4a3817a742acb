// SPDX-License-Identifier: BSD-3-Clause
// One line of the table: alter the buffers, meet at the shared page, call, look at the clock, check.
#include "measure.hpp"

#include "limit.hpp"

#include <algorithm>
#include <ctime>
#include <span>

namespace bench {
namespace {

double now_us()
{
    timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return double(time.tv_sec) * 1e6 + double(time.tv_nsec) * 1e-3;
}

std::size_t numbers(Blocks blocks, int count, int ranks)
{
    return blocks == Blocks::none ? 0 : std::size_t(count) * (blocks == Blocks::one ? 1 : ranks);
}

// How many numbers an operation's buffers hold on one rank.
struct Room {
    Room(const Operation &operation, std::size_t bytes, MPI_Comm comm)
    {
        MPI_Comm_size(comm, &ranks);
        count = int(std::max<std::size_t>(1, bytes / sizeof(double)));
        send = numbers(operation.send, count, ranks);
        receive = numbers(operation.receive, count, ranks);
    }
    int ranks, count;
    std::size_t send, receive;
};

// The buffers of a rank, which lie where the caller says, and the arguments made from them.
struct Buffers {
    Buffers(const Room &room, double *send_memory, double *receive_memory, MPI_Comm comm)
        : send(send_memory, room.send), receive(receive_memory, room.receive)
    {
        MPI_Comm_rank(comm, &call.rank);
        call.ranks = room.ranks;
        call.count = room.count;
        call.comm = comm;
        counts.assign(call.ranks, call.count);
        types.assign(call.ranks, MPI_DOUBLE);
        for (int rank = 0; rank < call.ranks; ++rank) {
            places.push_back(rank * call.count);
            byte_places.push_back(rank * call.count * int(sizeof(double)));
        }
        call.send = send.data();
        call.receive = receive.data();
        call.counts = counts.data();
        call.places = places.data();
        call.byte_places = byte_places.data();
        call.types = types.data();
    }

    void alter(int iteration)
    {
        for (std::size_t i = 0; i < send.size(); ++i)
            send[i] = value(call.rank, i, iteration);
        std::fill(receive.begin(), receive.end(), -1.0);
    }

    // The first wrong number, in words; all numbers, or only some of a large buffer.
    std::string wrong(const Operation &operation, int iteration, bool all) const
    {
        if (!operation.receives(call))
            return "";
        std::size_t stride = all || receive.size() < 512 ? 1 : receive.size() / 61;
        for (std::size_t i = 0; i < receive.size(); i += stride) {
            double expected = operation.expected(call, i, iteration);
            if (receive[i] != expected)
                return "rank " + std::to_string(call.rank) + ", iteration " + std::to_string(iteration) + ", number " +
                       std::to_string(i) + ": " + std::to_string(receive[i]) + " instead of " +
                       std::to_string(expected);
        }
        return "";
    }

    Call call{};
    std::span<double> send, receive;
    std::vector<int> counts, places, byte_places;
    std::vector<MPI_Datatype> types;
};

// The first rank's complaint, on every rank.
std::string agree(const std::string &mine, MPI_Comm comm)
{
    int rank, ranks;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &ranks);
    int candidate = mine.empty() ? ranks : rank, first = ranks;
    MPI_Allreduce(&candidate, &first, 1, MPI_INT, MPI_MIN, comm);
    if (first == ranks)
        return "";
    char text[256] = "";
    mine.copy(text, sizeof text - 1);
    MPI_Bcast(text, sizeof text, MPI_CHAR, first, comm);
    return text;
}

Result summarise(std::vector<double> &times, int rank, MPI_Comm comm)
{
    int count = int(times.size());
    MPI_Reduce(rank == 0 ? MPI_IN_PLACE : times.data(), times.data(), count, MPI_DOUBLE, MPI_MAX, 0, comm);
    std::sort(times.begin(), times.end());
    Result result;
    result.iterations = count;
    result.least = times.front();
    result.greatest = times.back();
    result.median = count % 2 ? times[count / 2] : (times[count / 2 - 1] + times[count / 2]) / 2;
    return result;
}

// One series of iterations; `run` is what is timed.
template <class Run>
Result series(const Operation &operation, Buffers &buffers, const Settings &settings, SharedPage &page, Run run)
{
    Call &call = buffers.call;
    std::vector<double> times;
    std::string wrong;
    double end = now_us() + settings.seconds * 1e6;
    for (int iteration = -settings.warmup; iteration < settings.iterations; ++iteration) {
        int number = iteration + settings.warmup;
        call.root = operation.rooted ? (settings.root < 0 ? number % call.ranks : settings.root) : 0;
        bool fresh = settings.alter || number == 0;
        if (fresh)
            buffers.alter(number);
        // A crowded machine may take all the time for the warm-up; a median needs some numbers all the same.
        if (call.rank == 0)
            page.say(now_us() > end && (iteration >= 10 || (iteration > 0 && now_us() > end + settings.seconds * 4e6)));
        page.barrier();
        if (page.heard())
            break;
        double start = now_us();
        run();
        double time = (now_us() - start) * operation.share;
        page.barrier(); // nobody alters a buffer that a peer may still read, nor hears the next word too early
        if (iteration >= 0)
            times.push_back(time);
        // Warm buffers keep the numbers of the first call, but a receive buffer may then hold them from before.
        if (settings.check && fresh && wrong.empty())
            wrong = buffers.wrong(operation, number, number == 0);
    }
    Result result = summarise(times, call.rank, call.comm);
    result.wrong = agree(wrong, call.comm);
    return result;
}

} // namespace

Result measure(const Operation &operation, std::size_t bytes, const Settings &settings, SharedPage &page,
               MPI_Comm comm)
{
    const Room room(operation, bytes, comm);
    std::vector<double> send(room.send), receive(room.receive);
    Buffers buffers(room, send.data(), receive.data(), comm);
    return series(operation, buffers, settings, page, [&] { operation.run(buffers.call); });
}

Result measure_limit(const Operation &operation, std::size_t bytes, const Settings &settings, SharedPage &page,
                     MPI_Comm comm)
{
    const Room room(operation, bytes, comm);
    constexpr std::size_t page_numbers = 4096 / sizeof(double); // every buffer begins a page
    auto pages = [](std::size_t count) { return (count + page_numbers - 1) / page_numbers * page_numbers; };
    const std::size_t each = pages(room.send) + pages(room.receive);
    SharedMemory memory(comm, each * std::size_t(room.ranks) * sizeof(double));
    std::vector<const double *> sends;
    std::vector<double *> receives;
    for (int rank = 0; rank < room.ranks; ++rank) {
        double *place = static_cast<double *>(memory.data()) + each * std::size_t(rank);
        sends.push_back(place);
        receives.push_back(place + pages(room.send));
    }
    int rank;
    MPI_Comm_rank(comm, &rank);
    Buffers buffers(room, const_cast<double *>(sends[rank]), receives[rank], comm);
    const Limit limit = limit_of(operation.name);
    Result best;
    for (Traffic traffic : all_traffic) {
        const LimitCall call{buffers.call, sends, receives, page, traffic};
        Result result = series(operation, buffers, settings, page, [&] { limit(call); });
        if (best.iterations == 0 || !result.wrong.empty() || (best.wrong.empty() && result.median < best.median))
            best = result;
    }
    return best;
}

} // namespace bench
