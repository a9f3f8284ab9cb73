package main

import (
	"path/filepath"
	"strings"
	"testing"
)

// A study of exact Thompson sampling alone decides some claims, leaves one open, and has nothing for that about other agents.
func TestCheckTellsWhyClaimsAreNotShown(t *testing.T) {
	study, err := filepath.Abs("../../../notebooks/results/frontier/exact.jsonl.gz")
	if err != nil {
		t.Fatal(err)
	}
	status, stdout, stderr := call(t, "check", "frontier", "--study", study, "--claim", "exact-100,exact-300,exact-1000,least-10")
	if status != 1 {
		t.Errorf("exit status %d, want 1", status)
	}
	for _, want := range []string{"runs: reproduced", "undecided at this size", "runs would decide", "not reproduced"} {
		if !strings.Contains(stdout, want) {
			t.Errorf("%q is not in %s", want, stdout)
		}
	}
	for _, want := range []string{"least-10 cannot be judged", "of 4 claims 1 not reproduced, 1 undecided, 1 cannot be judged"} {
		if !strings.Contains(stderr, want) {
			t.Errorf("%q is not in %s", want, stderr)
		}
	}
}
