package layer

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"sync"
	"time"

	"github.com/hypermodels/hypermodels/hyper/notebook/frontend"
	"github.com/hypermodels/hypermodels/kernels/internal/posix"
	"github.com/hypermodels/hypermodels/kernels/internal/tail"
	"github.com/hypermodels/hypermodels/kernels/internal/zmtp"
	"github.com/hypermodels/hypermodels/kernels/layer/gopls"
	"github.com/hypermodels/hypermodels/kernels/layer/wrapper"
)

// engine is a running GoNB. Its sockets are files in a folder of its own, not network ports.
type engine struct {
	cmd                          *exec.Cmd
	dir                          string
	shell, control, stdin, iopub *channel
	ctx                          context.Context // ends with the process or the kernel
	cancel                       context.CancelCauseFunc
	output                       *tail.Buffer  // the end of its output
	gone                         chan struct{} // closed after the process has ended
	fate                         error         // the error of the process, set when it has ended
	ready                        chan struct{} // closed when outputs arrive
	readyOnce                    sync.Once
	gopls                        *gopls.Assistant

	mu    sync.Mutex
	asked time.Time // time of its latest question to the user
}

// startLimit is the maximum time until GoNB listens, and again until it answers. Tests shorten it.
var startLimit = 60 * time.Second

var (
	errStopped = errors.New("the kernel is shutting down")
	errMute    = errors.New("GoNB does not answer")
)

// startEngine starts GoNB and waits until it listens. number distinguishes the engines of one kernel.
func startEngine(ctx context.Context, c Config, number int) (*engine, error) {
	e := &engine{dir: filepath.Join(c.Dir, strconv.Itoa(number)), output: &tail.Buffer{}, gone: make(chan struct{}),
		ready: make(chan struct{})}
	e.ctx, e.cancel = context.WithCancelCause(ctx)
	if err := os.MkdirAll(e.dir, 0o700); err != nil {
		return nil, err
	}
	conn := connection{Scheme: scheme, Transport: "ipc", IP: filepath.Join(e.dir, "s"), Key: newID(),
		Shell: 1, Control: 2, Stdin: 3, IOPub: 4, Heartbeat: 5}
	file := filepath.Join(e.dir, filepath.Base(c.Connection)) // GoNB reads the kernel's id from this name.
	if err := conn.write(file); err != nil {
		return nil, err
	}
	if err := e.launch(c, file); err != nil {
		return nil, err
	}
	if err := e.dial(conn); err != nil {
		return nil, e.death(err)
	}
	return e, nil
}

// launch starts the process.
func (e *engine) launch(c Config, file string) error {
	e.cmd = exec.Command(c.Engine[0], append(c.Engine[1:len(c.Engine):len(c.Engine)], "-kernel="+file)...)
	e.cmd.Dir, e.cmd.Stdout, e.cmd.Stderr = c.Start, e.output, e.output
	e.cmd.Env = append(c.Env[:len(c.Env):len(c.Env)], "TMPDIR="+e.dir, wrapper.StopVar+"="+wrapper.StopFile(c.Dir),
		frontend.Var+"="+programSocket(c.Dir))
	e.cmd.SysProcAttr = posix.OwnGroup()
	e.cmd.WaitDelay = time.Second // Processes that GoNB leaves may hold its output open.
	if err := e.cmd.Start(); err != nil {
		return fmt.Errorf("cannot start GoNB: %w", err)
	}
	go func() {
		e.fate = e.cmd.Wait()
		close(e.gone)
		e.cancel(errStopped)
	}()
	return nil
}

// dial connects to the process. All connections have the same identity, because GoNB sends replies and questions to the
// identity of the request.
func (e *engine) dial(conn connection) error {
	limit := time.AfterFunc(startLimit, func() { e.cancel(errMute) })
	defer limit.Stop()
	for _, s := range []struct {
		at   **channel
		port int
	}{{&e.shell, conn.Shell}, {&e.control, conn.Control}, {&e.stdin, conn.Stdin}, {&e.iopub, conn.IOPub}} {
		connect := func() (*zmtp.Client, error) { return zmtp.Dealer(e.ctx, conn.address(s.port), "layer") }
		if s.at == &e.iopub {
			connect = func() (*zmtp.Client, error) { return zmtp.Subscriber(e.ctx, conn.address(s.port)) }
		}
		c, err := connect()
		if err != nil {
			return err
		}
		*s.at = &channel{key: signer(conn.Key), socket: c, from: c}
	}
	return nil
}

// listen passes on the messages of a channel. When the connection ends, the engine ends.
func (e *engine) listen(c *channel, take func(message)) {
	c.listen(take)
	e.cancel(errors.New("GoNB has closed its connection"))
}

// awaitReady sends requests until an answer arrives on the channel of outputs. A subscription takes effect some time
// after it was sent, and earlier outputs are lost.
func (e *engine) awaitReady() error {
	limit := time.After(startLimit)
	for {
		if err := e.shell.send(message{}.answer("layer", probe, struct{}{})); err != nil {
			return e.death(err)
		}
		select {
		case <-e.ready:
			return nil
		case <-e.ctx.Done():
			return e.death(nil)
		case <-limit:
			return e.death(errMute)
		case <-time.After(100 * time.Millisecond):
		}
	}
}

// question notes the time of a question to the user.
func (e *engine) question() {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.asked = time.Now()
}

// answer sends the user's answer, at least settle after the question.
func (e *engine) answer(m message) {
	e.mu.Lock()
	early := settle - time.Since(e.asked)
	e.mu.Unlock()
	select {
	case <-time.After(early):
		e.stdin.send(m)
	case <-e.ctx.Done():
	}
}

// programDir returns the folder of GoNB's program, or "" if there is none yet.
func (e *engine) programDir() string {
	found, _ := filepath.Glob(filepath.Join(e.dir, "gonb_*", "go.mod"))
	if len(found) == 0 {
		return ""
	}
	return filepath.Dir(found[0])
}

// heard notes that outputs arrive.
func (e *engine) heard() { e.readyOnce.Do(func() { close(e.ready) }) }

// death ends the process, and returns an error for the user that says how it ended.
func (e *engine) death(err error) error {
	ended := false
	select {
	case <-e.gone:
		ended = e.fate != nil
	default:
	}
	cause := context.Cause(e.ctx)
	e.kill()
	switch {
	case ended:
		err = e.fate
	case cause != nil && !errors.Is(cause, context.Canceled):
		err = cause
	case err == nil || cause != nil:
		err = errStopped
	}
	if said := e.output.String(); said != "" {
		return fmt.Errorf("%w\n%s", err, said)
	}
	return err
}

// kill ends the process and its children, and removes its files.
func (e *engine) kill() {
	posix.KillGroup(e.cmd.Process.Pid)
	<-e.gone
	if e.gopls != nil {
		e.gopls.Stop()
	}
	os.RemoveAll(e.dir)
}

// goplsOf returns the path of gopls, which is in the folder of GoNB.
func goplsOf(c Config) string { return filepath.Join(filepath.Dir(c.Engine[0]), "gopls") }
