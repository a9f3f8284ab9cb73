// Package posix has the functions of the operating system by which the kernel runs programs: process groups and pipes.
package posix

import (
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// OwnGroup returns attributes that put a child into its own process group, and that kill the child when its parent
// dies.
func OwnGroup() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}

// MaySurvive returns attributes like OwnGroup, for a cell's program that may survive its parent: see
// [frontend.Conn.Stay]. The signal of the parent's death is set here because the child cannot change it: the signal
// belongs to the thread that started the program.
func MaySurvive() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGHUP}
}

// KillGroup kills all processes of a group.
func KillGroup(group int) { syscall.Kill(-group, syscall.SIGKILL) }

// SignalGroup sends a signal to all processes of a group.
func SignalGroup(group int, s os.Signal) {
	if number, ok := s.(syscall.Signal); ok {
		syscall.Kill(-group, number)
	}
}

// MakePipe makes a named pipe.
func MakePipe(path string) error { return syscall.Mkfifo(path, 0o600) }

// PacketMode makes each write to a pipe arrive as a separate read.
func PacketMode(pipe *os.File) {
	if flags, err := unix.FcntlInt(pipe.Fd(), unix.F_GETFL, 0); err == nil {
		_, _ = unix.FcntlInt(pipe.Fd(), unix.F_SETFL, flags|unix.O_DIRECT)
	}
}
