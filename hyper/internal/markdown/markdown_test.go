package markdown_test

import (
	"fmt"
	"math"
	"testing"

	"github.com/hypermodels/hypermodels/hyper/internal/markdown"
	"github.com/hypermodels/hypermodels/hyper/stats"
)

func ExampleTable() {
	x := stats.Estimate{Value: 0.51234, Lower: 0.5, Upper: 1234.5}
	fmt.Print(markdown.Table([]string{"Agent", "Ratio"}, [][]string{{"linear", markdown.Interval(x)}}))
	// Output:
	// | Agent | Ratio |
	// | --- | --- |
	// | linear | 0.512 [0.5, 1,235] |
}

func TestNumber(t *testing.T) {
	for x, want := range map[float64]string{
		999.4: "999", 999.6: "1,000", 1000: "1,000", -1234567: "-1,234,567", 0.00012345: "0.000123",
		math.Inf(1): "+Inf", -100_000: "-100,000"} {
		if got := markdown.Number(x); got != want {
			t.Errorf("%v: got %s, want %s", x, got, want)
		}
	}
}
