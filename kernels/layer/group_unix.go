//go:build unix && !linux

package layer

import (
	"os"
	"syscall"
)

// ownGroup puts a child into its own process group.
func ownGroup() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }

func killGroup(group int) { syscall.Kill(-group, syscall.SIGKILL) }

func signalGroup(group int, s os.Signal) {
	if number, ok := s.(syscall.Signal); ok {
		syscall.Kill(-group, number)
	}
}

func makePipe(path string) error { return syscall.Mkfifo(path, 0o600) }

func mayStay() *syscall.SysProcAttr { return ownGroup() }

func packets(*os.File) {} // Only Linux has packets.
