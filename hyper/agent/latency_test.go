package agent_test

import (
	"context"
	"flag"
	"math/rand/v2"
	"runtime"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/janpfeifer/must"

	"github.com/hypermodels/hypermodels/hyper"
	"github.com/hypermodels/hypermodels/hyper/agent"
	"github.com/hypermodels/hypermodels/hyper/backend"
	"github.com/hypermodels/hypermodels/hyper/base"
	"github.com/hypermodels/hypermodels/hyper/explore"
	"github.com/hypermodels/hypermodels/hyper/index"
	"github.com/hypermodels/hypermodels/hyper/learner"
	"github.com/hypermodels/hypermodels/hyper/train"
)

// rowsOf draws n actions with 20 features.
func rowsOf(r *rand.Rand, n int) [][]float32 {
	x := make([][]float32, n)
	for i := range x {
		x[i] = make([]float32, 20)
		for k := range x[i] {
			x[i][k] = float32(r.NormFloat64())
		}
	}
	return x
}

// served has agents that choose among about 100 actions with 20 features.
func served() map[string]agent.Config {
	net := base.MLP{Layers: []int{20, 10, 10, 1}}
	layout := hyper.Dense(hyper.NumTheta(net), 30)
	network := agent.Config{Features: 20, Replay: agent.Window, Learner: learner.Learner{
		Belief: hyper.Model{Base: net, Hyper: hyper.Linear{Layout: layout, P: index.Gaussian{N: 30}},
			Prior: &hyper.Prior{Base: net, Layout: layout}},
		Train: train.Config{Integrate: train.Sampled, Capacity: 1000},
	}}
	linear, contextual := agent.Config{}.Linear(20), agent.Config{}.Contextual(10, 20)
	network.Learner.Policy, linear.Learner.Policy = explore.Thompson{}, explore.Thompson{}
	ids := linear
	ids.Learner.Policy = explore.IDS{N: 500}
	bayes := agent.Config{Features: 20, Learner: learner.Learner{Belief: hyper.BayesianLinear{Features: 20},
		Policy: explore.Thompson{}}}
	return map[string]agent.Config{"network": network, "linear": linear, "bayesian": bayes, "ids-500": ids,
		"contextual": contextual}
}

// BenchmarkLatency measures the time of a decision among 80 to 120 actions with 20 features (contextual: 10 arms, a
// context of 20 numbers), as median and 99th percentile, while another goroutine gives 100 rewards per second. It also
// measures the time of a reward.
func BenchmarkLatency(b *testing.B) {
	all := served()
	for _, name := range []string{"network", "linear", "bayesian", "ids-500", "contextual"} {
		for _, on := range []string{backend.Go, backend.XLACPU} {
			b.Run(name+"/"+on, func(b *testing.B) {
				if backend.Check(on) != nil {
					b.Skip("no XLA plugin")
				}
				c := all[name]
				c.Backend, c.Pending = on, 1<<21
				latency(b, must.M1(agent.New(c)), c)
			})
		}
	}
}

func latency(b *testing.B, a *agent.Agent, c agent.Config) {
	r, ctx := rand.New(rand.NewPCG(1, 2)), context.Background()
	menus := make([]agent.Menu, 50)
	for i := range menus {
		if c.Encoding != nil {
			menus[i].Context = rowsOf(r, 1)[0]
		} else {
			menus[i].Actions = rowsOf(r, 80+r.IntN(41))
		}
	}
	if c.Encoding == nil {
		must.M(a.Warmup(80, 96, 120))
	}
	ids := make(chan string, 64)
	stop := make(chan struct{})
	var rewarded []float64
	var learner sync.WaitGroup
	learner.Go(func() {
		tick := time.NewTicker(10 * time.Millisecond)
		defer tick.Stop()
		for {
			select {
			case <-stop:
				return
			case <-tick.C:
			}
			select {
			case id := <-ids:
				begun := time.Now()
				must.M(a.Observe(ctx, agent.Feedback{ID: id, Reward: 1}))
				rewarded = append(rewarded, time.Since(begun).Seconds())
			default:
			}
		}
	})
	for i := range 200 {
		must.M1(a.Decide(ctx, menus[i%len(menus)]))
	}
	var decided []float64
	i := 0
	for b.Loop() {
		begun := time.Now()
		d := must.M1(a.Decide(ctx, menus[i%len(menus)]))
		decided = append(decided, time.Since(begun).Seconds())
		i++
		select {
		case ids <- d.ID:
		default:
		}
	}
	close(stop)
	learner.Wait()
	report := func(what string, x []float64) {
		slices.Sort(x)
		if len(x) > 0 {
			b.ReportMetric(1e6*x[len(x)/2], what+"-p50-us")
			b.ReportMetric(1e6*x[len(x)*99/100], what+"-p99-us")
		}
	}
	report("act", decided)
	report("observe", rewarded)
}

var observations = flag.Int("observations", 300, "how many TestMemoryIsFlat makes")

// The memory of an agent does not grow with the number of rewards, whether it keeps sums, a posterior, or a window. The
// test finds a leak of 1 kB per reward.
func TestMemoryIsFlat(t *testing.T) {
	agent.NotInShort(t)
	for name, c := range served() {
		if name == "ids-500" || name == "contextual" {
			continue
		}
		t.Run(name, func(t *testing.T) {
			c.Backend, c.Pending = backend.Go, 100
			c.Learner.Train.Steps, c.Learner.Train.Batch, c.Learner.Train.Indices = 1, 16, 4
			a, r, ctx := must.M1(agent.New(c)), rand.New(rand.NewPCG(3, 4)), context.Background()
			menus := make([][][]float32, 20)
			for i := range menus {
				menus[i] = rowsOf(r, 3)
			}
			var begin, took float64
			latencies := make([]float64, 0, *observations)
			for i := range *observations {
				d := must.M1(a.Act(ctx, menus[i%20]))
				begun := time.Now()
				must.M(a.Observe(ctx, agent.Feedback{ID: d.ID, Reward: float32(r.NormFloat64())}))
				latencies = append(latencies, time.Since(begun).Seconds())
				if i == *observations/3 {
					begin = heap()
				}
			}
			took = heap()
			runtime.KeepAlive(a)
			slices.Sort(latencies)
			t.Logf("%d observations: p50 %.0f us, p99 %.0f us; heap %.1f MiB after a third of them, %.1f after all",
				*observations, 1e6*latencies[len(latencies)/2], 1e6*latencies[len(latencies)*99/100], begin, took)
			if took > begin+0.2 {
				t.Errorf("the heap has grown from %.1f to %.1f MiB", begin, took)
			}
		})
	}
}

// heap returns the used memory of Go's heap, in MiB, without the memory of pools, which outlives a collection.
func heap() float64 {
	for range 3 {
		runtime.GC()
	}
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return float64(m.HeapAlloc) / (1 << 20)
}
