package cli

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

// flagError returns a clear error about a flag. For an unknown flag the error suggests a similar one. For a wrong value
// the error says which values are possible.
func flagError(c *cobra.Command, err error) error {
	var notExist *pflag.NotExistError
	var value *pflag.InvalidValueError
	help := "; see " + c.CommandPath() + " --help"
	switch {
	case errors.As(err, &notExist):
		name, hint := notExist.GetSpecifiedName(), ""
		var names []string
		c.Flags().VisitAll(func(f *pflag.Flag) {
			if strings.EqualFold(f.Name[:1], name[:1]) { // the first letter is rarely wrong
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
			want = "a smaller number"
		}
		if ok {
			return fmt.Errorf("--%s=%s: want %s%s", f.Name, value.GetValue(), want, help)
		}
	}
	return fmt.Errorf("%w%s", err, help)
}

// wanted describes the values of a flag by its type.
var wanted = map[string]string{
	"int":      "a whole number",
	"intSlice": "whole numbers, separated by commas",
	"uint64":   "a whole number of at least 0",
	"float64":  "a number",
	"duration": "a time such as 20s or 5m",
	"bool":     "true or false",
}

// checkKnown returns an error if one of the words is not in valid. kind names the kind of word, such as "agent".
func checkKnown(kind string, valid []string, words ...string) error {
	for _, w := range words {
		if w == "" {
			return fmt.Errorf("give one of the %ss %s", kind, strings.Join(valid, ", "))
		}
		if !slices.Contains(valid, w) {
			return fmt.Errorf("unknown %s %q%s; the %ss are %s", kind, w, nearest.Hint(w, valid), kind,
				strings.Join(valid, ", "))
		}
	}
	return nil
}

// argument requires exactly the named arguments, or no argument if there is no name.
func argument(names ...string) cobra.PositionalArgs {
	return func(c *cobra.Command, args []string) error {
		if len(args) == len(names) {
			return nil
		}
		count := []string{"no argument", "one argument, ", "two arguments, "}[len(names)]
		got := fmt.Sprint(len(args))
		if len(args) > len(names) { // such as the value of --set after a space in place of =, or files of a pattern
			shown := args[:min(len(args), len(names)+2)]
			got += ": " + strings.Join(shown, ", ")
			if len(shown) < len(args) {
				got += " ..."
			}
		}
		return fmt.Errorf("%s takes %s%s, and got %s; see %[1]s --help", c.CommandPath(), count,
			strings.Join(names, " and "), got)
	}
}

// arguments requires at least one argument of a kind.
func arguments(kind string) cobra.PositionalArgs {
	return func(c *cobra.Command, args []string) error {
		if len(args) > 0 {
			return nil
		}
		return fmt.Errorf("%s takes one argument or more, %s, and got none; see %[1]s --help", c.CommandPath(), kind)
	}
}

// neverEmpty lists the flags that must not be given with an empty value.
var neverEmpty = []string{"agent", "backend", "claim", "out", "policy"}

// notEmpty returns an error if a flag of neverEmpty is given with an empty value. The value may be an empty variable of
// a script, and the flag's default would differ from what the script means.
func notEmpty(c *cobra.Command, _ []string) (err error) {
	c.Flags().Visit(func(f *pflag.Flag) {
		text := f.Value.String()
		if slices.Contains(neverEmpty, f.Name) && (text == "" || text == "[]") {
			err = fmt.Errorf("--%s is empty: give it a value, or leave the flag out", f.Name)
		}
	})
	return err
}

// refuseFlags returns an error if one of the flags is given. why follows the flag in the error.
func refuseFlags(c *cobra.Command, why string, flags ...string) error {
	for _, name := range flags {
		if c.Flags().Changed(name) {
			return fmt.Errorf("--%s %s", name, why)
		}
	}
	return nil
}
