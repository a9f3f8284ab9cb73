package layer

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
	var a about
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

// RunShell runs a `!command`, encoded by [rewrite]. It returns an exit status.
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

// RunScript runs the interpreter of a script cell. It returns an exit status.
func RunScript(argv []string) int {
	if len(argv) == 0 {
		return tell("", report{ScriptVerb, "%%script needs the name of a program", ""})
	}
	return wrapped(ScriptVerb, "", argv, nil)
}

// wrapped runs a command, unless the cell has to end, and reports a failure.
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

// stopped is the status of a command that was not started.
const stopped = "stopped"

// tell reports to the layer. The exit status is 0, because GoNB would print any other status.
func tell(panics string, r report) int {
	fmt.Fprint(os.Stderr, openText+panics+closeText+r.String())
	return 0
}

// killAfter is the time that a command has to end after an interrupt. A second later, GoNB would kill the wrapper but
// not the command.
const killAfter = 4 * time.Second

// runGroup runs a command in its own process group, and returns a description of its failure, or "".
func runGroup(kind string, argv []string, errors *filter) (string, error) {
	runtime.LockOSThread() // The child is killed when the thread that started it ends.
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
	if kind == ScriptVerb { // Standard input is the script.
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

// passSignals passes signals to a process group, and kills the group if it does not end in time.
func passSignals(group int, signals <-chan os.Signal) {
	for s := range signals {
		signalGroup(group, s)
		time.AfterFunc(killAfter, func() { killGroup(group) })
	}
}

// about is what the wrapper of a cell's program knows about the program.
type about struct {
	Lines []place  // where each line of the program's file comes from; zero if not from a cell
	Notes []string // messages to the user, shown first
}

// install puts the wrapper of a cell in the place of its program. verbs is the program with this package's verbs.
func install(program, verbs string, a about) error {
	text, err := json.Marshal(a)
	if err != nil {
		return err
	}
	moved := program + ".cell"
	if err := errors.Join(os.Rename(program, moved), os.WriteFile(moved+".run", text, 0o600)); err != nil {
		return err
	}
	script := fmt.Sprintf("#!/bin/sh\nexec %s %s %s \"$@\"\n", quote(verbs), CellVerb, quote(moved))
	return os.WriteFile(program, []byte(script), 0o700)
}
