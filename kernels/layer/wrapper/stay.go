package wrapper

import (
	"os"
	"os/exec"
	"strconv"

	"github.com/hypermodels/hypermodels/hyper/notebook/frontend"
	"github.com/hypermodels/hypermodels/kernels/internal/posix"
)

// stay is a pipe by which a cell's program tells its wrapper that the cell has ended although the program continues:
// the program writes a byte. See [frontend.Conn.Stay].
type stay struct {
	read, write *os.File
	went        bool
}

func newStay() (s *stay, err error) {
	s = new(stay)
	s.read, s.write, err = os.Pipe()
	return s, err
}

// give passes the writing end of the pipe to a command that has not been started yet.
func (s *stay) give(cmd *exec.Cmd) {
	if s.write == nil {
		return
	}
	if cmd.Env == nil {
		cmd.Env = os.Environ()
	}
	cmd.SysProcAttr = posix.MaySurvive()
	cmd.ExtraFiles = []*os.File{s.write}
	cmd.Env = append(cmd.Env, frontend.StayVar+"="+strconv.Itoa(3)) // The first file after standard error.
}

// wait waits for the end of the command or of the cell. Until then the command is a child of the wrapper.
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
