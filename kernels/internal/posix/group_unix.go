//go:build unix && !linux

package posix

import (
	"os"
	"syscall"
)

// OwnGroup returns attributes that put a child into its own process group.
func OwnGroup() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }

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

// MaySurvive is OwnGroup: on this system children survive their parent.
func MaySurvive() *syscall.SysProcAttr { return OwnGroup() }

// PacketMode does nothing: only Linux has packets.
func PacketMode(*os.File) {}
