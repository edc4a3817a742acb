! SPDX-License-Identifier: BSD-3-Clause
! The wrong tag is a default value of a subroutine in a module.
! ranks: 2
! expect: T02 ranks 1
program in_a_subroutine
  use mpi_f08
  implicit none
  integer :: rank
  integer :: x
  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  x = rank
  if (rank == 0) call MPI_Send(x, 1, MPI_INTEGER, 1, 7, MPI_COMM_WORLD)
  if (rank == 1) call receive(x)   ! the report names the line in it
  call MPI_Barrier(MPI_COMM_WORLD)
  call MPI_Finalize()
contains
  subroutine receive(value)
    integer, intent(out) :: value
    call MPI_Recv(value, 1, MPI_INTEGER, 0, 8, MPI_COMM_WORLD, MPI_STATUS_IGNORE)   ! HERE 1
  end subroutine receive
end program in_a_subroutine
