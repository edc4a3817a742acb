// SPDX-License-Identifier: BSD-3-Clause
// Communication patterns, each repeated for a given time: patterns SECONDS NAME[:BYTES],... [counters]
//
// For any MPI. Rank 0 prints for each pattern "result NAME BYTES MEDIAN MEAN WORST OPERATIONS WRONG": times of the
// slowest rank in microseconds, and the number of wrong values received by all ranks. In every operation each rank
// depends on another one, so that the time includes the delay of a rank without a core.
#define _GNU_SOURCE
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { most_in_batch = 512, most_samples = 1 << 20, most_bytes = 1 << 18, cells = 4096 };

static MPI_Comm const world = MPI_COMM_WORLD;
static int rank, ranks;
static int count;                           // number of longs in a message of the pattern
static long *out, *in;                      // buffers for the messages of the pattern
static double batch_times[most_in_batch];   // of this rank, in microseconds
static long wrong;                          // number of wrong values that this rank has received

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec * 1e6 + (double)time.tv_nsec * 1e-3;
}

static void expect(long value, long expected) {
    if (value != expected) __atomic_fetch_add(&wrong, 1, __ATOMIC_RELAXED);
}

/// Checks the first and the last value of a message; the others are transferred but not compared.
static void put_ends(long* message, long value) { message[0] = message[count - 1] = value; }
static void expect_ends(long const* message, long value) {
    expect(message[0], value);
    expect(message[count - 1], value);
}

static int left(void) { return (rank + ranks - 1) % ranks; }
static int right(void) { return (rank + 1) % ranks; }

/// Between the first and the last rank; the others wait in the collectives after the batch. The time is half a round
/// trip.
static void pingpong(long operation) {
    int const last = ranks - 1;
    put_ends(out, operation);
    if (ranks == 1) {
        MPI_Sendrecv(out, count, MPI_LONG, 0, 0, in, count, MPI_LONG, 0, 0, world, MPI_STATUS_IGNORE);
    } else if (rank == 0) {
        MPI_Send(out, count, MPI_LONG, last, 0, world);
        MPI_Recv(in, count, MPI_LONG, last, 0, world, MPI_STATUS_IGNORE);
    } else if (rank == last) {
        MPI_Recv(in, count, MPI_LONG, 0, 0, world, MPI_STATUS_IGNORE);
        MPI_Send(out, count, MPI_LONG, 0, 0, world);
    } else {
        return;
    }
    expect_ends(in, operation);
}

static void allreduce(long operation) {
    put_ends(out, rank + operation);
    MPI_Allreduce(out, in, count, MPI_LONG, MPI_SUM, world);
    expect_ends(in, (long)ranks * (ranks - 1) / 2 + ranks * operation);
}

/// The root changes with every operation, so that no root is ahead of the other ranks by more than one operation.
static void bcast(long operation) {
    int const root = (int)(operation % ranks);
    put_ends(in, rank == root ? operation : -1);
    MPI_Bcast(in, count, MPI_LONG, root, world);
    expect_ends(in, operation);
}

static void reduce(long operation) {
    int const root = (int)(operation % ranks);
    put_ends(out, rank + operation);
    MPI_Reduce(out, in, count, MPI_LONG, MPI_SUM, root, world);
    if (rank == root) expect_ends(in, (long)ranks * (ranks - 1) / 2 + ranks * operation);
}

static void alltoall(long operation) {
    for (int peer = 0; peer < ranks; ++peer) put_ends(out + (long)peer * count, rank * 1000 + peer + operation);
    MPI_Alltoall(out, count, MPI_LONG, in, count, MPI_LONG, world);
    for (int peer = 0; peer < ranks; ++peer) expect_ends(in + (long)peer * count, peer * 1000 + rank + operation);
}

/// Computes for about ten microseconds between sending and waiting, with equal work on every rank.
static void halo(long operation) {
    static double field[cells];
    MPI_Request requests[4];
    MPI_Status statuses[4];
    put_ends(out, rank + operation);
    MPI_Irecv(in, count, MPI_LONG, left(), 1, world, &requests[0]);
    MPI_Irecv(in + count, count, MPI_LONG, right(), 2, world, &requests[1]);
    MPI_Isend(out, count, MPI_LONG, right(), 1, world, &requests[2]);
    MPI_Isend(out, count, MPI_LONG, left(), 2, world, &requests[3]);
    for (int sweep = 0; sweep < 4; ++sweep)
        for (int cell = 1; cell < cells - 1; ++cell)
            field[cell] = 0.25 * (field[cell - 1] + 2 * field[cell] + field[cell + 1]) + 1;
    MPI_Waitall(4, requests, statuses);
    expect_ends(in, left() + operation);
    expect_ends(in + count, right() + operation);
    field[0] = (double)in[0];
}

static void polling(long operation) {
    MPI_Request requests[2];
    put_ends(out, rank + operation);
    MPI_Irecv(in, count, MPI_LONG, left(), 3, world, &requests[0]);
    MPI_Isend(out, count, MPI_LONG, right(), 3, world, &requests[1]);
    for (int k = 0; k < 2; ++k)
        for (int done = 0; !done;) MPI_Test(&requests[k], &done, MPI_STATUS_IGNORE);
    expect_ends(in, left() + operation);
}

/// Rank 0 answers one request of every other rank, in order of arrival.
static void server(long operation) {
    if (rank != 0) {
        put_ends(out, rank + operation);
        MPI_Send(out, count, MPI_LONG, 0, 4, world);
        MPI_Recv(in, count, MPI_LONG, 0, 5, world, MPI_STATUS_IGNORE);
        expect_ends(in, rank + operation + 1);
        return;
    }
    for (int client = 1; client < ranks; ++client) {
        MPI_Status status;
        MPI_Recv(in, count, MPI_LONG, MPI_ANY_SOURCE, 4, world, &status);
        put_ends(in, in[0] + 1);
        MPI_Send(in, count, MPI_LONG, status.MPI_SOURCE, 5, world);
    }
}

/// Two threads of this rank exchange messages with the same threads of its partner, or with themselves if it has none.
struct Exchange {
    long first, operations;
    int tag;
    double times[most_in_batch];
};
static void* exchange(void* argument) {
    struct Exchange* const all = argument;
    int const partner = (rank ^ 1) < ranks ? rank ^ 1 : rank;
    for (long k = 0; k < all->operations; ++k) {
        long mine = (rank + 1) * (all->first + k) + all->tag, theirs = -1;
        double const began = now();
        MPI_Sendrecv(&mine, 1, MPI_LONG, partner, all->tag, &theirs, 1, MPI_LONG, partner, all->tag, world,
                     MPI_STATUS_IGNORE);
        all->times[k] = now() - began;
        expect(theirs, (partner + 1) * (all->first + k) + all->tag);
    }
    return NULL;
}
static void threads_batch(long first, long operations) {
    static struct Exchange exchanges[2];
    pthread_t second;
    for (int thread = 0; thread < 2; ++thread) {
        exchanges[thread].first = first;
        exchanges[thread].operations = operations;
        exchanges[thread].tag = 6 + thread;
    }
    if (pthread_create(&second, NULL, exchange, &exchanges[1]) != 0) MPI_Abort(world, 3);
    exchange(&exchanges[0]);
    pthread_join(second, NULL);
    for (long k = 0; k < operations; ++k)
        batch_times[k] = exchanges[0].times[k] > exchanges[1].times[k] ? exchanges[0].times[k] : exchanges[1].times[k];
}

/// Alternates between two halves of the window, so that the next epoch does not overwrite a value before it is read.
static MPI_Win window;
static long* window_memory;
static void fence(long operation) {
    long const half = operation % 2 * count;
    put_ends(out, rank + operation);
    MPI_Put(out, count, MPI_LONG, right(), half, count, MPI_LONG, window);
    MPI_Win_fence(0, window);
    expect_ends(window_memory + half, left() + operation);
}

struct Pattern {
    char const* name;
    int bytes, least_ranks;
    void (*operation)(long);
};
static struct Pattern const patterns[] = {{"pingpong", 8, 1, pingpong},    {"allreduce", 8, 1, allreduce},
                                          {"alltoall", 4096, 1, alltoall}, {"halo", 1024, 1, halo},
                                          {"polling", 8, 1, polling},      {"server", 8, 2, server},
                                          {"threads", 8, 1, NULL},         {"fence", 8, 1, fence},
                                          {"bcast", 8, 1, bcast},          {"reduce", 8, 1, reduce}};
enum { pattern_count = sizeof patterns / sizeof patterns[0] };

static void run_batch(struct Pattern const* pattern, long first, long operations) {
    memset(batch_times, 0, sizeof batch_times);
    if (pattern->operation == NULL) {
        threads_batch(first, operations);
        return;
    }
    for (long k = 0; k < operations; ++k) {
        double const began = now();
        pattern->operation(first + k);
        batch_times[k] = now() - began;
        if (pattern->operation == pingpong) batch_times[k] /= 2;
    }
}

static int compare(void const* a, void const* b) {
    double const x = *(double const*)a, y = *(double const*)b;
    return (x > y) - (x < y);
}

static void print_result(struct Pattern const* pattern, double* samples, long operations) {
    long const kept = operations < most_samples ? operations : most_samples;
    double sum = 0;
    long wrong_of_all = 0;
    MPI_Reduce(&wrong, &wrong_of_all, 1, MPI_LONG, MPI_SUM, 0, world);
    if (rank != 0) return;
    for (long k = 0; k < kept; ++k) sum += samples[k];
    qsort(samples, (size_t)kept, sizeof *samples, compare);
    printf("result %s %d %.3f %.3f %.3f %ld %ld\n", pattern->name, count * (int)sizeof(long), samples[kept / 2],
           sum / (double)kept, samples[kept - 1], operations, wrong_of_all);
    fflush(stdout);
}

/// Repeats batches of operations until the time of rank 0 is over. A batch takes some milliseconds.
static void measure(struct Pattern const* pattern, double seconds, double* samples) {
    double slowest[most_in_batch];
    double const end = now() + seconds * 1e6;
    long operations = 1, first = 0, kept = 0;
    for (int batch = 0; operations > 0; ++batch) {
        double const began = now();
        run_batch(pattern, first, operations);
        double const took = now() - began;
        first += operations;
        MPI_Reduce(batch_times, slowest, (int)operations, MPI_DOUBLE, MPI_MAX, 0, world);
        int const is_over = now() >= end;
        if (batch >= 3 || is_over)   // the first batches create connections and mappings
            for (long k = 0; rank == 0 && k < operations; ++k) samples[kept++ % most_samples] = slowest[k];
        if (is_over) operations = 0;
        else if (took < 2e3 && operations < most_in_batch) operations *= 2;
        else if (took > 2e4 && operations > 1) operations /= 2;
        MPI_Bcast(&operations, 1, MPI_LONG, 0, world);
    }
    print_result(pattern, samples, kept);
}

static void run_pattern(struct Pattern const* pattern, int bytes, double seconds, double* samples) {
    int provided = 0;
    MPI_Query_thread(&provided);
    if (ranks < pattern->least_ranks || (pattern->operation == NULL && provided < MPI_THREAD_MULTIPLE)) {
        if (rank == 0) printf("skipped %s\n", pattern->name);
        return;
    }
    count = bytes / (int)sizeof(long);
    wrong = 0;
    if (pattern->operation == fence) {
        MPI_Win_allocate(2 * bytes, sizeof(long), MPI_INFO_NULL, world, &window_memory, &window);
        MPI_Win_fence(0, window);
    }
    MPI_Barrier(world);
    measure(pattern, seconds, samples);
    if (pattern->operation == fence) MPI_Win_free(&window);
}

/// Runs "NAME:BYTES"; returns 0 if there is no such pattern.
static int run_named(char* name, double seconds, double* samples) {
    char* const colon = strchr(name, ':');
    int const bytes = colon ? atoi(colon + 1) : 0;
    if (colon) *colon = '\0';
    if (colon && (bytes < 8 || bytes > most_bytes || bytes % 8 != 0)) return 0;
    for (int k = 0; k < pattern_count; ++k) {
        if (strcmp(name, patterns[k].name) != 0) continue;
        run_pattern(&patterns[k], colon ? bytes : patterns[k].bytes, seconds, samples);
        return 1;
    }
    return 0;
}

/// Each session is a scheduling group of the kernel (autogroup); the driver checks their number.
static void print_sessions(void) {
    long const session = getsid(0);
    long* const all = malloc((size_t)ranks * sizeof *all);
    MPI_Gather(&session, 1, MPI_LONG, all, 1, MPI_LONG, 0, world);
    int different = 0;
    for (int k = 0; rank == 0 && k < ranks; ++k) {
        int before = 0;
        while (all[before] != all[k]) ++before;
        different += before == k;
    }
    free(all);
    if (rank == 0) printf("sessions %d\n", different);
    fflush(stdout);
}

/// Tutti's counters: performance variables of MPI_T whose names begin with tutti_, counted from start_counters on.
enum { most_counters = 256 };
static struct {
    MPI_T_pvar_session session;
    MPI_T_pvar_handle handles[most_counters];
    char names[most_counters][128];
    int are_times[most_counters];   // doubles, in seconds; the others are unsigned long long
    int number;
} counters;

static void start_counters(void) {
    int provided, variables;
    if (MPI_T_init_thread(MPI_THREAD_SINGLE, &provided) != MPI_SUCCESS) return;
    MPI_T_pvar_get_num(&variables);
    MPI_T_pvar_session_create(&counters.session);
    for (int index = 0; index < variables && counters.number < most_counters; ++index) {
        int const k = counters.number;
        int name_length = sizeof counters.names[k], verbosity, class, bind, fixed, continuous, atomic, values;
        MPI_Datatype type;
        if (MPI_T_pvar_get_info(index, counters.names[k], &name_length, &verbosity, &class, &type, NULL, NULL, NULL,
                                &bind, &fixed, &continuous, &atomic) != MPI_SUCCESS ||
            strncmp(counters.names[k], "tutti_", 6) != 0 || bind != MPI_T_BIND_NO_OBJECT ||
            MPI_T_pvar_handle_alloc(counters.session, index, NULL, &counters.handles[k], &values) != MPI_SUCCESS)
            continue;
        if (!continuous) MPI_T_pvar_start(counters.session, counters.handles[k]);
        counters.are_times[k] = type == MPI_DOUBLE;
        ++counters.number;
    }
}

/// Prints "counter NAME SUM MAXIMUM" over the ranks for each counter.
static void print_counters(double seconds) {
    for (int k = 0; k < counters.number; ++k) {
        double value = 0, sum = 0, most = 0;
        unsigned long long whole = 0;
        void* const place = counters.are_times[k] ? (void*)&value : (void*)&whole;
        MPI_T_pvar_read(counters.session, counters.handles[k], place);
        if (!counters.are_times[k]) value = (double)whole;
        MPI_Reduce(&value, &sum, 1, MPI_DOUBLE, MPI_SUM, 0, world);
        MPI_Reduce(&value, &most, 1, MPI_DOUBLE, MPI_MAX, 0, world);
        if (rank == 0) printf("counter %s %.9g %.9g\n", counters.names[k], sum, most);
        MPI_T_pvar_handle_free(counters.session, &counters.handles[k]);
    }
    MPI_T_pvar_session_free(&counters.session);
    MPI_T_finalize();
    if (rank == 0) printf("elapsed %.6f\n", seconds);
}

int main(int argc, char** argv) {
    int provided, unknown = 0;
    if (argc < 3) {
        fprintf(stderr, "usage: patterns SECONDS NAME[:BYTES],... [counters]\n");
        return 2;
    }
    // Only the pattern `threads` needs a lock in every call.
    MPI_Init_thread(&argc, &argv, strstr(argv[2], "threads") ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE, &provided);
    MPI_Comm_rank(world, &rank);
    MPI_Comm_size(world, &ranks);
    double const began = now();
    int const counted = argc > 3 && strcmp(argv[3], "counters") == 0;
    if (counted) start_counters();
    size_t const room = (size_t)most_bytes * (size_t)(ranks + 2);
    double* const samples = rank == 0 ? malloc(most_samples * sizeof *samples) : NULL;
    out = calloc(1, room);
    in = calloc(1, room);
    print_sessions();
    char* rest = NULL;
    for (char* name = strtok_r(argv[2], ",", &rest); name; name = strtok_r(NULL, ",", &rest)) {
        if (run_named(name, atof(argv[1]), samples)) continue;
        if (rank == 0) fprintf(stderr, "patterns: there is no pattern %s of such a size\n", name);
        unknown = 2;
    }
    if (counted) print_counters((now() - began) * 1e-6);
    free(samples);
    free(out);
    free(in);
    MPI_Finalize();
    return unknown;
}
