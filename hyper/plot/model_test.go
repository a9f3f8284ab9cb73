package plot

import (
	"strings"
	"testing"

	"github.com/janpfeifer/must"
)

// The figure names the random, the learned and the resulting quantities. Subscripts are separate texts.
func TestModel(t *testing.T) {
	p := must.M1(Model())
	picture := must.M1(svg(p, 25, 5.6))
	for _, text := range []string{"index z,", "hypermodel", "base model", "prediction",
		"parameters ν, which are learned"} {
		if !strings.Contains(string(picture), ">"+text+"<") {
			t.Errorf("the figure has no text %q", text)
		}
	}
	if n := strings.Count(string(picture), ">ν<"); n != 2 {
		t.Errorf("%d subscripts ν, want 2", n)
	}
}
