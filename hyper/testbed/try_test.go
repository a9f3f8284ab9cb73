package testbed

import (
	"context"
	"fmt"
	"os"
	"testing"
	"time"
)

func TestTrySpeed(t *testing.T) {
	if os.Getenv("SPEED") == "" {
		t.Skip()
	}
	s := Classification2D()
	s.Problems = s.Problems[60:90][:10] // T=10
	fmt.Println(s.Problems[0])
	for _, a := range []Agent{MLP(), Hypermodel(), Epinet(), BayesByBackprop()} {
		at := time.Now()
		err := Try(context.Background(), a, s, Options{}, func(r []Result) error {
			for _, x := range r[:2] {
				fmt.Println(a.Name, x)
			}
			fmt.Println(r[len(r)-1])
			return nil
		})
		fmt.Println(a.Name, err, time.Since(at))
	}
}
