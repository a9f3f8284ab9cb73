package main

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/hypermodels/hypermodels/hyper/internal/nearest"
)

// flagError says in plain words what is wrong with a flag: of one that is not known which may have been meant, of a
// value that cannot be read what is wanted.
func flagError(c *cobra.Command, err error) error {
	var unknown *pflag.NotExistError
	var value *pflag.InvalidValueError
	help := "; see " + c.CommandPath() + " --help"
	switch {
	case errors.As(err, &unknown):
		name, hint := unknown.GetSpecifiedName(), ""
		var names []string
		c.Flags().VisitAll(func(f *pflag.Flag) {
			if strings.EqualFold(f.Name[:1], name[:1]) { // a slip is seldom there, and a short name is near to any
				names = append(names, f.Name)
			}
		})
		if meant, ok := nearest.Of(name, names); ok {
			hint = fmt.Sprintf(" (did you mean %q?)", "--"+meant)
		}
		return fmt.Errorf("%w%s%s", err, hint, help)
	case errors.As(err, &value):
		f := value.GetFlag()
		want, ok := wanted[f.Value.Type()]
		if errors.Is(err, strconv.ErrRange) && !strings.HasPrefix(value.GetValue(), "-") {
			want = "a smaller number, this one is too large"
		}
		if ok {
			return fmt.Errorf("--%s=%s: want %s%s", f.Name, value.GetValue(), want, help)
		}
	}
	return fmt.Errorf("%w%s", err, help)
}

// wanted says in words what a flag takes, by its type.
var wanted = map[string]string{
	"int":      "a whole number",
	"uint64":   "a whole number that is not negative",
	"float64":  "a number",
	"duration": "a time such as 20s or 5m",
	"bool":     "true or false",
}

// unknown is an error where some words are not among the known ones of a kind, such as "agent".
func unknown(kind string, known []string, words ...string) error {
	for _, w := range words {
		if !slices.Contains(known, w) {
			return fmt.Errorf("unknown %s %q%s; the %ss are %s", kind, w, nearest.Hint(w, known), kind,
				strings.Join(known, ", "))
		}
	}
	return nil
}

// argument wants exactly the named arguments.
func argument(names ...string) cobra.PositionalArgs {
	return func(c *cobra.Command, args []string) error {
		if len(args) == len(names) {
			return nil
		}
		count := "one argument"
		if len(names) > 1 {
			count = "two arguments"
		}
		return fmt.Errorf("%s takes %s, %s, and got %d; see %[1]s --help", c.CommandPath(), count,
			strings.Join(names, " and "), len(args))
	}
}

// arguments wants one argument or more, of a kind.
func arguments(kind string) cobra.PositionalArgs {
	return func(c *cobra.Command, args []string) error {
		if len(args) > 0 {
			return nil
		}
		return fmt.Errorf("%s takes one argument or more, %s, and got none; see %[1]s --help", c.CommandPath(), kind)
	}
}

// notEmpty refuses flags that are given, but with nothing, as a script does whose variable is empty: the default would
// be another thing than was meant.
func notEmpty(c *cobra.Command, _ []string) (err error) {
	c.Flags().Visit(func(f *pflag.Flag) {
		named := slices.Contains([]string{"agent", "backend", "claim", "out", "policy"}, f.Name)
		if text := f.Value.String(); named && (text == "" || text == "[]") {
			err = fmt.Errorf("--%s is empty: give it a value, or leave the flag out", f.Name)
		}
	})
	return err
}

// fixed is an error where one of some flags is given, which cannot be, for a reason such as "it was begun".
func fixed(c *cobra.Command, why string, flags ...string) error {
	for _, name := range flags {
		if c.Flags().Changed(name) {
			return fmt.Errorf(why, "--"+name)
		}
	}
	return nil
}
