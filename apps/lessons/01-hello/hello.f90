! SPDX-License-Identifier: BSD-3-Clause
! Each rank prints its number and the number of ranks.
program hello
    use mpi
    implicit none
    integer :: rank, size, error
    call MPI_Init(error)
    call MPI_Comm_rank(MPI_COMM_WORLD, rank, error)
    call MPI_Comm_size(MPI_COMM_WORLD, size, error)
    print '(A, I0, A, I0)', 'rank ', rank, ' of ', size
    call MPI_Finalize(error)
end program
