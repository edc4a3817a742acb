! SPDX-License-Identifier: BSD-3-Clause
! A copy of a datatype handle is used after the datatype was freed.
! ranks: 2
! expect: T13 one of 0-1
! mpiexec: --check
program copy_of_a_type
  use mpi_f08
  implicit none
  integer :: rank
  integer :: x(2)
  type(MPI_Datatype) :: pair, copy
  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  x = rank
  call MPI_Type_contiguous(2, MPI_INTEGER, pair)
  call MPI_Type_commit(pair)
  copy = pair
  call MPI_Type_free(pair)   ! HERE 0-1
  call MPI_Bcast(x, 1, copy, 0, MPI_COMM_WORLD)   ! HERE 0-1
  call MPI_Finalize()
end program copy_of_a_type
