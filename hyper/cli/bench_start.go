package cli

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/hypermodels/hypermodels/hyper/backend"
	"github.com/hypermodels/hypermodels/hyper/lab"
)

// startWorkloads are short calls of `hyper run`, which spend their time on starting and compiling.
var startWorkloads = map[string][]string{
	"gaussian":          {"gaussian", "--agent", "linear", "--runs", "4", "--periods", "50"},
	"gaussian-ensemble": {"gaussian", "--agent", "ensemble", "--set", "particles=10", "--runs", "4", "--periods", "50"},
	"neural":            {"neural", "--agent", "linear", "--runs", "4", "--periods", "20"},
	"ids":               {"ids", "--agent", "ids", "--runs", "4", "--periods", "20"},
}

// startTime holds the times of one start of a command, in seconds.
type startTime struct {
	Wall      float64 `json:"wall_seconds"`      // of the whole process
	Processor float64 `json:"processor_seconds"` // of all its threads
	Compile   float64 `json:"compile_seconds"`   // until the first period is done
}

// startLine is a line of `hyper bench start`, with medians over the rounds.
type startLine struct {
	Workload string    `json:"workload"`
	Backend  string    `json:"backend"`
	Rounds   int       `json:"rounds"`
	Cold     startTime `json:"cold"` // with an empty compile cache
	Warm     startTime `json:"warm"` // with the cache that the cold start has filled
	Peer     float64   `json:"peer_compile_seconds,omitempty"`
}

type startFlags struct {
	backend string
	rounds  int
	peers   []string
	json    bool
}

func benchStartCommand() *cobra.Command {
	var f startFlags
	names := slices.Sorted(maps.Keys(startWorkloads))
	c := &cobra.Command{
		Use:   "start [WORKLOAD...]",
		Short: "Measure how long a command takes before its first period, with an empty and a filled compile cache",
		Long: `start runs short commands as separate processes: first cold, with an empty compile cache, and then warm, with
the cache that the cold process has filled. Both must give the same bytes as results. Times are medians over the rounds.
"compile" is the time of building and compiling the programs, until the first period is done.

A peer is another program for the same task, which runs in the same rounds. The last line of its output must be a JSON
object whose "compile_s" is its compilation time in seconds.

Workloads: ` + strings.Join(names, ", ") + ` (default: all)`,
		Example: `  hyper bench start
  hyper bench start neural --peer 'neural=python fig4_nn_bandit.py --T 20'`,
	}
	c.Flags().StringVar(&f.backend, "backend", "", "as for hyper run")
	c.Flags().IntVar(&f.rounds, "rounds", 3, "rounds of measurements")
	c.Flags().StringArrayVar(&f.peers, "peer", nil, "WORKLOAD=COMMAND: a program to compare with; repeatable")
	c.Flags().BoolVar(&f.json, "json", false, "print one JSON object per line")
	c.RunE = func(c *cobra.Command, args []string) error {
		if len(args) == 0 {
			args = names
		}
		return f.run(c.Context(), args)
	}
	return c
}

func (f startFlags) run(ctx context.Context, names []string) error {
	peers := map[string]string{}
	for _, p := range f.peers {
		name, command, ok := strings.Cut(p, "=")
		if !ok || command == "" {
			return fmt.Errorf("--peer %s: the form is WORKLOAD=COMMAND", p)
		}
		peers[name] = command
	}
	known := slices.Sorted(maps.Keys(startWorkloads))
	if err := unknown("workload", known, slices.Concat(names, slices.Collect(maps.Keys(peers)))...); err != nil {
		return err
	}
	if f.rounds < 1 {
		return errors.New("--rounds must be positive")
	}
	f.backend = cmp.Or(f.backend, backend.Default())
	if err := backend.Check(f.backend); err != nil {
		return err
	}
	var all []startLine
	for _, name := range names {
		s, err := f.measure(ctx, name, peers[name])
		if err != nil {
			return failure{fmt.Errorf("%s: %w", name, err)}
		}
		all = append(all, s)
	}
	return printAll(all, f.json, tabwriter.AlignRight, "workload\tcold s\twarm s\tcold/warm\tprocessor s, cold\twarm\t"+
		"compile s, cold\twarm\tpeer's compile s\tcold/peer\t", func(_ int, s startLine) string { return s.row() })
}

// measure times a workload in rounds: cold, warm, and the peer.
func (f startFlags) measure(ctx context.Context, name, peer string) (startLine, error) {
	var colds, warms []startTime
	var peers []float64
	for range f.rounds {
		if ctx.Err() != nil {
			return startLine{}, lab.ErrInterrupted
		}
		cold, warm, err := f.round(ctx, startWorkloads[name])
		if err != nil {
			return startLine{}, err
		}
		colds, warms = append(colds, cold), append(warms, warm)
		if peer != "" {
			seconds, err := peerCompile(ctx, peer)
			if err != nil {
				return startLine{}, err
			}
			peers = append(peers, seconds)
		}
	}
	out := startLine{Workload: name, Backend: f.backend, Rounds: f.rounds, Cold: medians(colds), Warm: medians(warms)}
	if peer != "" {
		out.Peer = median(peers)
	}
	return out, nil
}

// round starts a command twice, with an empty cache and with the cache of the first start, and compares the results.
func (f startFlags) round(ctx context.Context, args []string) (cold, warm startTime, err error) {
	dir, err := os.MkdirTemp("", "hyper-start-")
	if err != nil {
		return cold, warm, err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	var rows [2][]byte
	for i, t := range []*startTime{&cold, &warm} {
		out := filepath.Join(dir, fmt.Sprint("out", i))
		if *t, err = f.once(ctx, args, out, filepath.Join(dir, "compiled")); err != nil {
			return cold, warm, err
		}
		text, err := os.ReadFile(filepath.Join(out, lab.ResultsFile))
		if err != nil {
			return cold, warm, err
		}
		// Headers have no times, but may differ in information about the process.
		_, rows[i], _ = bytes.Cut(text, []byte("\n"))
	}
	if !bytes.Equal(rows[0], rows[1]) {
		return cold, warm, errors.New("a program from the compile cache gives different results than a newly compiled one")
	}
	return cold, warm, nil
}

// once starts `hyper run` as a process with one worker.
func (f startFlags) once(ctx context.Context, args []string, out, cache string) (t startTime, err error) {
	self, err := os.Executable()
	if err != nil {
		return t, err
	}
	more := []string{"--workers", "1", "--json", "--backend", f.backend, "--out", out}
	c := exec.CommandContext(ctx, self, slices.Concat([]string{"run"}, args, more)...)
	c.Env = append(os.Environ(), "HYPER_COMPILE_CACHE="+cache)
	var stderr bytes.Buffer
	c.Stderr = &stderr
	begin := time.Now()
	text, err := c.Output()
	if err != nil {
		return t, fmt.Errorf("%w: %s", err, stderr.String())
	}
	t.Wall = time.Since(begin).Seconds()
	t.Processor = (c.ProcessState.UserTime() + c.ProcessState.SystemTime()).Seconds()
	var said outcome
	err = json.Unmarshal(text, &said)
	t.Compile = said.CompileSeconds
	return t, err
}

// peerCompile runs a peer, and returns its own measurement of the compilation time.
func peerCompile(ctx context.Context, command string) (float64, error) {
	c := exec.CommandContext(ctx, "sh", "-c", command)
	c.Stderr = os.Stderr
	text, err := c.Output()
	if err != nil {
		return 0, fmt.Errorf("the peer %q: %w", command, err)
	}
	lines := bytes.Split(bytes.TrimSpace(text), []byte("\n"))
	var said struct {
		Compile float64 `json:"compile_s"`
	}
	if err := json.Unmarshal(lines[len(lines)-1], &said); err != nil || said.Compile <= 0 {
		return 0, fmt.Errorf("the last line of the peer %q has no compile_s: %s", command, lines[len(lines)-1])
	}
	return said.Compile, nil
}

func medians(all []startTime) startTime {
	var wall, processor, compile []float64
	for _, t := range all {
		wall, processor, compile = append(wall, t.Wall), append(processor, t.Processor), append(compile, t.Compile)
	}
	return startTime{median(wall), median(processor), median(compile)}
}

func median(x []float64) float64 {
	sorted := slices.Sorted(slices.Values(x))
	n := len(sorted)
	return (sorted[(n-1)/2] + sorted[n/2]) / 2
}

func (s startLine) row() string {
	peer := "\t"
	if s.Peer > 0 {
		peer = fmt.Sprintf("%.2f\t%.2f", s.Peer, s.Cold.Compile/s.Peer)
	}
	return fmt.Sprintf("%s\t%.2f\t%.2f\t%.1f\t%.2f\t%.2f\t%.2f\t%.2f\t%s\t", s.Workload, s.Cold.Wall, s.Warm.Wall,
		s.Cold.Wall/s.Warm.Wall, s.Cold.Processor, s.Warm.Processor, s.Cold.Compile, s.Warm.Compile, peer)
}
