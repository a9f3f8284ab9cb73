package durable_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/janpfeifer/must"

	"github.com/hypermodels/hypermodels/hyper/agent"
	"github.com/hypermodels/hypermodels/hyper/agent/durable"
)

// An agent loses nothing, however the program ends: here it ends without closing anything.
func ExampleOpen() {
	dir := must.M1(os.MkdirTemp("", "agent"))
	defer os.RemoveAll(dir)
	config, ctx := agent.Config{}.Arms(2), context.Background()

	log := must.M1(durable.Open(filepath.Join(dir, "log"), durable.Options{}))
	a := must.M1(agent.Open(config, filepath.Join(dir, "file"), log))
	d := must.M1(a.Act(ctx, nil))
	must.M(log.Close()) // the program ends

	log = must.M1(durable.Open(filepath.Join(dir, "log"), durable.Options{}))
	defer log.Close()
	a = must.M1(agent.Open(config, filepath.Join(dir, "file"), log))
	must.M(a.Observe(ctx, agent.Feedback{ID: d.ID, Reward: 1}))
	fmt.Println("rewards:", a.Size())
	for r, err := range log.All(0) {
		must.M(err)
		fmt.Println("record", r.Number, r.Decision != nil, r.Feedback != nil)
	}
	// Output:
	// rewards: 1
	// record 0 true false
	// record 1 false true
}
