package lab

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/hypermodels/hypermodels/hyper/stats"
)

// The longest lines of a result file, in bytes: of the header, which lists all entries, and of a row.
const (
	longestHeader = 32 << 20
	longestRow    = 1 << 10
)

// ReadResults reads the result file of a folder. It ignores an incomplete last line.
func ReadResults(dir string, known map[string]Experiment) (Header, []Row, error) {
	path := filepath.Join(dir, ResultsFile)
	switch info, err := os.Stat(dir); {
	case errors.Is(err, os.ErrNotExist):
		return Header{}, nil, fmt.Errorf("%w: there is no folder %s", ErrResults, dir)
	case err == nil && !info.IsDir():
		return Header{}, nil, fmt.Errorf("%w: %s is a file, perhaps a piece of a study; give the "+
			"folder of a run", ErrResults, dir)
	}
	if _, err := os.Stat(path); errors.Is(err, os.ErrNotExist) {
		return Header{}, nil, fmt.Errorf("%w: %s has no %s%s", ErrResults, dir, ResultsFile, resultsInside(dir))
	}
	return ReadFile(path, known)
}

// resultsInside names, for an error, results in a folder that is not itself the folder of a run.
func resultsInside(dir string) string {
	if runs, _ := filepath.Glob(filepath.Join(dir, "*", ResultsFile)); len(runs) > 0 {
		return "; the latest results in it are in " + filepath.Dir(slices.MaxFunc(runs, func(a, b string) int {
			return changed(a).Compare(changed(b))
		}))
	}
	if pieces, _ := filepath.Glob(filepath.Join(dir, "*.jsonl.gz")); len(pieces) > 0 {
		return fmt.Sprintf("; it has pieces of a study: name these files, such as %s", pieces[0])
	}
	return ""
}

// changed returns the time at which a file was changed last.
func changed(path string) (at time.Time) {
	if info, err := os.Stat(path); err == nil {
		at = info.ModTime()
	}
	return at
}

// ReadFile reads a file of results, plain or gzipped: the result file of a run, or a piece of a study. It ignores an
// incomplete last line. The error wraps [ErrResults] and names the file.
func ReadFile(path string, known map[string]Experiment) (Header, []Row, error) {
	found, err := parseFile(path, known)
	return found.header, found.rows, err
}

// parseFile reads a result file, plain or gzipped. The error names the file.
func parseFile(path string, known map[string]Experiment) (found parsed, err error) {
	f, err := os.Open(path)
	if err != nil {
		return found, fmt.Errorf("%w: %v", ErrResults, err)
	}
	defer func() { _ = f.Close() }()
	var in io.Reader = f
	if filepath.Ext(path) == ".gz" {
		if in, err = gzip.NewReader(f); err != nil {
			err = fmt.Errorf("%w: %w", ErrResults, err)
		}
	}
	if err == nil {
		found, err = parseResults(in, known)
	}
	if err != nil {
		return parsed{}, fmt.Errorf("%s: %w", path, broken(path, err))
	}
	return found, nil
}

// errNoHeader reports that a result file ends within its first line.
var errNoHeader = fmt.Errorf("%w: the header line is missing or cut off", ErrResults)

// broken adds advice to the error about a file that is empty or ends too early.
func broken(path string, err error) error {
	switch {
	case errors.Is(err, io.ErrUnexpectedEOF):
		return fmt.Errorf("%w: the file is cut off: copy it again", ErrResults)
	case errors.Is(err, gzip.ErrHeader):
		return fmt.Errorf("%w: the name ends in .gz, but the file is not compressed by gzip: rename it", ErrResults)
	case errors.Is(err, io.EOF):
		return fmt.Errorf("%w: the file is empty: copy it again", ErrResults)
	case err == errNoHeader && filepath.Base(path) == ResultsFile:
		return fmt.Errorf("%w: remove the file, or choose another --out", err)
	case err == errNoHeader:
		return fmt.Errorf("%w: copy the file again", err)
	}
	return err
}

type parsed struct {
	header Header
	rows   []Row
	first  int64 // bytes of the header line
	whole  int64 // bytes of all complete lines
}

// parseResults reads results line by line. It allocates memory only for rows that the header's Spec can have, each
// once. It stops with an error at the first line that is too long or is not such a row. A reader therefore cannot make
// it use unlimited memory.
func parseResults(in io.Reader, known map[string]Experiment) (parsed, error) {
	var p parsed
	r := bufio.NewReader(in)
	line, err := readLine(r, longestHeader)
	if err == io.EOF {
		return p, errNoHeader
	} else if err != nil {
		return p, fmt.Errorf("%w: the header: %w", ErrResults, err)
	}
	if p.header, err = parseHeader(line, known); err != nil {
		return p, err
	}
	p.first, p.whole = int64(len(line)), int64(len(line))
	seen := readRows{p.header.Spec, Schedule(p.header.Spec.Periods), map[lane]*[5]uint64{}}
	for number := 2; ; number++ {
		line, err := readLine(r, longestRow)
		if err == io.EOF { // the end, or a last line that was cut off while it was written
			return p, nil
		}
		var row Row
		if err == nil {
			err = row.parse(line)
		}
		if err == nil {
			err = seen.add(row)
		}
		if err != nil {
			return p, fmt.Errorf("%w: line %d: %w", ErrResults, number, err)
		}
		p.rows = append(p.rows, row)
		p.whole += int64(len(line))
	}
}

// parse parses a row. For a row as [writer] writes it, it needs a small part of the time of package json.
func (r *Row) parse(line []byte) error {
	rest, usual := line, true
	number := func(key string) string {
		after, found := bytes.CutPrefix(rest, []byte(key))
		end := 0
		for end < len(after) && strings.IndexByte("0123456789+-.e", after[end]) >= 0 {
			end++
		}
		rest, usual = after[end:], usual && found && json.Valid(after[:end])
		return string(after[:end])
	}
	whole := func(key string, bits int) uint64 {
		n, err := strconv.ParseUint(number(key), 10, bits)
		usual = usual && err == nil
		return n
	}
	row := Row{Entry: int(whole(`{"entry":`, 31)), Run: int(whole(`,"run":`, 31)), Seed: whole(`,"seed":`, 64),
		Period: int(whole(`,"period":`, 31))}
	regret, err := strconv.ParseFloat(number(`,"cumulative_regret":`), 64)
	row.Regret, row.Digest = stats.Float(regret), uint32(whole(`,"digest":`, 32))
	if usual && err == nil && string(rest) == "}\n" {
		*r = row
		return nil
	}
	return json.Unmarshal(line, r)
}

// readLine returns a line including its line end. The next call may overwrite it. It returns io.EOF if no complete line
// is left.
func readLine(r *bufio.Reader, longest int) ([]byte, error) {
	line, err := r.ReadSlice('\n')
	if err == bufio.ErrBufferFull {
		line = slices.Clone(line)
	}
	for err == bufio.ErrBufferFull && len(line) <= longest {
		var more []byte
		more, err = r.ReadSlice('\n')
		line = append(line, more...)
	}
	if len(line) > longest {
		return nil, errors.New("the line is too long")
	}
	return line, err
}

func parseHeader(line []byte, known map[string]Experiment) (Header, error) {
	var raw struct {
		Header
		Spec json.RawMessage `json:"spec"`
	}
	if err := json.Unmarshal(line, &raw); err != nil || raw.Format != Format {
		return Header{}, fmt.Errorf("%w: the first line is not a %s header", ErrResults, Format)
	}
	h := raw.Header
	spec, err := parseSpec(raw.Spec, known, true)
	if errors.Is(err, fs.ErrNotExist) { // results of before the shape was recorded
		err = fmt.Errorf("%w: run this in the folder with the file, or put it back", err)
	}
	if err != nil {
		return Header{}, fmt.Errorf("%w: %v", ErrResults, err)
	}
	h.Spec = spec
	return h, nil
}

// readRows records which rows of a Spec have been read.
type readRows struct {
	spec    Spec
	periods []int
	taken   map[lane]*[5]uint64 // one bit for each period
}

// add records a row. The error says why the row cannot belong to the Spec, or that it was already read.
func (d readRows) add(r Row) error {
	at, scheduled := slices.BinarySearch(d.periods, r.Period)
	switch {
	case r.Entry < 0 || r.Entry >= len(d.spec.Entries):
		return fmt.Errorf("entry %d is not in the Spec", r.Entry)
	case r.Run < 0 || r.Run >= d.spec.Runs || r.Seed != d.spec.Seed+uint64(r.Run):
		return fmt.Errorf("run %d with seed %d is not in the Spec", r.Run, r.Seed)
	case !scheduled:
		return fmt.Errorf("the Spec has no row at period %d", r.Period)
	case r.Diverged < 0 || r.Diverged > r.Period:
		return fmt.Errorf("the row at period %d has diverged = %d, which must be from 0 to the period", r.Period, r.Diverged)
	}
	l := lane{r.Entry, r.Run}
	taken := d.taken[l]
	if taken == nil {
		taken = new([5]uint64)
		d.taken[l] = taken
	}
	if bit := uint64(1) << (at % 64); taken[at/64]&bit == 0 {
		taken[at/64] |= bit
		return nil
	}
	return fmt.Errorf("entry %d, run %d, period %d occurs twice", r.Entry, r.Run, r.Period)
}
