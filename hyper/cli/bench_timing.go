package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"github.com/hypermodels/hypermodels/hyper/backend"
	"github.com/hypermodels/hypermodels/hyper/internal/process"
	"github.com/hypermodels/hypermodels/hyper/internal/workers"
	"github.com/hypermodels/hypermodels/hyper/lab"
)

// timing holds the flags for measuring the time of programs.
type timing struct {
	backend string
	rounds  int
	length  time.Duration
	json    bool
}

func (t *timing) add(c *cobra.Command) {
	flags := c.Flags()
	flags.StringVar(&t.backend, "backend", "", backendUsage)
	flags.IntVar(&t.rounds, "rounds", 7, "number of rounds of measurements")
	flags.DurationVar(&t.length, "time", 200*time.Millisecond, "duration of each measurement")
	flags.BoolVar(&t.json, "json", false, "print one JSON object per line")
}

// open checks the flags, and opens the backend on one core.
func (t *timing) open() error {
	if t.rounds < 1 || t.length <= 0 {
		return errors.New("--rounds and --time must be positive")
	}
	t.backend = cmp.Or(t.backend, backend.Default())
	return workers.OpenShare(t.backend, fmt.Sprintf("0/%d", process.ThisMachine().CPUs))
}

// short writes a number with three digits, or with all digits before the point, and NaN as a dash.
func short(x float64) string {
	if math.IsNaN(x) {
		return "-"
	}
	return strconv.FormatFloat(x, 'f', max(0, 2-int(math.Floor(math.Log10(x)))), 64)
}

// inTurn times a batch of the first entry of each Spec in the second half of the Spec's periods. It times all Specs in
// turn, in several rounds. It returns the microseconds of a run-period in the fastest round, and the bytes of a run.
// The bytes are nil if the backend does not report memory.
func (t timing) inTurn(ctx context.Context, specs []lab.Spec) (micros, bytes []float64, err error) {
	runs := lab.Options{Backend: t.backend}.Defaults(lab.Spec{}).BatchRuns
	var clocks []*lab.Clock
	defer func() {
		for _, clock := range clocks {
			clock.Close()
		}
	}()
	for _, spec := range specs {
		clock, err := lab.NewClock(spec, 0, runs, t.backend)
		if err != nil {
			return nil, nil, err
		}
		clock.Skip(spec.Periods / 2)
		clocks = append(clocks, clock)
		if clock.CallBytes > 0 {
			bytes = append(bytes, float64(clock.CallBytes)/float64(runs))
		}
	}
	micros = slices.Repeat([]float64{math.Inf(1)}, len(specs))
	for range t.rounds + 1 { // the first round determines the length of calls
		for i, clock := range clocks {
			if ctx.Err() != nil {
				return nil, nil, lab.ErrInterrupted
			}
			seconds, err := clock.Time(t.length)
			if err != nil {
				return nil, nil, err
			}
			micros[i] = min(micros[i], 1e6*seconds/float64(runs))
		}
	}
	return micros, bytes, nil
}
