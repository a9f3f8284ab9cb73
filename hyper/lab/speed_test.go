package lab_test

import (
	"context"
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/hypermodels/hypermodels/hyper/lab"
	"github.com/hypermodels/hypermodels/hyper/paper"
)

func TestSpeed(t *testing.T) {
	x := paper.Gaussian
	agent := os.Getenv("AGENT")
	n := func(k string, d int) int {
		v, err := strconv.Atoi(os.Getenv(k))
		if err != nil {
			return d
		}
		return v
	}
	spec, err := x.Spec([]string{agent}, strings.Fields(os.Getenv("SET")), lab.Size{Periods: n("T", 1000), Runs: n("RUNS", 4)}, 0)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	pr, err := lab.Run(context.Background(), spec, map[string]lab.Experiment{"gaussian": x}, lab.Options{Dir: dir, Backend: os.Getenv("BACKEND"), Workers: n("WORKERS", 0), BatchRuns: n("LANES", 0)})
	if err != nil {
		t.Fatal(err)
	}
	_, rows, err := lab.ReadResults(dir, map[string]lab.Experiment{"gaussian": x})
	if err != nil {
		t.Fatal(err)
	}
	if os.Getenv("DIGESTS") != "" {
		for _, r := range rows {
			if r.Period == spec.Periods {
				fmt.Printf("%d:%x:%.3f ", r.Run, r.Digest, float64(r.Regret))
			}
		}
		fmt.Println()
	}
	sum, c, div := 0.0, 0, 0
	for _, r := range rows {
		if r.Period == spec.Periods {
			sum += float64(r.Regret)
			c++
			if r.Diverged > 0 {
				div++
			}
		}
	}
	fmt.Printf("%s %s: %.0f rp/s compile %.2fs regret %.1f diverged %d digest %x compilations %d\n", agent, os.Getenv("SET"), pr.Rate(), pr.Compile.Seconds(), sum/float64(c), div, rows[len(rows)-1].Digest, lab.Compilations())
}
