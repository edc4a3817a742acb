! SPDX-License-Identifier: BSD-3-Clause
! Persistent requests on a communicator that is freed before they are.
! ranks: 2
program persistent
  use mpi
  implicit none
  integer :: rank, ierror
  integer :: x, y, i, requests(2), comm
  call MPI_Init(ierror)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierror)
  call MPI_Comm_dup(MPI_COMM_WORLD, comm, ierror)
  x = rank
  call MPI_Send_init(x, 1, MPI_INTEGER, 1 - rank, 0, comm, requests(1), ierror)
  call MPI_Recv_init(y, 1, MPI_INTEGER, 1 - rank, 0, comm, requests(2), ierror)
  call MPI_Comm_free(comm, ierror)
  do i = 1, 3
    call MPI_Startall(2, requests, ierror)
    call MPI_Waitall(2, requests, MPI_STATUSES_IGNORE, ierror)
  end do
  call MPI_Request_free(requests(1), ierror)
  call MPI_Request_free(requests(2), ierror)
  call MPI_Finalize(ierror)
end program persistent
