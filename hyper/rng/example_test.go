package rng_test

import (
	"fmt"

	"github.com/hypermodels/hypermodels/hyper/rng"
)

// The random numbers of a run's first decision, without a graph: the same in each call.
func ExampleNewHost() {
	var once, again [2]float32
	stream := rng.NewHost(7).At(0).Named("act")
	stream.Normal(once[:])
	stream.Normal(again[:])
	fmt.Println(once == again, once[0] != once[1])
	// Output: true true
}
