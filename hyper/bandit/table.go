package bandit

import (
	"crypto/sha256"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"

	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"

	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/compute/shapes"
	"github.com/hypermodels/hypermodels/hyper"
	"github.com/hypermodels/hypermodels/hyper/internal/faults"
	"github.com/hypermodels/hypermodels/hyper/internal/nearest"
	"github.com/hypermodels/hypermodels/hyper/rng"
)

// Table is a contextual bandit on the rows of a CSV file with a header: classification, told only whether a guess was
// right. In each period a row is drawn, all being as likely each time. Its columns but the target are the context:
// numbers less their mean over the file and over their standard deviation, and a 0 or 1 for each value of a column of
// something else. The actions are the values of the target, in their order; the row's own has mean reward 1, the others
// 0.
//
// The table is a constant of the compiled program, which all runs share: at most 2 million numbers. On XLA for CPUs a
// table of 0.5 million adds a second to compiling, one of 2 million 2.6 s; on the Go backend 0.03 s and 0.1 s.
type Table struct {
	File   string  `help:"CSV file with a header, of at most 256 MB"`
	Target string  `help:"column whose values are the actions, at most 50; without one it is the last column"`
	Noise  float64 `run:"true" help:"standard deviation of the rewards' noise"`

	read *table // of the File and Target that it says
}

var _ FromFile = &Table{}

const (
	mostBytes  = 256 << 20
	mostCells  = 2_000_000
	mostValues = 50
	mostErrors = 10 // of one kind that are told
)

// table is what a file has.
type table struct {
	file, target string          // as the world says them
	sum          string          // SHA-256 of the file's contents, in hex
	context      *tensors.Tensor // [rows, width]
	class        *tensors.Tensor // of each row, int32 [rows, 1]
	classes      int
}

// Validate reads the file, unless it has, and reports what is wrong with it by line and column.
func (b *Table) Validate() error {
	errs := []error{faults.NotNegative("noise", b.Noise)}
	if b.read == nil || b.read.file != b.File || b.read.target != b.Target {
		t, err := readTable(b.File, b.Target)
		b.read = t
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}

// load returns the table, which Validate has read unless nobody asked it to.
func (b *Table) load() *table {
	if err := b.Validate(); err != nil {
		panic(fmt.Errorf("bandit.Table: %w", err))
	}
	return b.read
}

// Source is the file as it was when it was read.
func (b *Table) Source() (file, sha256 string) { return b.File, b.load().sum }

// Problem has an action for each class, which sees the context in a block of its own.
func (b *Table) Problem() Problem {
	t := b.load()
	width := t.context.Shape().Dim(1)
	return Problem{Actions: t.classes, Features: t.classes * width, Blocks: t.classes, Moves: true}
}

// Init has nothing to draw. The state is the class of the period's row, int32 [runs].
func (b *Table) Init(s rng.Stream, _ hyper.Numbers) State {
	return State{"class": Zeros(s.Graph(), shapes.Make(dtypes.Int32, s.Runs()))}
}

// Offer offers all classes for a row.
func (b *Table) Offer(_ State, _ hyper.Numbers, s rng.Stream, _ *Node) (Offer, State) {
	t, g := b.load(), s.Graph()
	row := s.Named("row").Intn(Const(g, int32(t.context.Shape().Dim(0))), 1)
	class := Squeeze(Gather(ConstTensor(g, t.class), row), 1)
	return Offer{Context: Gather(ConstTensor(g, t.context), row)}, State{"class": class}
}

// Step returns 1 for the row's class and 0 for another, and noise.
func (b *Table) Step(state State, n hyper.Numbers, s rng.Stream, _, x *Node) (Outcome, State) {
	means := OneHot(state["class"], b.load().classes, dtypes.Float32)
	return reply(s, means, x, n.Of(s, "Noise", b.Noise)), state
}

// sheet is the text of a file.
type sheet struct {
	file   string
	sum    string // SHA-256 of its contents, in hex
	header []string
	rows   [][]string
	lines  []int // that each row begins at
}

// readTable reads a file, and reports everything that is wrong with it.
func readTable(file, target string) (*table, error) {
	s, err := readSheet(file)
	if err != nil {
		return nil, err
	}
	at := len(s.header) - 1
	if target != "" {
		if at = slices.Index(s.header, target); at < 0 {
			hint := nearest.Hint(target, s.header)
			return nil, fmt.Errorf("target: %s has no column %q%s; choose one of %s", file, target, hint,
				strings.Join(s.header, ", "))
		}
	}
	if err := s.missing(); err != nil {
		return nil, err
	}
	columns, err := s.context(at)
	classes := distinct(s.rows, at)
	if n := len(classes); n < 2 || n > mostValues {
		err = errors.Join(err, fmt.Errorf("%s: the target, column %d (%q), has %d different values, or more, "+
			"where 2 to %d can be actions: choose another target, or put its values into classes",
			file, at+1, s.header[at], n, mostValues))
	}
	if err != nil {
		return nil, err
	}
	t := &table{file: file, target: target, sum: s.sum, classes: len(classes)}
	flat, class := make([]float32, 0, len(s.rows)*len(columns)), make([]int32, len(s.rows))
	for r, row := range s.rows {
		for _, c := range columns {
			flat = append(flat, c[r])
		}
		class[r] = int32(slices.Index(classes, row[at]))
	}
	t.context = tensors.FromFlatDataAndDimensions(flat, len(s.rows), len(columns))
	t.class = tensors.FromFlatDataAndDimensions(class, len(s.rows), 1)
	return t, nil
}

// readSheet reads a regular file that is not too large.
func readSheet(file string) (*sheet, error) {
	if file == "" {
		return nil, errors.New("file is missing: name a CSV file with a header")
	}
	info, err := os.Stat(file)
	switch {
	case err != nil:
		return nil, fmt.Errorf("file: %w", err)
	case !info.Mode().IsRegular():
		return nil, fmt.Errorf("file: %s is no regular file", file)
	case info.Size() > mostBytes:
		return nil, fmt.Errorf("file: %s has %d bytes; at most %d are read", file, info.Size(), mostBytes)
	}
	f, err := os.Open(file)
	if err != nil {
		return nil, fmt.Errorf("file: %w", err)
	}
	defer f.Close()
	s, sum := &sheet{file: file}, sha256.New()
	err = s.scan(csv.NewReader(io.TeeReader(io.LimitReader(f, mostBytes), sum))) // to the end of the file
	s.sum = fmt.Sprintf("%x", sum.Sum(nil))
	return s, faults.Prefix("file: "+file+" ", err)
}

// scan reads header and cells, no more than a table may have. The reader wants as many fields in each row as in the
// header.
func (s *sheet) scan(r *csv.Reader) error {
	for {
		record, err := r.Read()
		switch {
		case err == io.EOF && len(s.rows) < 2:
			return fmt.Errorf("has %d rows below a header; it needs 2 at least", len(s.rows))
		case err == io.EOF:
			return nil
		case err != nil:
			return fmt.Errorf("cannot be read: %w", err)
		}
		for i, cell := range record {
			record[i] = strings.TrimSpace(cell)
		}
		if s.header == nil {
			record[0] = strings.TrimPrefix(record[0], "\ufeff") // a byte order mark
			if s.header = record; len(record) < 2 {
				return errors.New("needs two columns at least: a context and a target")
			}
			continue
		}
		line, _ := r.FieldPos(0)
		s.rows, s.lines = append(s.rows, record), append(s.lines, line)
		if len(s.rows)*(len(s.header)-1) > mostCells {
			return fmt.Errorf("has more than %d numbers by line %d: use fewer rows or columns", mostCells, line)
		}
	}
}

// missing reports cells without a value, by line and column.
func (s *sheet) missing() error {
	var errs []error
	for r, row := range s.rows {
		for i, cell := range row {
			switch strings.ToLower(cell) {
			case "", "na", "n/a", "nan", "null", "?", "inf", "-inf", "+inf":
				errs = append(errs, fmt.Errorf("%s: line %d, column %d (%q): the value %q is missing or no number: "+
					"fill it in, or remove the row", s.file, s.lines[r], i+1, s.header[i], cell))
			}
			if len(errs) > mostErrors {
				return some(errs)
			}
		}
	}
	return some(errs)
}

// some joins the first errors.
func some(errs []error) error {
	if len(errs) > mostErrors {
		errs = append(errs[:mostErrors:mostErrors], errors.New("and more like these"))
	}
	return errors.Join(errs...)
}

// context returns the numbers that all columns but the target are, each a slice over the rows.
func (s *sheet) context(target int) (columns [][]float32, err error) {
	var errs []error
	for i, name := range s.header {
		if i == target {
			continue
		}
		more, err := encode(s.rows, i)
		if err != nil {
			errs = append(errs, fmt.Errorf("%s: column %d (%q) %w", s.file, i+1, name, err))
		}
		if columns = append(columns, more...); len(columns)*len(s.rows) > mostCells {
			return nil, fmt.Errorf("%s: the context has more than %d numbers by column %d (%q), with one for each of the "+
				"values that are not numbers: use fewer rows or columns", s.file, mostCells, i+1, name)
		}
	}
	return columns, some(errs)
}

// encode returns the numbers that a column is in the context, a slice for each: standardised, or one-hot.
func encode(rows [][]string, column int) ([][]float32, error) {
	values := make([]float64, len(rows))
	var mean, square float64
	for r, row := range rows {
		x, err := strconv.ParseFloat(row[column], 64)
		if err != nil || math.IsInf(x, 0) || math.IsNaN(x) {
			return oneHots(rows, column)
		}
		values[r] = x
		mean += x / float64(len(rows))
	}
	for _, x := range values {
		square += (x - mean) * (x - mean) / float64(len(rows))
	}
	if slices.Max(values) == slices.Min(values) {
		return nil, errors.New("is the same number in every row: remove it")
	}
	if !(square > 0) || math.IsInf(square, 0) {
		return nil, errors.New("has a variance out of range: use other units")
	}
	out := make([]float32, len(values))
	for r, x := range values {
		out[r] = float32((x - mean) / math.Sqrt(square))
	}
	return [][]float32{out}, nil
}

// oneHots returns a slice of zeros and ones for each value of a column.
func oneHots(rows [][]string, column int) ([][]float32, error) {
	values := distinct(rows, column)
	switch {
	case len(values) == 1:
		return nil, fmt.Errorf("is %q in every row: remove it", values[0])
	case len(values) > mostValues:
		return nil, fmt.Errorf("has %d different values or more that are not all numbers, as %q; at most %d can be told "+
			"apart: remove it, or put its values into classes", len(values), values[0], mostValues)
	case len(values) > mostCells/len(rows):
		return nil, fmt.Errorf("has %d different values in %d rows, too many numbers: use fewer rows", len(values), len(rows))
	}
	out := make([][]float32, len(values))
	for i := range out {
		out[i] = make([]float32, len(rows))
	}
	for r, row := range rows {
		out[slices.Index(values, row[column])][r] = 1
	}
	return out, nil
}

// distinct returns the values of a column, in the order of numbers if they all are, and else of letters: all, or one
// more than can be told apart.
func distinct(rows [][]string, column int) []string {
	seen := map[string]bool{}
	var values []string
	for _, row := range rows {
		if v := row[column]; !seen[v] && len(values) <= mostValues {
			seen[v] = true
			values = append(values, v)
		}
	}
	numbers := true
	for _, v := range values {
		_, err := strconv.ParseFloat(v, 64)
		numbers = numbers && err == nil
	}
	slices.SortFunc(values, func(a, b string) int {
		if x, y := number(a), number(b); numbers && x != y {
			return int(math.Copysign(1, x-y))
		}
		return strings.Compare(a, b)
	})
	return values
}

func number(s string) float64 {
	x, _ := strconv.ParseFloat(s, 64)
	return x
}
