package layer

import (
	"os"
	"os/exec"
	"strconv"

	"github.com/hypermodels/hypermodels/hyper/notebook/frontend"
)

// stay is how a cell's program tells its wrapper that the cell has ended while the program goes on: by a byte in a
// pipe. See [frontend.Conn.Stay].
type stay struct {
	read, write *os.File
	went        bool
}

func newStay() (s *stay, err error) {
	s = new(stay)
	s.read, s.write, err = os.Pipe()
	return s, err
}

// give hands a command that is to be started the end of the pipe that it writes.
func (s *stay) give(cmd *exec.Cmd) {
	if s.write == nil {
		return
	}
	if cmd.Env == nil {
		cmd.Env = os.Environ()
	}
	cmd.SysProcAttr = mayStay()
	cmd.ExtraFiles = []*os.File{s.write}
	cmd.Env = append(cmd.Env, frontend.StayVar+"="+strconv.Itoa(3)) // After standard error.
}

// wait waits for the command's end, or for the end of the cell. The command is the wrapper's child until then.
func (s *stay) wait(cmd *exec.Cmd) error {
	if s.write == nil {
		return cmd.Wait()
	}
	s.write.Close()
	stays, ended := make(chan bool, 1), make(chan error, 1)
	go func() {
		n, _ := s.read.Read(make([]byte, 1))
		stays <- n > 0
	}()
	go func() { ended <- cmd.Wait() }()
	select {
	case err := <-ended:
		return err
	case goes := <-stays:
		if s.went = goes; goes {
			return nil
		}
		return <-ended
	}
}
