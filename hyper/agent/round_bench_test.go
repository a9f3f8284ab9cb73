package agent_test

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/janpfeifer/must"

	"github.com/hypermodels/hypermodels/hyper/agent"
	"github.com/hypermodels/hypermodels/hyper/backend"
)

// BenchmarkRound measures a round of Contextual, a decision among k arms in a context of d numbers and its reward,
// after one datum per arm. It reports the mean time, the processor time (cpu), and the median and the 99th percentile
// of both parts. heap is the agent's part of Go's memory in bytes, and resident the memory of the process.
func BenchmarkRound(b *testing.B) {
	for _, size := range []struct{ d, k int }{{20, 2}, {20, 10}, {18, 4}, {16, 26}, {50, 200}, {784, 10}} {
		for _, c := range []agent.Config{{}, {Forget: 0.999}, {Forget: 0.99}, {Waves: agent.None}} {
			name := fmt.Sprintf("%dx%d/forget=%v,waves=%d", size.d, size.k, c.Forget, c.Waves)
			b.Run(name, func(b *testing.B) {
				before := heap()
				c.Backend = fastest()
				a := must.M1(agent.New(c.Contextual(size.k, size.d)))
				rounds(b, a, size.d, size.k)
				b.ReportMetric((heap()-before)*(1<<20), "heap-B")
				b.ReportMetric(residentBytes(), "resident-B")
				runtime.KeepAlive(a)
			})
		}
	}
}

// fastest is the backend of a service.
func fastest() string {
	if backend.Check(backend.XLACPU) != nil {
		return backend.Go
	}
	return backend.XLACPU
}

func rounds(b *testing.B, a *agent.Agent, d, k int) {
	r, ctx := rand.New(rand.NewPCG(1, 2)), context.Background()
	context := func() []float32 {
		x := make([]float32, d)
		for i := range x {
			x[i] = float32(r.NormFloat64())
		}
		return x
	}
	for arm := range k {
		x := must.M1(a.Inputs(agent.Menu{Context: context(), Arms: []int{arm}}))[0]
		must.M(a.Add(x, float32(r.NormFloat64())))
	}
	var decide, observe []float64
	took := func(into *[]float64, f func()) {
		begun := time.Now()
		f()
		*into = append(*into, time.Since(begun).Seconds())
	}
	cpu := processors()
	for b.Loop() {
		var made agent.Decision
		m := agent.Menu{Context: context()}
		took(&decide, func() { made = must.M1(a.Decide(ctx, m)) })
		f := agent.Feedback{ID: made.ID, Reward: float32(r.NormFloat64())}
		took(&observe, func() { must.M(a.Observe(ctx, f)) })
	}
	b.ReportMetric(1e6*(processors()-cpu)/float64(len(decide)), "cpu-us/op")
	for what, x := range map[string][]float64{"decide": decide, "observe": observe} {
		slices.Sort(x)
		b.ReportMetric(1e6*x[len(x)/2], what+"-p50-us")
		b.ReportMetric(1e6*x[len(x)*99/100], what+"-p99-us")
	}
}

// processors returns the processor time of the process in seconds, to 10 ms; 0 if it is unknown.
func processors() float64 {
	text, err := os.ReadFile("/proc/self/stat")
	if err != nil {
		return 0
	}
	fields := strings.Fields(string(text[bytes.LastIndexByte(text, ')'):])) // from the state on, the third field
	return float64(must.M1(strconv.Atoi(fields[12]))+must.M1(strconv.Atoi(fields[13]))) / 100
}

// residentBytes returns the memory of the process; 0 if it is unknown.
func residentBytes() float64 {
	var size, pages int
	text, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		return 0
	}
	must.M1(fmt.Sscan(string(text), &size, &pages))
	return float64(pages * os.Getpagesize())
}
