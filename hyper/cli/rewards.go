package cli

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/hypermodels/hypermodels/hyper/internal/lines"
)

// reward is a reward of a decision, as /v1/reward takes it.
type reward struct {
	ID     string   `json:"id"`
	Reward *float32 `json:"reward"`
	Weight *float32 `json:"weight,omitempty"` // nil means 1
}

var rewardFile = lines.Form[reward, reward]{Columns: rewardColumns,
	Value: func(_ int, r reward) (reward, error) { return r, r.check() }}

func readRewards(path string) (all []reward, err error) {
	for r, err := range rewardFile.Each(path) {
		if err != nil {
			return nil, err
		}
		all = append(all, r)
	}
	if len(all) == 0 {
		return nil, fmt.Errorf("%s has no rewards", path)
	}
	return all, nil
}

// check reports a reward that no server accepts.
func (r reward) check() error {
	switch {
	case r.ID == "":
		return errors.New("id is missing: want the id of a decision, as /v1/decide answers it")
	case r.Reward == nil:
		return errors.New("reward is missing: want a number")
	case !(math.Abs(float64(*r.Reward)) <= 1e18):
		return fmt.Errorf("reward must be between -1e18 and 1e18, got %v", *r.Reward)
	case r.Weight != nil && !(*r.Weight > 0 && *r.Weight <= 1e9):
		return fmt.Errorf("weight must be positive and at most 1e9, got %v", *r.Weight)
	}
	return nil
}

// rewardColumns returns the parser of rows with these columns. It refuses unknown columns, so that a misspelled weight
// is found.
func rewardColumns(names []string) (func(cells []string) (reward, error), error) {
	for _, name := range names {
		if !slices.Contains([]string{"id", "reward", "weight"}, name) {
			return nil, fmt.Errorf("the header must have the columns id, reward and optionally weight, each once, got "+
				"%.40q", name)
		}
	}
	if !slices.Contains(names, "id") || !slices.Contains(names, "reward") {
		return nil, fmt.Errorf("the header must have the columns id and reward, got %.80q", names)
	}
	return func(cells []string) (reward, error) { return rewardRow(names, cells) }, nil
}

// rewardRow parses a row. Its weight may be empty.
func rewardRow(columns, cells []string) (r reward, err error) {
	for i, name := range columns {
		text := strings.TrimSpace(cells[i])
		if name == "id" {
			r.ID = strings.Clone(text)
			continue
		}
		if text == "" {
			continue
		}
		x, err := strconv.ParseFloat(text, 32)
		if err != nil && !errors.Is(err, strconv.ErrRange) { // a number that is too large is infinite
			return r, fmt.Errorf("%s must be a number, got %.40q", name, text)
		}
		y := float32(x)
		if name == "reward" {
			r.Reward = &y
		} else {
			r.Weight = &y
		}
	}
	return r, nil
}
