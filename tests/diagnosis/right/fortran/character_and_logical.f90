! SPDX-License-Identifier: BSD-3-Clause
! Character and logical types that match on both sides.
! ranks: 2
program character_and_logical
  use mpi_f08
  implicit none
  integer :: rank
  character(len=10) :: name
  logical :: flag
  complex :: z(3)
  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  name = 'rank'
  flag = .true.
  z = (1.0, 2.0)
  if (rank == 0) then
    call MPI_Send(name, 10, MPI_CHARACTER, 1, 0, MPI_COMM_WORLD)
    call MPI_Send(flag, 1, MPI_LOGICAL, 1, 0, MPI_COMM_WORLD)
    call MPI_Send(z, 3, MPI_COMPLEX, 1, 0, MPI_COMM_WORLD)
  else
    call MPI_Recv(name, 10, MPI_CHARACTER, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE)
    call MPI_Recv(flag, 1, MPI_LOGICAL, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE)
    call MPI_Recv(z, 3, MPI_COMPLEX, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE)
  end if
  call MPI_Finalize()
end program character_and_logical
