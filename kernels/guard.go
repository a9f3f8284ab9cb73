package main

import (
	"os"
	"os/exec"
	"os/signal"
	"slices"
	"syscall"
	"time"

	"github.com/spf13/cobra"
)

const guardVerb = "guard"

// guardCommand returns the inner part of supervise. The guard is the parent of a command. It has its own session, so
// that signals to the process that started it do not reach it. It runs until the command and all processes that the
// command started have ended. For example, a GoNB that is killed leaves its running cell behind.
func guardCommand() *cobra.Command {
	var remove string
	cmd := &cobra.Command{
		Use:    guardVerb + " [--remove FOLDER] -- COMMAND [ARGUMENT...]",
		Short:  "Run a command, and end all processes that it starts",
		Hidden: true,
		Args:   bad(cobra.MinimumNArgs(1)),
		RunE: func(_ *cobra.Command, argv []string) error {
			code, err := guard(argv)
			removeAll(remove)
			return exited(code, err)
		},
	}
	cmd.Flags().StringVar(&remove, "remove", "", "a folder to remove at the end")
	return cmd
}

// Time that a command has to stop, and that its children's guards have to clean up, before they are killed.
const (
	stopGrace  = 8 * time.Second
	sweepGrace = 5 * time.Second
)

// guard runs the command, and returns its exit status when all its processes have ended.
func guard(argv []string) (int, error) {
	parent := os.Getppid()
	becomeReaper()
	stop := make(chan os.Signal, 4)
	signal.Notify(stop, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	if err := cmd.Start(); err != nil {
		return 0, err
	}
	ended := make(chan int, 1)
	go func() { ended <- reap(cmd.Process.Pid) }()
	code := await(cmd.Process, parent, stop, ended)
	sweep(true)
	return code, nil
}

// await waits for the command. It stops the command on a signal, or when the guard's parent has ended.
func await(p *os.Process, parent int, stop <-chan os.Signal, ended <-chan int) int {
	tick := time.NewTicker(masterPoll)
	defer tick.Stop()
	var deadline time.Time
	for {
		select {
		case code := <-ended:
			return code
		case <-stop:
			if deadline.IsZero() {
				deadline = time.Now().Add(stopGrace)
			}
			p.Signal(syscall.SIGTERM)
		case <-tick.C:
			if deadline.IsZero() && os.Getppid() != parent {
				deadline = time.Now().Add(stopGrace)
				p.Signal(syscall.SIGTERM)
			}
			if !deadline.IsZero() && time.Now().After(deadline) {
				p.Kill()
			}
		}
	}
}

// sweep kills the descendants of this process, and waits until there are none, but at most for twice sweepGrace. Guards
// end by themselves after their own sweep; if late is set, guards that do not end are killed, too. sweep reads the
// process table until two readings in a row show no descendant, because reading takes time and a process can lose its
// parent meanwhile.
func sweep(late bool) {
	began := time.Now()
	for clear := 0; clear < 2 && time.Since(began) < 2*sweepGrace; time.Sleep(20 * time.Millisecond) {
		all := late && time.Since(began) > sweepGrace
		left := descendants(os.Getpid(), !all)
		if !late {
			left = slices.DeleteFunc(left, func(p process) bool { return p.guard })
		}
		for _, p := range left {
			if all || !p.guard {
				kill(p.pid)
			}
		}
		if clear++; len(left) > 0 {
			clear = 0
		}
	}
}
