package main

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/janpfeifer/must"

	"github.com/hypermodels/hypermodels/hyper/backend"
)

func TestBenchStart(t *testing.T) {
	if err := backend.Check(backend.XLACPU); err != nil {
		t.Skip(err)
	}
	status, stdout, stderr := call(t, "bench", "start", "gaussian", "--backend", backend.XLACPU, "--rounds", "1",
		"--json", "--peer", `gaussian=echo compiling; echo '{"compile_s": 2.5}'`)
	if status != 0 {
		t.Fatalf("exit status %d, want 0: %s", status, stderr)
	}
	var s startLine
	must.M(json.Unmarshal([]byte(stdout), &s))
	if s.Peer != 2.5 || s.Cold.Compile <= 0 || s.Cold.Compile > s.Cold.Wall {
		t.Errorf("got %s, want the peer's time and a compile time within the wall time", stdout)
	}
	if s.Warm.Processor > s.Cold.Processor/3 { // measured: a tenth
		t.Errorf("a warm start takes %.2f s of processor time, want less than the cold start's %.2f",
			s.Warm.Processor, s.Cold.Processor)
	}
}

func TestBenchStartRefuses(t *testing.T) {
	refuses(t, map[string]string{
		"bench start foo":                      "the workloads are gaussian",
		"bench start --rounds 0":               "must be positive",
		"bench start --peer neural":            "WORKLOAD=COMMAND",
		"bench start gaussian --peer foo=true": `unknown workload "foo"`,
	})
	status, _, stderr := call(t, "bench", "start", "gaussian", "--rounds", "1", "--peer", "gaussian=echo none")
	if status != 1 || !strings.Contains(stderr, "no compile_s") {
		t.Errorf("exit status %d, want 1 and an error about compile_s: %s", status, stderr)
	}
}
