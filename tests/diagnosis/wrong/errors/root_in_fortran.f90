! SPDX-License-Identifier: BSD-3-Clause
! The root is counted from 1, as arrays are in Fortran.
! ranks: 2 4
! expect: MPI_ERR_ROOT one of all
program root_in_fortran
    use mpi
    implicit none
    integer :: n, rank, error
    call MPI_Init(error)
    call MPI_Comm_size(MPI_COMM_WORLD, n, error)
    call MPI_Comm_rank(MPI_COMM_WORLD, rank, error)
    call MPI_Bcast(rank, 1, MPI_INTEGER, n, MPI_COMM_WORLD, error)   ! HERE all
    call MPI_Finalize(error)
end program root_in_fortran
