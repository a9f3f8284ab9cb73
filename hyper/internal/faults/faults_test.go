package faults

import (
	"errors"
	"fmt"
	"math"
	"testing"
)

type byValue struct{}

func (byValue) String() string { return "" }

type byPointer struct{ _ int }

func (*byPointer) String() string { return "" }

// A pointer is refused if the value would be valid, and accepted if the type needs it.
func TestValue(t *testing.T) {
	for _, c := range []struct {
		part fmt.Stringer
		want string
	}{
		{nil, "X is missing"},
		{byValue{}, ""},
		{&byValue{}, "X is a pointer, *faults.byValue; pass the value, faults.byValue"},
		{(*byValue)(nil), "X is a pointer, *faults.byValue; pass the value, faults.byValue"},
		{&byPointer{}, ""},
		{(*byPointer)(nil), "X is a nil *faults.byPointer"},
	} {
		if got := fmt.Sprint(Value("X", c.part)); got != c.want && (got != "<nil>" || c.want != "") {
			t.Errorf("%T: %s, want %s", c.part, got, c.want)
		}
	}
}

func TestSize(t *testing.T) {
	for _, c := range []struct {
		sizes []int
		ok    bool
	}{
		{nil, true}, {[]int{MostNumbers}, true}, {[]int{MostNumbers, 1}, true}, {[]int{MostNumbers, 2}, false},
		{[]int{math.MaxInt, math.MaxInt}, false},
		{[]int{1 << 32, 1 << 32}, false}, {[]int{0, math.MaxInt}, true}, {[]int{math.MaxInt, 0}, true},
		{[]int{46341, 46341}, false}, {[]int{46340, 46340}, true},
	} {
		if err := Size("x", c.sizes...); (err == nil) != c.ok {
			t.Errorf("sizes %v: got error %v", c.sizes, err)
		}
	}
}

// Joined errors stay separate at every depth, and errors.Is still finds them.
func TestPrefix(t *testing.T) {
	a, b := errors.New("a"), errors.New("b")
	err := Prefix("x.", errors.Join(a, nil, errors.Join(b, Prefix("y.", a))))
	if err.Error() != "x.a\nx.b\nx.y.a" || !errors.Is(err, b) || Prefix("x", nil) != nil {
		t.Errorf("joined errors: got %v, want x.a, x.b and x.y.a", err)
	}
}
