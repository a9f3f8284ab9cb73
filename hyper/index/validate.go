package index

import (
	"errors"
	"fmt"

	"github.com/hypermodels/hypermodels/hyper/internal/faults"
)

// Validate returns an error if a distribution cannot be used: it is nil, is a pointer although distributions are
// values, or has a field out of range.
func Validate(d Distribution) error {
	if err := faults.Value("the distribution of the index", d); err != nil {
		return err
	}
	if err := faults.Of(d); err != nil {
		return err
	}
	return dimension(fmt.Sprintf("%T: the length of an index", d), d.Dim())
}

func (d PerArm) Validate() error {
	if err := errors.Join(dimension("index.PerArm: Arms", d.Arms), dimension("index.PerArm: M", d.M)); err != nil {
		return err
	}
	return faults.Size("index.PerArm: an index of Arms x M", d.Arms, d.M)
}

func (d Bernoulli) Validate() error {
	var keep error
	if !(d.Keep > 0 && d.Keep <= 1) {
		keep = fmt.Errorf("index.Bernoulli: Keep must be in (0, 1], got %v", d.Keep)
	}
	return errors.Join(dimension("index.Bernoulli: N", d.N), keep)
}

// Validate returns an error if a law is not known, or if Nonzero does not suit LawSparse.
func (d Paired) Validate() error {
	errs := []error{dimension("index.Paired: N", d.N), d.Reference.check("Reference"), d.Noise.check("Noise")}
	sparse := d.Reference == LawSparse || d.Noise == LawSparse
	if sparse && (d.Nonzero < 1 || d.N%d.Nonzero != 0) {
		errs = append(errs, fmt.Errorf("index.Paired: Nonzero must be a divisor of N for sparse vectors, got %d for %d",
			d.Nonzero, d.N))
	}
	return errors.Join(errs...)
}

func (l Law) check(name string) error {
	if l == 0 {
		return fmt.Errorf("index.Paired: %s must be a law, such as index.LawGaussian", name)
	}
	return faults.Known("index.Paired: "+name, l)
}

func dimension(name string, n int) error {
	if err := faults.AtLeast(name, n, 1); err != nil {
		return err
	}
	return faults.Size(name, n)
}
