package gopls

import (
	"io"
	"os"
	"os/exec"
	"time"

	"github.com/hypermodels/hypermodels/kernels/internal/posix"
)

// Starter starts a language server. The result communicates with the server; its Close ends the server.
type Starter func() (io.ReadWriteCloser, error)

// noTelemetry prevents gopls, and the Go commands that it runs, from counting their usage: gopls would start a process
// of 10 to 100 MB for that. golang.org/x/telemetry sets the variable in such a process, which therefore starts no
// further one.
const noTelemetry = "GO_TELEMETRY_CHILD=2"

// Start starts gopls in a folder. Its error output goes to log; nil discards the output.
func Start(path, dir string, env []string, log *os.File) (io.ReadWriteCloser, error) {
	cmd := exec.Command(path)
	cmd.Dir, cmd.Env, cmd.SysProcAttr = dir, append(env[:len(env):len(env)], noTelemetry), posix.OwnGroup()
	if log != nil {
		cmd.Stderr = log
	}
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	p := &process{Reader: out, WriteCloser: in, pid: cmd.Process.Pid, ended: make(chan struct{})}
	go func() {
		_ = cmd.Wait()
		close(p.ended)
	}()
	return p, nil
}

// process is a program with which the caller communicates by its standard input and output.
type process struct {
	io.Reader
	io.WriteCloser
	pid   int
	ended chan struct{}
}

// closeGrace is the time that a program has to end after its input has ended.
const closeGrace = 500 * time.Millisecond

// Close ends the program and its children.
func (p *process) Close() error {
	err := p.WriteCloser.Close()
	select {
	case <-p.ended:
	case <-time.After(closeGrace):
	}
	posix.KillGroup(p.pid)
	<-p.ended
	return err
}
