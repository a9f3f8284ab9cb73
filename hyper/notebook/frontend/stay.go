package frontend

import (
	"errors"
	"os"
	"strconv"
)

// StayVar is the environment variable with the number of a file. By that file a program tells its wrapper that the cell
// has ended; see [Conn.Stay].
const StayVar = "HYPERMODELS_STAY"

// Stay ends the cell, but the program continues and answers its widgets. The program's later output is lost. The
// program ends with the kernel, or when its cell is run again.
func (c *Conn) Stay() error {
	number, err := strconv.Atoi(os.Getenv(StayVar))
	if err != nil {
		return errors.New("this program is not the program of a cell")
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
