package layer

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"time"
)

// stopVar names the stop file to the wrappers.
const stopVar = "HYPERMODELS_STOP"

// RunCell runs the program of a cell: a path and its arguments. What it says of panics and of positions in the cell is
// marked for the layer. The result is the wrapper's exit status, which is 0 however the program ended.
func RunCell(argv []string) int {
	if len(argv) == 0 {
		return 2
	}
	var about running
	if text, err := os.ReadFile(argv[0] + ".run"); err == nil {
		_ = json.Unmarshal(text, &about) // Without it positions are those in the program's file.
	}
	for _, note := range about.Notes {
		fmt.Fprintln(os.Stderr, note)
	}
	errors := &runes{to: os.Stderr}
	defer errors.finish()
	return wrapped(CellVerb, "", argv, newFilter(errors, filepath.Dir(argv[0]), about.Lines))
}

// RunShell runs a `!command`, encoded by [rewrite], and RunScript the interpreter of a script cell.
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
		if own, ok := strings.CutPrefix(name, quote(program)+" "); ok { // See [special].
			name = "%" + own
		}
	}
	return wrapped(ShellVerb, name, []string{"/bin/bash", "-c", string(command)}, nil)
}

// RunScript: see [RunShell].
func RunScript(argv []string) int {
	if len(argv) == 0 {
		return tell("", report{ScriptVerb, "no program is named", ""})
	}
	return wrapped(ScriptVerb, "", argv, nil)
}

// wrapped runs a command, unless the cell is to end, and reports a failure.
func wrapped(kind, name string, argv []string, errors *filter) int {
	stop := os.Getenv(stopVar)
	if raised(stop) {
		return tell("", report{kind, stopped, name})
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
	raise(stop)
	return tell(panics, report{kind, status, name})
}

// stopped is the status of what did not begin.
const stopped = "stopped"

// tell reports to the layer. The exit status is 0, since GoNB would print any other.
func tell(panics string, r report) int {
	fmt.Fprint(os.Stderr, openText+panics+closeText+r.String())
	return 0
}

// killAfter is how long a command may go on after an interrupt; GoNB would kill its wrapper alone a second later.
const killAfter = 4 * time.Second

// runGroup runs a command in a process group of its own and returns how it failed, or "".
func runGroup(kind string, argv []string, errors *filter) (string, error) {
	runtime.LockOSThread() // The child dies with the thread that started it.
	var pipes *relay
	stays := new(stay)
	if kind == CellVerb {
		var err error
		if pipes, err = startRelay(); err != nil {
			return "", err
		}
		if stays, err = newStay(); err != nil {
			return "", err
		}
	}
	signals := make(chan os.Signal, 4)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	cmd := exec.Command(argv[0], argv[1:]...)
	plain := &runes{to: os.Stderr}
	defer plain.finish()
	cmd.Stderr = plain
	if errors != nil {
		cmd.Stderr = errors
	}
	cmd.SysProcAttr = ownGroup()
	out, err := startOutput()
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
	if kind == ScriptVerb { // The script.
		cmd.Stdin = os.Stdin
	}
	if pipes != nil {
		cmd.Env = pipes.env
		defer func() { pipes.finish(stays.went) }()
	}
	stays.give(cmd)
	if err := cmd.Start(); err != nil {
		return "", err
	}
	out.write.Close()
	if kind != ScriptVerb {
		go in.serve(cmd.Process.Pid, os.Stdin)
	}
	go passSignals(cmd.Process.Pid, signals)
	err = stays.wait(cmd)
	if err == nil {
		return "", nil
	}
	if cmd.ProcessState == nil || cmd.ProcessState.Success() {
		return "", err
	}
	return cmd.ProcessState.String(), nil
}

// output is the standard output of a command, on its way to GoNB.
type output struct {
	write *os.File // the command's end
	done  chan struct{}
}

func startOutput() (*output, error) {
	read, write, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	for _, pipe := range []*os.File{os.Stdout, os.Stderr} {
		if info, err := pipe.Stat(); err == nil && info.Mode()&os.ModeNamedPipe != 0 {
			packets(pipe)
		}
	}
	o := &output{write, make(chan struct{})}
	go func() {
		defer close(o.done)
		defer read.Close()
		to := &runes{to: os.Stdout}
		_, _ = io.Copy(to, read)
		to.finish()
	}()
	return o, nil
}

// finish waits until GoNB has all that the command, and what it has left running, has printed.
func (o *output) finish() {
	o.write.Close()
	<-o.done
}

// passSignals hands signals to a process group, and kills it when it does not end.
func passSignals(group int, signals <-chan os.Signal) {
	for s := range signals {
		signalGroup(group, s)
		time.AfterFunc(killAfter, func() { killGroup(group) })
	}
}
