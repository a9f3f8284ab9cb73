package plot

import (
	"strings"
	"testing"
)

// The figure names the random, the learned and the resulting quantities. Subscripts are separate texts.
func TestModel(t *testing.T) {
	p, err := Model()
	if err != nil {
		t.Fatal(err)
	}
	w, err := p.WriterTo(25*72/2.54, 5.6*72/2.54, "svg")
	if err != nil {
		t.Fatal(err)
	}
	var svg strings.Builder
	if _, err := w.WriteTo(&svg); err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{"index z,", "hypermodel", "base model", "prediction",
		"parameters ν, which are learned"} {
		if !strings.Contains(svg.String(), ">"+text+"<") {
			t.Errorf("the figure has no text %q", text)
		}
	}
	if n := strings.Count(svg.String(), ">ν<"); n != 2 {
		t.Errorf("%d subscripts ν, want 2", n)
	}
}
