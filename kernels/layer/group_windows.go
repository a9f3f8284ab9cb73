package layer

import (
	"errors"
	"os"
	"syscall"
)

// The Go kernel runs on Windows only inside WSL. These functions let the module build there.

func ownGroup() *syscall.SysProcAttr { return nil }

func killGroup(int) {}

func signalGroup(int, os.Signal) {}

func makePipe(string) error { return errors.ErrUnsupported }

func mayStay() *syscall.SysProcAttr { return ownGroup() }

func packets(*os.File) {}
