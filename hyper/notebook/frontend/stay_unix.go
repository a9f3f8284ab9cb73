//go:build unix

package frontend

import (
	"os"
	"os/signal"
	"syscall"
)

// outlive lets the program continue without its wrapper. On Linux it ignores SIGHUP, the signal of the wrapper's death.
// It replaces standard input and outputs by the null device, because while they are open the cell cannot end.
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
