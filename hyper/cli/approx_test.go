package cli

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/hypermodels/hypermodels/hyper/approx"
)

func TestBadMeasuresAreExitStatus2(t *testing.T) {
	refuses(t, map[string]string{
		"approx":                                    "give one of the measures discrete, gaussian",
		"approx --measure gaussain":                 "the measures are discrete, gaussian, mixture, posterior, process",
		"approx --measure gaussian --points 0":      "--points must be from 1 to 64, got 0",
		"approx --measure gaussian --epsilon 0":     "epsilon must be at least 1e-06 and finite, got 0",
		"approx --measure gaussian --epsilon NaN":   "epsilon must be at least 1e-06 and finite, got NaN",
		"approx --measure gaussian --delta 1":       "delta must be at least 1e-09 and below 1, got 1",
		"approx --measure gaussian --bound -1":      "--bound must be positive and finite, got -1",
		"approx --measure gaussian --draws 0":       "--draws must be at least 1, got 0",
		"approx --measure gaussian --budget 0":      "--budget must be positive, got 0s",
		"approx --measure gaussian --reference foo": "choose uniform or gaussian",
		"approx --measure process --optimal":        "--optimal needs --measure discrete",
		"approx --measure gaussian --backend tpu":   "choose one of go, xla:cpu, xla:cuda",
	})
	refused(t, []string{"approx", "--measure", "x", "--points", "-1", "--epsilon", "-1"}, "unknown measure", "--points",
		"epsilon")
}

func TestApproxPrintsACertificate(t *testing.T) {
	if testing.Short() {
		t.Skip("package approx has quicker tests")
	}
	status, stdout, stderr := call(t, "approx", "--measure", "discrete", "--points", "3", "--json", "--draws", "500")
	var c approx.Certificate
	if err := json.Unmarshal([]byte(stdout), &c); err != nil || status != 0 {
		t.Fatalf("exit status %d, error %v, want 0 and JSON: stdout %q, stderr %q", status, err, stdout, stderr)
	}
	if !strings.Contains(stdout, `"probability_lower_bound":`) || !c.Certified || c.Points != 3 {
		t.Errorf("got JSON %q, want a certificate for 3 points", stdout)
	}
	prints(t, []string{"approx", "--measure", "discrete", "--optimal", "--points", "2", "--draws", "500"}, "max-affine",
		"certified")
}

// With 10 draws no probability can be certified to be 0.99.
func TestApproxFailsWithoutACertificate(t *testing.T) {
	status, stdout, stderr := call(t, "approx", "--measure", "gaussian", "--draws", "10", "--delta", "0.01")
	if status != exitFailed || !strings.Contains(stdout, "not certified") ||
		!strings.Contains(stderr, "not certified") {
		t.Errorf("exit status %d, want 1 and not certified: stdout %q, stderr %q", status, stdout, stderr)
	}
}
