// Package wrapper runs the commands of cells: the program of a Go cell, `!command` lines and script cells.
//
// GoNB starts a wrapper in place of a command, and the wrapper starts the command in a process group of its own. The
// wrapper ends all processes of the group when the cell is interrupted, asks the user for input, and waits until GoNB
// has received everything that the command displays. It reports failures and panics by marks on standard error, see
// marks.go; the kernel reads them by an [MarkReader]. [Rewrite] changes a cell so that GoNB starts wrappers.
package wrapper

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"time"

	"github.com/hypermodels/hypermodels/kernels/internal/posix"
	"github.com/hypermodels/hypermodels/kernels/layer/cells"
)

// The verbs that run a command of a cell: see [RunCell], [RunShell] and [RunScript].
const (
	CellVerb   = "cell"
	ShellVerb  = "shell"
	ScriptVerb = "script"
)

// RunCell runs the program of a cell: argv has the path and the arguments. It marks panics and positions in the
// program's error output for the layer. RunCell returns the wrapper's exit status, which is 0 whether or not the
// program fails.
func RunCell(argv []string) int {
	if len(argv) == 0 {
		return 2
	}
	var a About
	if text, err := os.ReadFile(argv[0] + ".run"); err == nil {
		_ = json.Unmarshal(text, &a) // Without the file, positions refer to the program's file.
	}
	for _, note := range a.Notes {
		fmt.Fprintln(os.Stderr, note)
	}
	errors := &runes{to: os.Stderr}
	defer errors.finish()
	return wrapped(CellVerb, "", argv, newFilter(errors, filepath.Dir(argv[0]), a.Lines))
}

// RunShell runs a `!command`, encoded by [Rewrite]. It returns an exit status.
func RunShell(argv []string) int {
	if len(argv) != 1 {
		return 2
	}
	command, err := base64.RawURLEncoding.DecodeString(argv[0])
	if err != nil {
		return 2
	}
	name := string(command)
	if program, err := os.Executable(); err == nil {
		if own, ok := strings.CutPrefix(name, Quote(program)+" "); ok { // See [special].
			name = "%" + own
		}
	}
	return wrapped(ShellVerb, name, []string{"/bin/bash", "-c", string(command)}, nil)
}

// RunScript runs the interpreter of a script cell. It returns an exit status.
func RunScript(argv []string) int {
	if len(argv) == 0 {
		return tell("", Report{ScriptVerb, "%%script needs the name of a program", ""})
	}
	return wrapped(ScriptVerb, "", argv, nil)
}

// wrapped runs a command, unless the cell has to end, and reports a failure.
func wrapped(kind, name string, argv []string, errors *filter) int {
	stop := os.Getenv(StopVar)
	if stopIsSet(stop) {
		return tell("", Report{kind, stopped, name})
	}
	status, err := runGroup(kind, argv, errors)
	var panics string
	if errors != nil {
		panics = errors.finish(status != "")
	}
	if err != nil {
		status = err.Error()
	}
	if status == "" {
		return 0
	}
	SetStop(stop)
	return tell(panics, Report{kind, status, name})
}

// stopped is the status of a command that was not started.
const stopped = "stopped"

// tell reports to the layer. The exit status is 0, because GoNB would print any other status.
func tell(panics string, r Report) int {
	fmt.Fprint(os.Stderr, openText+panics+closeText+r.String())
	return 0
}

// killAfter is the time that a command has to end after an interrupt. A second later, GoNB would kill the wrapper but
// not the command.
const killAfter = 4 * time.Second

// runGroup runs a command in its own process group, and returns a description of its failure, or "".
func runGroup(kind string, argv []string, errors *filter) (string, error) {
	runtime.LockOSThread() // The child is killed when the thread that started it ends.
	pipes, err := newPipes(kind)
	if err != nil {
		return "", err
	}
	signals := make(chan os.Signal, 4)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.SysProcAttr = posix.OwnGroup()
	if cmd.Stderr = errors; errors == nil {
		plain := &runes{to: os.Stderr}
		defer plain.finish()
		cmd.Stderr = plain
	}
	out, err := startOutput(errors)
	if err != nil {
		return "", err
	}
	defer out.finish()
	in, err := newInput()
	if err != nil {
		return "", err
	}
	defer in.finish()
	cmd.Stdout, cmd.Stdin = out.write, in.read
	if kind == ScriptVerb { // Standard input is the script.
		cmd.Stdin = os.Stdin
	}
	defer pipes.finish()
	pipes.give(cmd)
	if err := cmd.Start(); err != nil {
		return "", err
	}
	out.write.Close()
	if kind != ScriptVerb {
		go in.serve(cmd.Process.Pid, os.Stdin)
	}
	go passSignals(cmd.Process.Pid, signals)
	return failure(cmd, pipes.stay.wait(cmd))
}

// failure returns a description of a command's failure, or "". err is the error of waiting for the command.
func failure(cmd *exec.Cmd, err error) (string, error) {
	if err != nil && cmd.ProcessState != nil && !cmd.ProcessState.Success() {
		return cmd.ProcessState.String(), nil
	}
	return "", err
}

// pipes connects the program of a Go cell to GoNB and to the wrapper, in addition to the standard streams. Other commands
// have no such pipes.
type pipes struct {
	relay *relay // nil if there is none
	stay  *stay
}

func newPipes(kind string) (p pipes, err error) {
	p.stay = new(stay)
	if kind != CellVerb {
		return p, nil
	}
	if p.relay, err = startRelay(); err != nil {
		return p, err
	}
	p.stay, err = newStay()
	return p, err
}

// give passes the program's ends of the pipes to a command that has not been started yet.
func (p pipes) give(cmd *exec.Cmd) {
	if p.relay != nil {
		cmd.Env = p.relay.env
	}
	p.stay.give(cmd)
}

// finish is called at the end of the command or of the cell.
func (p pipes) finish() {
	if p.relay != nil {
		p.relay.finish(p.stay.went)
	}
}

// passSignals passes signals to a process group, and kills the group if it does not end in time.
func passSignals(group int, signals <-chan os.Signal) {
	for s := range signals {
		posix.SignalGroup(group, s)
		time.AfterFunc(killAfter, func() { posix.KillGroup(group) })
	}
}

// About is what the wrapper of a cell's program knows about the program.
type About struct {
	Lines []cells.Place // where each line of the program's file comes from; zero if not from a cell
	Notes []string      // messages to the user, shown first
}

// Install puts the wrapper of a cell in the place of its program. verbs is the program with this package's verbs.
func Install(program, verbs string, a About) error {
	text, err := json.Marshal(a)
	if err != nil {
		return err
	}
	moved := program + ".cell"
	if err := errors.Join(os.Rename(program, moved), os.WriteFile(moved+".run", text, 0o600)); err != nil {
		return err
	}
	script := fmt.Sprintf("#!/bin/sh\nexec %s %s %s \"$@\"\n", Quote(verbs), CellVerb, Quote(moved))
	return os.WriteFile(program, []byte(script), 0o700)
}
