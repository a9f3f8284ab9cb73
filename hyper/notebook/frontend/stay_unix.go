//go:build unix

package frontend

import (
	"os"
	"os/signal"
	"syscall"
)

// outlive lets the program live on without its wrapper, whose death it hears of by SIGHUP on Linux, with nothing to
// read and nobody to print to: its input and outputs hold up the cell's end.
func outlive() error {
	signal.Ignore(syscall.SIGHUP)
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	defer null.Close()
	for fd := range 3 {
		if err := dup(int(null.Fd()), fd); err != nil {
			return err
		}
	}
	return nil
}
