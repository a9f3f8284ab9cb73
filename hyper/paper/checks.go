package paper

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/hypermodels/hypermodels/hyper/internal/nearest"
)

func positive(name string, x float64) error {
	if !(x > 0) || math.IsInf(x, 0) {
		return fmt.Errorf("%s must be positive, got %v", name, x)
	}
	return nil
}

func notNegative(name string, x float64) error {
	if !(x >= 0) || math.IsInf(x, 0) {
		return fmt.Errorf("%s must not be negative, got %v", name, x)
	}
	return nil
}

func atLeast(name string, n, least int) error {
	if n < least {
		return fmt.Errorf("%s must be at least %d, got %d", name, least, n)
	}
	return nil
}

func oneOf(name, got string, choices ...string) error {
	if !slices.Contains(choices, got) {
		return fmt.Errorf("%s must be one of %s, got %q%s", name, strings.Join(choices, ", "), got,
			nearest.Hint(got, choices))
	}
	return nil
}
