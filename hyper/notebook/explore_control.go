package notebook

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/hypermodels/hypermodels/hyper/catalog"
	"github.com/hypermodels/hypermodels/hyper/internal/nearest"
	"github.com/hypermodels/hypermodels/hyper/lab"
)

// Keys of Explore that are not settings.
const (
	keyPeriod = "period" // the period of the beliefs
	keySeed   = "seed"   // the seed of the first run
)

// A slider offers the Spec's seed and the next ones, as numbers of JavaScript, which are exact up to 2^53.
const (
	slidSeeds   = 100
	largestSeed = 1<<53 - slidSeeds
)

// control is a control of a key: its widget, its fields, and functions of its value.
type control struct {
	key, name string
	fields    map[string]any
	field     string // the field that has the value
	read      func(json.RawMessage) (string, error)
	near      func(now string) []string // the neighbours of a value; nil if the key needs no new program
}

// controlOf returns the control of a key, and the key's present value in the first entry that has the key.
func controlOf(spec lab.Spec, name string) (k control, now string, err error) {
	switch name {
	case keyPeriod:
		return slider(name, spec.Periods, 1, spec.Periods), strconv.Itoa(spec.Periods), nil
	case keySeed:
		first := int(spec.Seed)
		return slider(name, first, first, first+slidSeeds-1), strconv.FormatUint(spec.Seed, 10), nil
	}
	names := []string{keyPeriod, keySeed}
	for _, entry := range spec.Entries {
		for _, k := range catalog.Keys(entry.Setting) {
			if k.Name == name {
				return controlFor(k), k.Default, nil
			}
			if !slices.Contains(names, k.Name) {
				names = append(names, k.Name)
			}
		}
	}
	return k, "", fmt.Errorf("no agent here has a key %q%s; the keys are %s", name, nearest.Hint(name, names),
		strings.Join(names, ", "))
}

func controlFor(k catalog.Key) control {
	text := func(raw json.RawMessage) (s string, err error) { err = json.Unmarshal(raw, &s); return s, err }
	switch k.Kind {
	case "int":
		v, _ := strconv.Atoi(k.Default)
		s := slider(k.Name, v, min(v, 1), max(10, 4*v))
		s.fields["continuous_update"] = k.PerRun
		return s
	case "number":
		v, _ := strconv.ParseFloat(k.Default, 64)
		if !(v > 0) || math.IsInf(v, 0) {
			return control{k.Name, "FloatText", map[string]any{"value": v, "continuous_update": false}, "value", plain, nil}
		}
		at := math.Log10(v)
		return control{k.Name, "FloatLogSlider", map[string]any{"value": v, "base": 10, "min": math.Floor(at) - 1,
			"max": math.Ceil(at) + 1, "step": 0.05, "continuous_update": k.PerRun, "readout": true,
			"readout_format": ".3g", "orientation": "horizontal"}, "value", plain, nil}
	case "yes or no":
		return control{k.Name, "Checkbox", map[string]any{"value": k.Default == yes, "indent": false}, "value",
			func(raw json.RawMessage) (string, error) {
				var ticked bool
				err := json.Unmarshal(raw, &ticked)
				return yesOrNo(ticked), err
			}, func(now string) []string { return []string{yesOrNo(now != yes)} }}
	case "choice":
		return choiceControl(k.Name, "Dropdown", k.Choices, k.Default)
	}
	return control{k.Name, "Text", map[string]any{"value": k.Default, "continuous_update": false}, "value", text, nil}
}

// plain returns the text of a value that is a number.
func plain(raw json.RawMessage) (string, error) { return string(raw), nil }

const yes = "yes"

// yesOrNo returns the text of a setting that is yes or no.
func yesOrNo(v bool) string {
	if v {
		return yes
	}
	return "no"
}

func slider(key string, value, from, to int) control {
	return control{key, "IntSlider", map[string]any{"value": value, "min": from, "max": to, "step": 1, "readout": true,
		"readout_format": "d", "continuous_update": true, "orientation": "horizontal"}, "value",
		plain, func(now string) (near []string) {
			n, _ := strconv.Atoi(now)
			for _, v := range []int{n - 1, n + 1} {
				if v >= from && v <= to {
					near = append(near, strconv.Itoa(v))
				}
			}
			return near
		}}
}

// choiceControl returns a control that offers values, with the present value selected.
func choiceControl(key, name string, values []string, now string) control {
	fields := map[string]any{"_options_labels": values, "index": max(slices.Index(values, now), 0)}
	if name == "SelectionSlider" {
		fields["orientation"], fields["readout"] = "horizontal", true
	}
	return control{key, name, fields, "index", func(raw json.RawMessage) (string, error) {
		var i int
		if err := json.Unmarshal(raw, &i); err != nil || i < 0 || i >= len(values) {
			return "", errors.Join(err, fmt.Errorf("there is no choice %s", raw))
		}
		return values[i], nil
	}, func(now string) (near []string) {
		at := slices.Index(values, now)
		for i, v := range values {
			if at >= 0 && (i == at-1 || i == at+1) {
				near = append(near, v)
			}
		}
		return near
	}}
}
