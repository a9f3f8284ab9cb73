package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/hypermodels/hypermodels/hyper/approx"
	"github.com/hypermodels/hypermodels/hyper/lab"
)

type approxFlags struct {
	measure                string
	points                 int
	bound                  float64
	options                approx.Options
	optimal, trained, json bool
}

func (f *approxFlags) add(c *cobra.Command) {
	flags := c.Flags()
	flags.StringVar(&f.measure, "measure", "", "the measure mu: "+strings.Join(approx.KnownNames(), ", "))
	flags.IntVar(&f.points, "points", 3, "K, the number of points of X, which are equidistant in [0, 1]")
	flags.Float64Var(&f.bound, "bound", 1, "B, the bound: functions have values in [-B, B]")
	flags.Float64Var(&f.options.Epsilon, "epsilon", 0.1, "the allowed error, in the units of B")
	flags.Float64Var(&f.options.Delta, "delta", 0.1, "the allowed probability of a larger error")
	flags.StringVar((*string)(&f.options.Reference), "reference", string(approx.Uniform),
		"p_z: uniform on [0, 1]^K, or gaussian")
	flags.BoolVar(&f.trained, "trained", false, "train the network even if mu has a construction of its own")
	flags.BoolVar(&f.optimal, "optimal", false,
		"for discrete: Brenier's map instead of intervals of the first component of z")
	flags.IntVar(&f.options.Draws, "draws", 20_000, "number of fresh z")
	flags.DurationVar(&f.options.Budget, "budget", 2*time.Minute, "no refinement begins after this time")
	flags.Uint64Var(&f.options.Seed, "seed", 0, "seed of all random numbers")
	flags.StringVar(&f.options.Backend, "backend", "", backendUsage)
	flags.BoolVar(&f.json, "json", false, "print the certificate as one JSON object")
}

func approxCommand() *cobra.Command {
	var f approxFlags
	c := &cobra.Command{
		Use:   "approx --measure NAME",
		Short: "Build section 6's network for a measure over functions, and certify its error",
		Long: `approx builds the network of the universal approximation theorem (section 6,
appendix A): a ReLU network f_theta and the linear hypermodel g(z) = [z, nu].
With probability at least 1 - delta, f_{g(z)} is within epsilon of H(z), where H
is a transport map from p_z to the measure mu. approx estimates the probability
from fresh z, and prints an exact lower bound at 99% confidence.`,
		Example: `  hyper approx --measure mixture --points 3 --epsilon 0.1 --delta 0.1
  hyper approx --measure posterior --points 8 --epsilon 0.1 --delta 0.1 --reference gaussian --json`,
		Args: argument(),
	}
	f.add(c)
	c.RunE = func(c *cobra.Command, _ []string) error {
		certificate, err := f.certify(c.Context())
		if errors.Is(err, context.Canceled) {
			fmt.Fprintln(c.ErrOrStderr(), "hyper: interrupted; there is no certificate")
			return lab.ErrInterrupted
		}
		if err != nil {
			return err
		}
		if f.json {
			err = printLines(c.OutOrStdout(), certificate)
		} else {
			printCertificate(c.OutOrStdout(), certificate)
		}
		if err != nil {
			return err
		}
		if !certificate.Certified {
			return failure{fmt.Errorf("not certified: the probability has the lower bound %.4f, and 1 - delta is %.4g",
				certificate.LowerBound, 1-f.options.Delta)}
		}
		return nil
	}
	return c
}

// maxPoints is the maximum of K. The size of the networks grows at least with the square of K.
const maxPoints = 64

// certify makes the measure and the certificate. The error joins every fault of the flags.
func (f *approxFlags) certify(ctx context.Context) (approx.Certificate, error) {
	err := errors.Join(checkKnown("measure", approx.KnownNames(), f.measure), f.check(), f.options.Validate())
	if err != nil {
		return approx.Certificate{}, err
	}
	m, err := approx.NewMeasure(ctx, f.measure, approx.Setting{Points: approx.Grid(f.points), Bound: f.bound,
		Seed: f.options.Seed, Optimal: f.optimal})
	if err != nil {
		return approx.Certificate{}, err
	}
	if f.trained {
		f.options.Construction = approx.Trained{}
	}
	return approx.Certify(ctx, m, f.options)
}

// check returns an error about wrong values of the measure's flags, and about zeros that would select a default.
func (f *approxFlags) check() error {
	var errs []error
	if f.points < 1 || f.points > maxPoints {
		errs = append(errs, fmt.Errorf("--points must be from 1 to %d, got %d", maxPoints, f.points))
	}
	if !(f.bound > 0) || math.IsInf(f.bound, 0) {
		errs = append(errs, fmt.Errorf("--bound must be positive and finite, got %v", f.bound))
	}
	if f.optimal && f.measure != "discrete" {
		errs = append(errs, errors.New("--optimal needs --measure discrete"))
	}
	if f.options.Draws == 0 {
		errs = append(errs, errors.New("--draws must be at least 1, got 0"))
	}
	if f.options.Budget == 0 {
		errs = append(errs, errors.New("--budget must be positive, got 0s"))
	}
	if f.options.Reference == "" {
		errs = append(errs, errors.New("--reference must be uniform or gaussian"))
	}
	return errors.Join(errs...)
}

func printCertificate(w io.Writer, c approx.Certificate) {
	fmt.Fprintf(w, "%s on %d points, B = %g, %s z, seed %d, %s\n\n",
		c.Measure, c.Points, c.Bound, c.Reference, c.Seed, c.Backend)
	fmt.Fprintf(w, "%s\n\n", c)
	fmt.Fprintf(w, "network       %s, widths %v, attempt %d, %.1f s\n", c.Construction, c.Widths, c.Attempts, c.Seconds)
	fmt.Fprintf(w, "parameters    %d, %d of them z and %d constants\n", c.Parameters, c.FromIndex, c.Constants)
	fmt.Fprintf(w, "fresh z       %d of %d within epsilon; with probability %.4g the error is at most %.3g\n",
		c.Within, c.Draws, 1-c.Delta, c.Reached)
	if c.MassError > 0 {
		fmt.Fprintf(w, "optimal map   the masses of its cells differ from mu by a total variation of %.3g\n",
			c.MassError)
	}
}
