package nearest

import "testing"

func TestOf(t *testing.T) {
	activations := []string{"relu", "tanh", "gelu", "sigmoid", "leaky-relu"}
	keys := []string{"arms", "batch", "step-size", "noise-variance", "particles", "index-dim", "index-samples"}
	for _, c := range []struct {
		word  string
		known []string
		want  string // "" if no word is near
	}{
		{"tahn", activations, "tanh"}, // two letters swapped
		{"ReLU", activations, "relu"},
		{"rel", activations, "relu"},
		{"sigmod", activations, "sigmoid"},
		{"elu", activations, "relu"}, // the first of two at distance 1
		{"swish", activations, ""},
		{"x", activations, ""},
		{"", activations, ""},
		{"tanh", nil, ""},
		{"stepsize", keys, "step-size"},
		{"step_size", keys, "step-size"},
		{"arm", keys, "arms"},
		{"noise-varaince", keys, "noise-variance"},
		{"partciles", keys, "particles"},
		{"foo", keys, ""},
		{"step", keys, "step-size"},
		{"index", keys, ""},                     // index-dim and index-samples
		{"größe", []string{"grösse"}, "grösse"}, // letters, not bytes
	} {
		got, ok := Of(c.word, c.known)
		if got != c.want || ok != (c.want != "") {
			t.Errorf("Of(%q) = %q, %v, want %q", c.word, got, ok, c.want)
		}
	}
}

func TestHint(t *testing.T) {
	if got, want := Hint("tahn", []string{"relu", "tanh"}), ` (did you mean "tanh"?)`; got != want {
		t.Errorf("Hint = %q, want %q", got, want)
	}
	if got := Hint("swish", []string{"relu", "tanh"}); got != "" {
		t.Errorf("hint for a word that is near no other: got %q, want none", got)
	}
}

func TestDistance(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want int
		// the last: optimal string alignment
	}{{"", "", 0}, {"abc", "abc", 0}, {"", "abc", 3}, {"abc", "", 3}, {"abc", "acb", 1}, {"kitten", "sitting",
		3}, {"ca", "abc", 3}} {
		if got := distance([]rune(c.a), []rune(c.b)); got != c.want {
			t.Errorf("distance(%q, %q) = %d, want %d", c.a, c.b, got, c.want)
		}
	}
}
