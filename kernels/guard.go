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

// guardCommand is the inner half of supervise. The guard is the parent of a command, stays out of reach of what kills
// the process that started it (it has a session of its own), and outlives the command until everything that the command
// started has ended: GoNB, for one, when killed leaves the running cell behind.
func guardCommand() *cobra.Command {
	var remove string
	cmd := &cobra.Command{
		Use:    guardVerb + " [--remove FOLDER] -- COMMAND [ARGUMENT...]",
		Short:  "Run a command and leave nothing of it behind",
		Hidden: true,
		Args:   bad(cobra.MinimumNArgs(1)),
		RunE: func(_ *cobra.Command, argv []string) error {
			code, err := guard(argv)
			removeAll(remove)
			if err == nil && code != 0 {
				return exitError(code)
			}
			return err
		},
	}
	cmd.Flags().StringVar(&remove, "remove", "", "a folder to remove at the end")
	return cmd
}

// How long a command may take to stop by itself, and its children's guards to clean up, before they are killed.
const (
	stopGrace  = 8 * time.Second
	sweepGrace = 5 * time.Second
)

// guard runs the command and returns its exit status when nothing of it is left.
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

// await waits for the command, and has it stopped on a signal or when the guard's parent is gone.
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

// sweep kills what is left below this process, and waits until nothing is. Guards end by themselves, having swept on
// their part; with late, those that do not are killed too. It looks until it sees nothing twice: the process table is
// not read at one moment, and who loses its parent meanwhile is not seen.
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
