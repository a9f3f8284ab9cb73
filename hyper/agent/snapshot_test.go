package agent_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/janpfeifer/must"

	"github.com/hypermodels/hypermodels/hyper/agent"
)

// A snapshot keeps the belief of its time while the agent learns.
func ExampleAgent_Snapshot() {
	a := must.M1(agent.Arms(2))
	before := a.Snapshot()
	defer before.Close()
	for range 50 {
		must.M(a.Add([]float32{1}, 7))
		must.M(a.Add([]float32{0}, 5))
	}
	spread := func(f [][]float32) bool { return f[0][0] != f[1][0] }
	fmt.Println("sure of the better arm:", must.M1(a.Sample(nil, 1))[0][1] > must.M1(a.Sample(nil, 1))[0][0])
	fmt.Println("unsure before:", spread(must.M1(before.Sample(nil, 2))))
	// Output:
	// sure of the better arm: true
	// unsure before: true
}

// A snapshot returns the samples of the agent at its time, even after the agent has changed and other snapshots are
// closed.
func TestSnapshotStays(t *testing.T) {
	a := must.M1(agent.New(sgd()))
	first, second := a.Snapshot(), a.Snapshot()
	want := fmt.Sprint(must.M1(first.Sample(nil, 3)))
	for i := range 10 {
		must.M(a.Told([]float32{float32(i % 2)}, float32(i)))
	}
	first.Close()
	first.Close()
	must.M(a.Learn(context.Background(), 2))
	if got := fmt.Sprint(must.M1(second.Sample(nil, 3))); got != want {
		t.Errorf("got samples %s, want those of before, %s", got, want)
	}
	third := a.Snapshot()
	defer third.Close()
	if got := fmt.Sprint(must.M1(third.Sample(nil, 3))); got == want {
		t.Error("the snapshot after learning equals the snapshot before")
	}
	second.Close()
}
