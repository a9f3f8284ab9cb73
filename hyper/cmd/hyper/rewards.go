package main

import (
	"bufio"
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/hypermodels/hypermodels/hyper/internal/strict"
)

// reward is what came of a decision, as /v1/reward takes it.
type reward struct {
	ID     string   `json:"id"`
	Reward *float32 `json:"reward"`
	Weight *float32 `json:"weight,omitempty"` // nil is 1
}

// readRewards reads the rewards of a file, of which the ending says the form. The error names the line.
func readRewards(path string) (all []reward, err error) {
	read := rewardLines
	switch ending := filepath.Ext(path); ending {
	case ".csv":
		read = rewardTable
	case ".jsonl", ".ndjson":
	default:
		return nil, fmt.Errorf("%s: want a file that ends in .csv or .jsonl, as its form is known by that", path)
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	line := 0
	for r, err := range read(f, &line) {
		if err == nil {
			err = r.check()
		}
		if err != nil {
			return nil, fmt.Errorf("%s: line %d: %w", path, line, err)
		}
		all = append(all, r)
	}
	if len(all) == 0 {
		return nil, fmt.Errorf("%s has no rewards", path)
	}
	return all, nil
}

// check reports what no server takes.
func (r reward) check() error {
	switch {
	case r.ID == "":
		return errors.New("id is missing: want that of a decision, as /v1/decide answers it")
	case r.Reward == nil:
		return errors.New("reward is missing: want a number")
	case !(math.Abs(float64(*r.Reward)) <= 1e18):
		return fmt.Errorf("reward must be between -1e18 and 1e18, got %v", *r.Reward)
	case r.Weight != nil && !(*r.Weight > 0 && *r.Weight <= 1e9):
		return fmt.Errorf("weight must be positive and at most 1e9, got %v", *r.Weight)
	}
	return nil
}

// rewardLines reads JSON lines. Empty ones are left out.
func rewardLines(f io.Reader, line *int) func(func(reward, error) bool) {
	return func(yield func(reward, error) bool) {
		lines := bufio.NewScanner(f)
		for *line = 1; lines.Scan(); *line++ {
			if len(bytes.TrimSpace(lines.Bytes())) == 0 {
				continue
			}
			var r reward
			err := strict.WithoutNull(lines.Bytes(), &r)
			if !yield(r, err) || err != nil {
				return
			}
		}
		err := lines.Err()
		if errors.Is(err, bufio.ErrTooLong) {
			err = fmt.Errorf("the line has more than %d bytes", bufio.MaxScanTokenSize)
		}
		if err != nil {
			yield(reward{}, err)
		}
	}
}

// rewardTable reads CSV with a header. Columns that are not known are refused, so that a slip in weight is found.
func rewardTable(f io.Reader, line *int) func(func(reward, error) bool) {
	return func(yield func(reward, error) bool) {
		in := csv.NewReader(f)
		in.ReuseRecord = true
		header, err := in.Read()
		*line = 1
		var columns []string
		if err == nil {
			columns, err = rewardColumns(header)
		}
		if err == io.EOF {
			err = errors.New("the file is empty: want a header with the columns id and reward")
		}
		for err == nil {
			var cells []string
			var r reward
			cells, err = in.Read()
			var wrong *csv.ParseError
			switch {
			case err == io.EOF:
				return
			case errors.As(err, &wrong):
				*line, err = wrong.Line, wrong.Err
			case err == nil:
				*line, _ = in.FieldPos(0)
				r, err = rewardRow(columns, cells)
			}
			if !yield(r, err) || err != nil {
				return
			}
		}
		yield(reward{}, err)
	}
}

// rewardColumns are the names of the columns.
func rewardColumns(header []string) (names []string, err error) {
	header = slices.Clone(header)
	header[0] = strings.TrimPrefix(header[0], "\ufeff") // a byte order mark
	for _, name := range header {
		name = strings.TrimSpace(name)
		if !slices.Contains([]string{"id", "reward", "weight"}, name) || slices.Contains(names, name) {
			return nil, fmt.Errorf("the header must have the columns id, reward and perhaps weight, each once, got %.40q",
				name)
		}
		names = append(names, name)
	}
	if !slices.Contains(names, "id") || !slices.Contains(names, "reward") {
		return nil, fmt.Errorf("the header must have the columns id and reward, got %.80q", header)
	}
	return names, nil
}

// rewardRow reads a row. A weight may be empty.
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
		if err != nil {
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
