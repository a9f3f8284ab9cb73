package cli

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/hypermodels/hypermodels/hyper/catalog"
	"github.com/hypermodels/hypermodels/hyper/lab"
	"github.com/hypermodels/hypermodels/hyper/paper"
	"github.com/hypermodels/hypermodels/hyper/stats"
)

// superlinear is the slope above which a cost counts as superlinear, if the whole interval is above it. A slope of 1 is
// proportional; the additional tenth allows for data that no longer fit the processor's caches. With it, the last of
// five doublings costs a third more.
const superlinear = 1.1

// scaling is an agent with the keys whose effect on its cost is measured. Values are doubled, beginning with a first
// value. The key "periods" is the length of a run.
type scaling struct {
	name, agent string
	experiment  lab.Experiment
	sets        []string
	from        []start
}

type start struct {
	key  string
	from int
}

var scalings = []scaling{
	{"gaussian-sampled", "linear", paper.Gaussian, figure2("sampled"),
		[]start{{"arms", 25}, {"index-dim", 8}, {"batch", 128}, {"periods", 1000}}},
	{"gaussian-analytic", "linear", paper.Gaussian, figure2("analytic"),
		[]start{{"arms", 100}, {"index-dim", 16}}},
	{"gaussian-ensemble", "ensemble", paper.Gaussian, []string{"arms=50", "particles=100"},
		[]start{{"arms", 50}, {"particles", 100}, {"periods", 250}}},
	{"neural-linear", "linear", paper.Neural, []string{"actions=200"},
		[]start{{"actions", 200}, {"index-dim", 5}, {"batch", 32}}},
	{"neural-ensemble", "ensemble", paper.Neural, []string{"actions=200", "particles=30"},
		[]start{{"actions", 200}, {"particles", 30}, {"batch", 32}}},
}

// quickSets has small sizes for --quick, which apply to the keys that an agent has.
var quickSets = []string{"arms=2", "index-dim=2", "particles=2", "batch=4", "index-samples=2", "actions=2", "hidden=2",
	"index-set=iid"}

// curve is the cost of a run-period as a function of a key: a line of the table.
type curve struct {
	Workload    string       `json:"workload"`
	Key         string       `json:"key"`
	Backend     string       `json:"backend"`
	Runs        int          `json:"runs"` // number of runs advanced together
	Values      []float64    `json:"values"`
	Micros      []float64    `json:"microseconds"` // time of a run-period in the fastest round
	Bytes       []float64    `json:"bytes_per_run,omitempty"`
	Time        stats.Slope  `json:"time"`
	Last        float64      `json:"last_doubling"` // log2 of the last time divided by the previous one
	Memory      *stats.Slope `json:"memory,omitempty"`
	Superlinear bool         `json:"superlinear"`
}

// scalingFlags holds the flags of hyper bench scaling.
type scalingFlags struct {
	timing
	quick bool
}

func scalingCommand() *cobra.Command {
	var f scalingFlags
	c := &cobra.Command{
		Use:   "scaling [KEY...]",
		Short: "Measure how the time and memory of a run-period grow with the sizes of agents and problems",
		Long: `scaling varies one key of an agent at a time by doubling, and fits the slopes d log(time) / d log(key) and
d log(memory) / d log(key) by least squares, with 95% intervals by Student's t. A slope of 1 means proportional growth, 0
means no growth. Time is the processor time for a period of a batch of runs on one core, divided by the number of runs,
without compilation. The programs of all values of a key are measured in turn, in rounds, and the fastest round counts,
because other work of a machine only adds time. Memory is the memory of a run during a call, as the compiled program
reports it (on XLA). The last doubling is the slope between the two largest values alone: it shows growth that fixed
costs hide. Periods are the length of runs, with their replay buffers; their second half is measured.

` + fmt.Sprintf("A slope is superlinear if its interval is above %.1f; the exit status is then 1.", superlinear) + `

Keys: ` + strings.Join(scalingKeys(), ", ") + ` (default: all)`,
		Example: "  hyper bench scaling\n  hyper bench scaling arms particles --json",
	}
	f.add(c)
	c.Flags().BoolVar(&f.quick, "quick", false, "use tiny sizes, as a test: the slopes have little meaning")
	c.RunE = func(c *cobra.Command, keys []string) error { return f.run(c.Context(), keys) }
	return c
}

// scalingKeys returns the keys of all workloads, in order.
func scalingKeys() (keys []string) {
	for _, s := range scalings {
		for _, k := range s.from {
			if !slices.Contains(keys, k.key) {
				keys = append(keys, k.key)
			}
		}
	}
	return keys
}

func (f scalingFlags) run(ctx context.Context, keys []string) error {
	if err := unknown("key", scalingKeys(), keys...); err != nil {
		return err
	}
	if err := f.open(); err != nil {
		return err
	}
	if !f.json {
		fmt.Printf(scalingRow, "workload", "key", "slope [95%]", "last", "memory",
			"values: us per run-period; kB per run")
	}
	var curves []curve
	for _, s := range scalings {
		for _, k := range s.from {
			if len(keys) > 0 && !slices.Contains(keys, k.key) {
				continue
			}
			c, err := f.measure(ctx, s, k)
			if err != nil {
				return fmt.Errorf("%s, %s: %w", s.name, k.key, err)
			}
			if err := c.print(f.json); err != nil {
				return err
			}
			curves = append(curves, c)
		}
	}
	return verdict(curves)
}

// measure times the programs of all values of a key in turn.
func (f scalingFlags) measure(ctx context.Context, s scaling, k start) (curve, error) {
	c := curve{Workload: s.name, Key: k.key, Backend: f.backend, Runs: lab.BatchRuns(f.backend)}
	values := 5
	if f.quick {
		values, k.from = 3, 2
	}
	var specs []lab.Spec
	for i := range values {
		value := k.from << i
		spec, err := f.spec(s, k.key, value)
		if err != nil {
			return c, err
		}
		specs, c.Values = append(specs, spec), append(c.Values, float64(value))
	}
	var err error
	if c.Micros, c.Bytes, err = f.inTurn(ctx, specs); err == nil {
		c.fit()
	}
	return c, err
}

// spec returns the Spec of a scaling with a value of a key.
func (f scalingFlags) spec(s scaling, key string, value int) (lab.Spec, error) {
	size := lab.Size{Periods: 1000, Runs: lab.BatchRuns(f.backend)}
	sets := slices.Clone(s.sets)
	if f.quick {
		setting, err := s.experiment.New(s.agent)
		if err != nil {
			return lab.Spec{}, err
		}
		size.Periods = 20
		for _, set := range quickSets {
			if name, _, _ := strings.Cut(set, "="); catalog.HasKey(setting, name) {
				sets = withSet(sets, set)
			}
		}
	}
	if key == "periods" {
		size.Periods = value
	} else {
		sets = withSet(sets, key+"="+strconv.Itoa(value))
	}
	return s.experiment.Spec([]string{s.agent}, sets, size, 0)
}

// withSet replaces or adds the setting of a key.
func withSet(sets []string, set string) []string {
	name, _, _ := strings.Cut(set, "=")
	return append(slices.DeleteFunc(sets, func(other string) bool { return strings.HasPrefix(other, name+"=") }), set)
}

// fit computes the slopes, and whether one is superlinear.
func (c *curve) fit() {
	n := len(c.Micros)
	c.Time, c.Last = stats.LogSlope(c.Values, c.Micros), math.Log2(c.Micros[n-1]/c.Micros[n-2])
	c.Superlinear = c.Time.Lower > superlinear
	if c.Bytes != nil {
		m := stats.LogSlope(c.Values, c.Bytes)
		c.Memory, c.Superlinear = &m, c.Superlinear || m.Lower > superlinear
	}
}

const scalingRow = "%-18s %-10s %-20s %-6s %-7s %s\n"

// print writes a line as soon as it is measured, because the next one takes long.
func (c curve) print(asJSON bool) error {
	if asJSON {
		return printLines(c)
	}
	memory, bytes := "-", ""
	if c.Memory != nil {
		memory, bytes = fmt.Sprintf("%.2f", c.Memory.Slope), "; "+list(c.Bytes, 1e-3)
	}
	slope := fmt.Sprintf("%.2f [%.2f, %.2f]", c.Time.Slope, c.Time.Lower, c.Time.Upper)
	fmt.Printf(scalingRow, c.Workload, c.Key, slope, fmt.Sprintf("%.2f", c.Last), memory,
		strings.Trim(fmt.Sprint(c.Values), "[]")+": "+list(c.Micros, 1)+bytes)
	return nil
}

// list writes numbers, multiplied by unit.
func list(x []float64, unit float64) string {
	out := make([]string, len(x))
	for i, v := range x {
		out[i] = short(v * unit)
	}
	return strings.Join(out, " ")
}

// short writes a number with three digits, or with all digits before the point, and NaN as a dash.
func short(x float64) string {
	if math.IsNaN(x) {
		return "-"
	}
	return strconv.FormatFloat(x, 'f', max(0, 2-int(math.Floor(math.Log10(x)))), 64)
}

// verdict returns an error if a cost is superlinear.
func verdict(curves []curve) error {
	var found []string
	for _, c := range curves {
		if c.Superlinear {
			found = append(found, c.Workload+" in "+c.Key)
		}
	}
	if found == nil {
		return nil
	}
	return failure{fmt.Errorf("superlinear, with an interval above %.1f: %s", superlinear, strings.Join(found, ", "))}
}
