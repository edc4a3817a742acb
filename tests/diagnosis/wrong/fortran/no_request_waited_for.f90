! SPDX-License-Identifier: BSD-3-Clause
! The send is never completed.
! ranks: 2
! expect: warning T07 ranks 0
program no_request_waited_for
  use mpi_f08
  implicit none
  integer :: rank
  integer :: x
  type(MPI_Request) :: request
  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  x = rank
  if (rank == 0) call MPI_Isend(x, 1, MPI_INTEGER, 1, 0, MPI_COMM_WORLD, request)
  if (rank == 1) call MPI_Recv(x, 1, MPI_INTEGER, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE)
  call MPI_Barrier(MPI_COMM_WORLD)
  call MPI_Finalize()
end program no_request_waited_for
