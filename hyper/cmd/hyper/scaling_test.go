package main

import (
	"encoding/json"
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/janpfeifer/must"
)

// Artificial costs. A cost with a fixed part grows less than proportionally, a quadratic cost is found, and a power of
// 1.2 within noise is not.
func TestSuperlinearCosts(t *testing.T) {
	for name, c := range map[string]struct {
		time, bytes func(x float64) float64
		want        bool
	}{
		"in proportion": {func(x float64) float64 { return 3 * x }, nil, false},
		"a fixed part": {func(x float64) float64 { return 100 + 3*x }, func(x float64) float64 { return 8 * x },
			false},
		"x log x":         {func(x float64) float64 { return x * math.Log(x) }, nil, true},
		"a square":        {func(x float64) float64 { return x * x }, nil, true},
		"a square's end":  {func(x float64) float64 { return 1e5 + x*x }, nil, false},
		"noise":           {func(x float64) float64 { return math.Pow(x, 1.2) * (1 + 0.3*math.Sin(7*x)) }, nil, false},
		"a square memory": {func(x float64) float64 { return x }, func(x float64) float64 { return x * x }, true},
	} {
		r := curve{Workload: name, Key: "arms"}
		for x := 10.0; x <= 160; x *= 2 {
			r.Values, r.Micros = append(r.Values, x), append(r.Micros, c.time(x))
			if c.bytes != nil {
				r.Bytes = append(r.Bytes, c.bytes(x))
			}
		}
		r.fit()
		err := verdict([]curve{{}, r})
		if r.Superlinear != c.want || errors.As(err, new(failure)) != c.want || c.want &&
			!strings.Contains(err.Error(), name+" in arms") {
			t.Errorf("%s: superlinear %v, want %v; %v; %v", name, r.Superlinear, c.want, r.Time, err)
		}
	}
}

func TestBenchScaling(t *testing.T) {
	status, stdout, stderr := call(t, "bench", "scaling", "batch", "periods", "--quick", "--rounds", "1",
		"--time", "1ms", "--json")
	if status != 0 && !strings.Contains(stderr, "superlinear") { // three points on a busy machine prove nothing
		t.Fatalf("exit status %d, want 0 or a superlinear slope: %s", status, stderr)
	}
	lines := strings.Split(strings.TrimSpace(stdout), "\n")
	if len(lines) != 5 {
		t.Fatalf("%d lines, want three workloads against batch and two against periods:\n%s", len(lines),
			stdout)
	}
	for _, line := range lines {
		var c curve
		must.M(json.Unmarshal([]byte(line), &c))
		if c.Key != "batch" && c.Key != "periods" || len(c.Values) != 3 || c.Values[2] != 8 || len(c.Micros) != 3 ||
			c.Micros[0] <= 0 || math.IsInf(c.Micros[2], 0) {
			t.Errorf("got line %s, want three times for batch or periods", line)
		}
	}
	refuses(t, map[string]string{
		"bench scaling size":          "the keys are arms, index-dim, batch, periods, particles, actions",
		"bench scaling --rounds 0":    "must be positive",
		"bench scaling --backend tpu": "choose one of go",
	})
}
