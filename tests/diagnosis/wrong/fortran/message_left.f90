! SPDX-License-Identifier: BSD-3-Clause
! One message is never received.
! ranks: 2
! expect: warning T07 ranks 1
program message_left
  use mpi
  implicit none
  integer :: rank, ierror
  integer :: x, i
  call MPI_Init(ierror)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierror)
  x = rank
  do i = 1, 3
    if (rank == 0) call MPI_Send(x, 1, MPI_INTEGER, 1, i, MPI_COMM_WORLD, ierror)
    if (rank == 1 .and. i < 3) call MPI_Recv(x, 1, MPI_INTEGER, 0, i, MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierror)
  end do
  call MPI_Barrier(MPI_COMM_WORLD, ierror)
  call MPI_Finalize(ierror)
end program message_left
