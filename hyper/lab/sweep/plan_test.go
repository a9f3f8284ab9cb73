package sweep_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/janpfeifer/must"

	"github.com/hypermodels/hypermodels/hyper/backend"
	"github.com/hypermodels/hypermodels/hyper/lab"
	"github.com/hypermodels/hypermodels/hyper/lab/sweep"
	"github.com/hypermodels/hypermodels/hyper/paper"
)

// For all numbers, every run of every setting is in exactly one shard, a shard has settings of one shape, and the
// number of shards is about the requested number.
func TestPlansAreCutEvenly(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	for range 10 {
		shapes, steps, runs := 1+random.IntN(4), 1+random.IntN(12), 1+random.IntN(30)
		sets := []string{"arms=" + strings.Join([]string{"2", "3", "4", "5"}[:shapes], ","), "step-size=0.5"}
		for i := range steps - 1 {
			sets[1] += fmt.Sprintf(",0.%02d1", i)
		}
		spec, err := paper.Gaussian.Spec([]string{"linear"}, sets, lab.Size{Periods: 5, Runs: runs}, 0)
		must.M(err)
		o := sweep.Options{Backend: backend.Go, Shards: 1 + random.IntN(40), BatchRuns: 1 + random.IntN(10)}
		p, err := sweep.New(spec, o)
		must.M(err)
		seen := map[[2]int]int{}
		for n, s := range p.Shards {
			shape := spec.Entries[s.Entries[0]].Shape()
			for _, e := range s.Entries {
				if spec.Entries[e].Shape() != shape {
					t.Fatalf("shard %d has two shapes", n)
				}
				for run := s.First; run < s.First+s.Runs; run++ {
					seen[[2]int{e, run}]++
				}
			}
			if got := p.ShardSpec(n); len(got.Entries) != len(s.Entries) || got.Seed != uint64(s.First) ||
				got.Validate() != nil {
				t.Fatalf("shard %d runs %+v", n, got)
			}
		}
		if len(seen) != len(spec.Entries)*runs {
			t.Fatalf("%d of %d runs are in a shard", len(seen), len(spec.Entries)*runs)
		}
		for place, n := range seen {
			if n != 1 {
				t.Fatalf("%v is in %d shards", place, n)
			}
		}
		// More shards would be empty or smaller than a batch. The last shards of a shape may be smaller.
		if most := 4*o.Shards + 4*shapes; len(p.Shards) > most {
			t.Errorf("%d shapes, %d settings, %d runs: %d shards for %d", shapes, len(spec.Entries), runs,
				len(p.Shards), o.Shards)
		}
	}
}

// A sweep of 20 step sizes with 50 runs each is divided into equal shards of whole batches, so that no batch needs a
// further compilation.
func TestShardsAreOfWholeBatches(t *testing.T) {
	var steps []string
	for i := range 20 {
		steps = append(steps, "0."+string(rune('1'+i%9))+string(rune('0'+i/9)))
	}
	spec, err := paper.Gaussian.Spec([]string{"linear"}, []string{"step-size=" + strings.Join(steps, ",")},
		lab.Size{Periods: 5, Runs: 50}, 0)
	must.M(err)
	p, err := sweep.New(spec, sweep.Options{Backend: backend.Go, BatchRuns: 8})
	must.M(err)
	for n, s := range p.Shards {
		if lanes := len(s.Entries) * s.Runs; lanes != 40 { // 4 settings x 10 seeds: five batches of 8
			t.Errorf("shard %d has %d runs", n, lanes)
		}
	}
	if len(p.Shards) != 25 {
		t.Errorf("%d shards", len(p.Shards))
	}
}

// A folder holds one plan. The same plan continues. A different plan, a damaged plan and a plan of another version are
// refused, and nothing changes.
func TestPlanFilesDoNotChange(t *testing.T) {
	s := grid(t, 20)
	p, dir := created(t, s, sweep.Options{Shards: 4})
	path := filepath.Join(dir, sweep.PlanFile)
	good := string(must.M1(os.ReadFile(path)))
	if err := p.Create(dir, paper.Known); err != nil {
		t.Errorf("the same plan again: %v", err)
	}
	for want, change := range map[string]func(s *lab.Spec, o *sweep.Options){
		"with seed 7 instead of 8": func(s *lab.Spec, o *sweep.Options) { s.Seed++ },
		"4 shards":                 func(s *lab.Spec, o *sweep.Options) { o.Shards = 20 },
		"batches of 5 ru":          func(s *lab.Spec, o *sweep.Options) { o.BatchRuns = 2 },
	} {
		other, o := s, sweep.Options{Backend: backend.Go, Shards: 4}
		change(&other, &o)
		q, err := sweep.New(other, o)
		must.M(err)
		if err := q.Create(dir, paper.Known); want != "4 shards" &&
			(err == nil || !strings.Contains(err.Error(), want)) || want == "4 shards" && err == nil {
			t.Errorf("error %v, want %q", err, want)
		}
	}
	for name, bad := range map[string]string{
		"half":        good[:len(good)/2],
		"empty":       "",
		"version":     strings.Replace(good, `"version": "`, `"version": "9`, 1),
		"format":      strings.Replace(good, sweep.Format, "other-1", 1),
		"unknown key": strings.Replace(good, `"step-size"`, `"stepsize"`, 1),
		"a run twice": strings.Replace(good, `"first": 0`, `"first": 1`, 1),
		"a run less": strings.Replace(good, `"runs": 5
  }`, `"runs": 4
  }`, 1),
		"a wrong entry": strings.Replace(good, `"entries": [
    0`, `"entries": [
    99`, 1),
	} {
		if bad == good {
			t.Errorf("%s: nothing was changed:\n%s", name, good[len(good)-300:])
		}
		must.M(os.WriteFile(path, []byte(bad), 0o644))
		if _, err := sweep.Open(dir, paper.Known); !errors.Is(err, sweep.ErrPlan) {
			t.Errorf("%s: error %v", name, err)
		}
		if err := p.Create(dir, paper.Known); err == nil || string(must.M1(os.ReadFile(path))) != bad {
			t.Errorf("%s: the plan was taken, or changed: %v", name, err)
		}
	}
}

func TestNewRefuses(t *testing.T) {
	s := grid(t, 20)
	for want, o := range map[string]sweep.Options{
		"must not be negative": {Shards: -1}, "choose one of": {Backend: "tpu"},
	} {
		if _, err := sweep.New(s, o); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %q", err, want)
		}
	}
	s.Runs = 0
	if _, err := sweep.New(s, sweep.Options{}); err == nil {
		t.Error("no runs: no error")
	}
}

func TestRanges(t *testing.T) {
	for want, numbers := range map[string][]int{"": nil, "3": {3}, "0-2": {0, 1, 2}, "0,2-3,7": {0, 2, 3, 7}} {
		if got := sweep.Ranges(numbers); got != want {
			t.Errorf("%v is %q, want %q", numbers, got, want)
		}
	}
}
