package agent

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"
)

func ExampleNames() {
	n := Names{Known: []string{"age", "member", "country=fr"}}
	x, err := n.Numbers(map[string]any{"age": 41, "member": true, "country": "fr"})
	fmt.Println(x, err)
	_, err = n.Numbers(map[string]any{"agee": 41})
	fmt.Println(err)
	// Output:
	// [41 1 1] <nil>
	// unknown feature "agee" (did you mean "age"?); the features are age, member, country=fr
}

// Unknown names share the buckets. Each name always has the same bucket and the same sign, and both are as good as
// random: of 10,000 names each of 16 buckets has 625, and each sign 5,000, up to 5 standard deviations.
func TestHashedNames(t *testing.T) {
	n := Names{Known: []string{"age"}, Buckets: 16}
	counts, signs := make([]int, 16), 0
	for i := range 10_000 {
		place, sign := n.bucket(fmt.Sprintf("word=%d", i))
		if again, same := n.bucket(fmt.Sprintf("word=%d", i)); again != place || same != sign {
			t.Fatal("a name has two different places")
		}
		counts[place-1]++
		signs += int(sign)
	}
	for place, count := range counts {
		if math.Abs(float64(count)-625) > 5*math.Sqrt(625.0*15/16) {
			t.Errorf("place %d has %d names, want about 625", place, count)
		}
	}
	if math.Abs(float64(signs)) > 5*100 {
		t.Errorf("the signs have the sum %d, want about 0", signs)
	}
	x, err := n.Numbers(map[string]any{"age": 3.5, "word": "hello", "visits": uint16(2)})
	if err != nil || x[0] != 3.5 || len(x) != 17 {
		t.Fatal(x, err)
	}
	want := make([]float32, 17)
	want[0] = 3.5
	for name, v := range map[string]float32{"word=hello": 1, "visits": 2} {
		place, sign := n.bucket(name)
		want[place] += sign * v
	}
	if fmt.Sprint(x) != fmt.Sprint(want) {
		t.Errorf("%v, want %v", x, want)
	}
}

// An error names each wrong feature.
func TestWrongNames(t *testing.T) {
	n := Names{Known: []string{"age"}}
	for want, features := range map[string]map[string]any{
		"feature \"age\" must be a number, true, false or a string, got an array\n" +
			`unknown feature "colour=red"; the features are age`: {"age": []int{1}, "colour": "red"},
		`feature "age" must be a number, true, false or a string, got nothing`:   {"age": nil},
		`feature "age" must be a number, true, false or a string, got an object`: {"age": map[string]any{}},
		`feature "age" must be a number, true, false or a string, got complex64`: {"age": complex64(1)},
		`feature "age" must be a number, true or false, got the string "x"`:      {"age": "x"},
	} {
		if _, err := n.Numbers(features); fmt.Sprint(err) != want {
			t.Errorf("%v, want %s", err, want)
		}
	}
	if _, err := (Names{}).Numbers(map[string]any{"a": 1}); fmt.Sprint(err) !=
		`unknown feature "a": there are no features here` {
		t.Error(err)
	}
	shared := Names{Known: []string{"age"}, Buckets: 4} // which take what is not Known, and no text for what is
	if _, err := shared.Numbers(map[string]any{"age": "x"}); err == nil {
		t.Error("a text for a named feature was accepted as another feature")
	}
	both := Names{Known: []string{"age", "age=unknown"}}
	if x, err := both.Numbers(map[string]any{"age": "unknown"}); err != nil || x[0] != 0 || x[1] != 1 {
		t.Error(x, err)
	}
	for want, v := range map[string]any{"NaN": math.NaN(), "+Inf": float32(math.Inf(1)), "1e+300": 1e300,
		"-2e+18": -2e18} {
		_, err := n.Numbers(map[string]any{"age": v})
		if !errors.Is(err, ErrNotFinite) || !strings.Contains(err.Error(), `feature "age" is too large, or not finite`) ||
			!strings.HasSuffix(err.Error(), "got "+want) {
			t.Errorf("number %v: got error %v, want ErrNotFinite with the name of the feature", v, err)
		}
	}
	for _, n := range []Names{{Known: []string{""}}, {Known: []string{"a", "a"}}, {Buckets: -1}} {
		if n.Validate() == nil {
			t.Errorf("invalid names %+v are accepted", n)
		}
	}
}
