package posix

import (
	"errors"
	"os"
	"syscall"
)

// The Go kernel runs on Windows only inside WSL. These functions let the module build there.

// OwnGroup returns attributes that put a child into its own process group.
func OwnGroup() *syscall.SysProcAttr { return nil }

// KillGroup kills all processes of a group.
func KillGroup(int) {}

// SignalGroup sends a signal to all processes of a group.
func SignalGroup(int, os.Signal) {}

// MakePipe makes a named pipe.
func MakePipe(string) error { return errors.ErrUnsupported }

// MaySurvive is OwnGroup: on Windows there is no group.
func MaySurvive() *syscall.SysProcAttr { return OwnGroup() }

// PacketMode does nothing: only Linux has packets.
func PacketMode(*os.File) {}
