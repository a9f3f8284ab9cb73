package frontend

import (
	"errors"
	"os"
	"strconv"
)

// StayVar is the number of the file by which a program tells its wrapper that the cell has ended; see [Conn.Stay].
const StayVar = "HYPERMODELS_STAY"

// ErrNoCell says that no cell's wrapper waits for the program.
var ErrNoCell = errors.New("this program is not that of a cell")

// Stay ends the cell, and has the program go on: its widgets are answered as long as it lives. What it prints from now
// on is lost. It ends with the kernel, or when its cell is run again.
func (c *Conn) Stay() error {
	number, err := strconv.Atoi(os.Getenv(StayVar))
	if err != nil {
		return ErrNoCell
	}
	wrapper := os.NewFile(uintptr(number), "wrapper")
	defer wrapper.Close()
	if err := c.Settle(); err != nil {
		return err
	}
	go func() {
		<-c.gone
		os.Exit(0)
	}()
	if err := outlive(); err != nil {
		return err
	}
	_, err = wrapper.Write([]byte{1})
	return err
}
