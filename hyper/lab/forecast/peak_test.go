package forecast_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/janpfeifer/must"

	"github.com/hypermodels/hypermodels/hyper/backend"
	"github.com/hypermodels/hypermodels/hyper/internal/process"
	"github.com/hypermodels/hypermodels/hyper/lab"
	"github.com/hypermodels/hypermodels/hyper/lab/forecast"
	"github.com/hypermodels/hypermodels/hyper/paper"
)

// TestMain lets this binary act as a process whose memory is measured.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == "peak" {
		peak(os.Args[2])
	}
	os.Exit(m.Run())
}

// peak is a separate process that runs the Spec on its standard input in one batch, and after some periods prints the
// largest amount of memory that it has used.
func peak(dir string) {
	spec, _ := must.M2(lab.ParseSpec(must.M1(io.ReadAll(os.Stdin)), paper.Known))
	must.M1(lab.Run(context.Background(), spec, paper.Known, lab.Options{
		Dir: dir, Backend: backend.XLACPU, Workers: 1, BatchRuns: spec.Runs, Every: time.Hour,
		Progress: func(p lab.Progress) {
			if p.Done >= 2*int64(spec.Runs) {
				_, text, _ := strings.Cut(string(must.M1(os.ReadFile("/proc/self/status"))), "VmHWM:")
				fmt.Println(strings.Fields(text)[0])
				os.Exit(0)
			}
		},
	}))
}

// peakOf returns the largest amount of memory, in bytes, of a process that runs n runs of a Spec.
func peakOf(t *testing.T, spec lab.Spec, runs int) float64 {
	t.Helper()
	spec.Runs = runs
	c := exec.Command(must.M1(os.Executable()), "peak", t.TempDir())
	c.Stdin, c.Stderr = bytes.NewReader(must.M1(json.Marshal(spec))), os.Stderr
	var kilobytes float64
	must.M1(fmt.Sscan(string(must.M1(c.Output())), &kilobytes))
	return 1024 * kilobytes
}

// The memory of a run is predicted from the program that is compiled for a few runs. The prediction is compared with
// the growth of a process's memory with its runs: the difference between two batches. Both batches are large, so that
// the other memory of the process, which varies by 100 MB, matters little.
func TestMemoryOfARunIsPredicted(t *testing.T) {
	switch {
	case testing.Short():
		t.Skip("takes a minute")
	case runtime.GOOS != "linux":
		t.Skip("only Linux tells here how much memory a process had at most")
	case backend.Check(backend.XLACPU) != nil:
		t.Skip(backend.Check(backend.XLACPU))
	case process.FreeMemory() < 8e9:
		t.Skipf("needs 8 GB of free memory, and %s are free", process.Bytes(process.FreeMemory()))
	}
	const small, large = 0.5e9, 1.5e9 // bytes that the runs of a batch should need
	for _, c := range []struct {
		x       lab.Experiment
		agent   string
		periods int
		sets    []string
	}{
		{paper.Gaussian, "linear", 50_000, []string{"integrate=sampled"}}, // the replay buffer
		{paper.Gaussian, "ensemble", 500, []string{"arms=100", "particles=3000"}},
		{paper.Neural, "linear", 500, []string{"sgd-steps=1"}}, // temporaries of SGD
	} {
		t.Run(fmt.Sprint(c.x.Name, " ", c.agent), func(t *testing.T) {
			spec := must.M1(c.x.Spec([]string{c.agent}, c.sets, lab.Size{Periods: c.periods, Runs: 8}, 1))
			few := must.M1(forecast.Calibrate(spec, 0, 8, backend.XLACPU, 0))
			predicted, _ := forecast.Memory(few, few)
			a, b := int(small)/int(predicted), int(large)/int(predicted)
			measured := (peakOf(t, spec, b) - peakOf(t, spec, a)) / float64(b-a)
			t.Logf("%d and %d runs: predicted %s a run, measured %s: %+.1f%%", a, b, process.Bytes(predicted),
				process.Bytes(int64(measured)), 100*(float64(predicted)/measured-1))
			if math.Abs(float64(predicted)/measured-1) > 0.2 {
				t.Errorf("predicted %d bytes a run, measured %.0f", predicted, measured)
			}
		})
	}
}
