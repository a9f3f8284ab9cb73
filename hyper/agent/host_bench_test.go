package agent

import (
	"fmt"
	"math/rand/v2"
	"syscall"
	"testing"

	"github.com/janpfeifer/must"

	"github.com/hypermodels/hypermodels/hyper/backend"
	"github.com/hypermodels/hypermodels/hyper/explore"
)

// BenchmarkHost measures what the plain-Go forms of graph code gain: a decision among 50 actions for each policy that
// is explore.Hosted, and a reward of one of 10 arms for an agent that is learner.Learner.OnHost. Each is measured in
// plain Go and by the programs of a backend, for the same agent: go test -bench Host -run - ./hyper/agent.
func BenchmarkHost(b *testing.B) {
	for _, on := range []string{backend.Go, backend.XLACPU} {
		if backend.Check(on) != nil {
			continue
		}
		for _, p := range []explore.Policy{explore.Thompson{}, explore.UCB{}, explore.Greedy{}, explore.EpsilonGreedy{},
			explore.IDS{N: 20}, explore.IDS{}, explore.IDS{N: 500}} {
			for _, c := range []Config{Config{Seed: 7, Backend: on}.Neural(20, 10, 10), blocksConfig(50, on)} {
				c.Learner.Policy = p
				benchmarkDecisions(b, c, 50)
			}
		}
		c := blocksConfig(10, on)
		benchmarkRewards(b, "plain", must.M1(New(c)))
		benchmarkRewards(b, "program", byPrograms(must.M1(New(c))))
	}
}

func benchmarkDecisions(b *testing.B, c Config, actions int) {
	a := must.M1(New(c))
	x := randomInputs(actions, c.Features)
	_, belief := a.belief()
	defer belief.drop()
	name := fmt.Sprintf("%T(%d)", c.Learner.Policy, c.Learner.Policy.Samples())
	name = fmt.Sprintf("decide/%T/%s/%s", c.Learner.Belief, name, c.Backend)
	if _, ok, err := a.decideOnHost(belief, x, 0); ok && err == nil { // otherwise programs draw the functions
		b.Run(name+"/plain", func(b *testing.B) {
			defer reportCPU(b)()
			for i := uint64(0); b.Loop(); i++ {
				_, _, err := a.decideOnHost(belief, x, i)
				must.M(err)
			}
		})
	}
	must.M1(a.decide(belief, x, padded(len(x)), 0)) // compiles
	b.Run(name+"/program", func(b *testing.B) {
		defer reportCPU(b)()
		for i := uint64(0); b.Loop(); i++ {
			must.M1(a.decide(belief, x, padded(len(x)), i))
		}
	})
}

func benchmarkRewards(b *testing.B, name string, a *Agent) {
	x := randomInputs(10, a.config.Features)
	must.M(a.Told(x[0], 1))
	b.Run(fmt.Sprintf("reward/%s/%s", a.config.Backend, name), func(b *testing.B) {
		defer reportCPU(b)()
		for i := 0; b.Loop(); i++ {
			must.M(a.Told(x[i%len(x)], float32(i%3)))
		}
	})
}

// reportCPU begins to measure the processor time of the process, and returns a function that reports it. The elapsed
// time says little on a machine that does other work.
func reportCPU(b *testing.B) (report func()) {
	used := func() float64 {
		var u syscall.Rusage
		must.M(syscall.Getrusage(syscall.RUSAGE_SELF, &u))
		return float64(u.Utime.Nano()+u.Stime.Nano()) / 1e3
	}
	begun := used()
	return func() { b.ReportMetric((used()-begun)/float64(b.N), "cpu-us/op") }
}

// randomInputs returns n inputs whose first number is the number of the input.
func randomInputs(n, features int) [][]float32 {
	r := rand.New(rand.NewPCG(1, 2))
	x := make([][]float32, n)
	for i := range x {
		x[i] = make([]float32, features)
		for k := range x[i] {
			x[i][k] = float32(r.NormFloat64())
		}
		x[i][0] = float32(i)
	}
	return x
}
