// SPDX-License-Identifier: BSD-3-Clause
// Both ranks receive first, in a member function of a class.
// ranks: 2
// whole: a typical program of students, compiled by mpicxx
// says: in Halo::receive()
// expect: T01 ranks 0-1
#include <mpi.h>

#include <vector>

class Halo {
public:
    explicit Halo(int partner) : partner_(partner), data_(16) {}
    void exchange() {
        receive();
        MPI_Send(data_.data(), 16, MPI_DOUBLE, partner_, 0, MPI_COMM_WORLD);
    }

private:
    void receive() {
        MPI_Recv(data_.data(), 16, MPI_DOUBLE, partner_, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);   // HERE 0-1
    }
    int partner_;
    std::vector<double> data_;
};

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    Halo(1 - rank).exchange();
    MPI_Finalize();
}
