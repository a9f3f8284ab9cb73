package bandit

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/janpfeifer/must"

	"github.com/hypermodels/hypermodels/hyper/backend"
	"github.com/hypermodels/hypermodels/hyper/bandit/sheet"
)

// written writes a file with a text.
func written(t testing.TB, text string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "table.csv")
	must.M(os.WriteFile(file, []byte(text), 0o600))
	return file
}

// flowers has numbers, words, quotes, spaces, a byte order mark, and a target in the middle.
const flowers = "\ufefflength,colour,\"kind, exactly\",width\n1,red,b,10\n 2,blue,a,20\n3,\"red\",c,20\n4,green,a,30\n"

// A table satisfies the requirements of every world.
func TestTableConforms(t *testing.T) {
	file := written(t, flowers)
	conforms(t, func() World { return &Table{File: file, Target: "kind, exactly", Noise: 0.5} }, true)
}

// By hand: lengths 1 to 4 have mean 2.5 and variance 1.25, and widths mean 20 and variance 50; colours are blue, green
// and red, and kinds a, b and c. Rows are equally likely: of 400 draws each of the four has 100, within 5 deviations of
// 8.7. The input of an action is the context in its block, and the reward is 1 only for the kind of the row.
func TestTable(t *testing.T) {
	w := &Table{File: written(t, flowers), Target: "kind, exactly"}
	length := func(x float64) float32 { return float32((x - 2.5) / math.Sqrt(1.25)) }
	width := func(x float64) float32 { return float32((x - 20) / math.Sqrt(50)) }
	rows := [][]float32{
		{length(1), 0, 0, 1, width(10)}, {length(2), 1, 0, 0, width(20)}, {length(3), 0, 0, 1, width(20)},
		{length(4), 0, 1, 0, width(30)},
	}
	kinds := []int{1, 0, 2, 0}
	seeds := seedsOf(100)
	counts := make([]int, len(rows))
	for _, h := range watch(t, backend.Go, w, seeds, nil, 4) {
		for period, inputs := range h.inputs {
			row := slices.IndexFunc(rows, func(r []float32) bool { return slices.Equal(r, inputs[:5]) })
			if row < 0 {
				t.Fatalf("inputs %v are not the inputs of a row", inputs)
			}
			counts[row]++
			for a := range 3 {
				for b := range 3 {
					block, want := inputs[15*a+5*b:][:5], make([]float32, 5)
					if a == b {
						want = rows[row]
					}
					if !slices.Equal(block, want) {
						t.Fatalf("action %d has %v in block %d, want %v", a, block, b, want)
					}
				}
				want := float32(0)
				if a == kinds[row] {
					want = 1
				}
				if reward, regret := h.all[period][2*a], h.all[period][2*a+1]; reward != want || regret != 1-want {
					t.Errorf("row %d: action %d has reward %v and regret %v, want %v", row, a, reward, regret, want)
				}
			}
		}
	}
	for row, n := range counts {
		if math.Abs(float64(n)-100) > 5*8.7 {
			t.Errorf("row %d was drawn %d times of 400, want about 100", row, n)
		}
	}
}

// Classes that are numbers are in numeric order. The last column is the target unless another is named.
func TestTableClasses(t *testing.T) {
	w := &Table{File: written(t, "x,y\n1,10\n2,9\n4,-1\n")}
	must.M(w.Validate())
	if p := w.Problem(); p.Actions != 3 || p.Features != 3 || !p.Moves {
		t.Errorf("got problem %+v, want 3 actions and 3 features", p)
	}
	if got := fmt.Sprint(w.read.class.Value()); got != "[[2] [1] [0]]" {
		t.Errorf("got classes %s, want [[2] [1] [0]]", got)
	}
	w.Target = "x"
	if p := w.Problem(); fmt.Sprint(p.Actions, w.read.class.Value()) != "3 [[0] [1] [2]]" {
		t.Errorf("another target: got %+v with classes %v, want 3 classes in numeric order", p, w.read.class.Value())
	}
}

// Doubts name a mistake in a column of numbers, in the header, and in a first line that is a row. Classes may be numbers,
// also beside other classes, and names may count upwards. A table with doubts can be read.
func TestTableDoubts(t *testing.T) {
	numbers := "1,x\n2,y\n3,x\n4,y\n5,x\n"
	for text, want := range map[string]string{
		"a,b,a\n1,2,x\n3,4,y\n":                      "columns 1 and 3 have the same name \"a\"",
		"5.1,3,a\n4.9,2,a\n4.5,1,b\n":                "the first line (5.1, 3, a) seems to be a row of the table",
		"a,b\n" + numbers + "oops,y\n":               "column 1 (\"a\") has numbers in most rows, but \"oops\" at line 7 is not a number",
		"a,b\n" + numbers + "\"1,001.5\",x\n":        "\"1,001.5\" at line 7 is not a number: write it without commas",
		"a,b\n" + numbers + numbers + "5+,y\n5+,x\n": "",
		"2019,2020,y\n1,2,y\n3,4,n\n":                "",
		"0,1\n5,1\n6,2\n":                            "",
		"yes,y\nyes,y\nno,n\n":                       "",
		",,y\n1,2,y\n3,4,n\n":                        "",
	} {
		w := &Table{File: written(t, text)}
		if err := w.Validate(); err != nil {
			t.Errorf("%q: error %v", text, err)
		} else if err := w.Doubts(); (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%q: got doubts %v, want %q", text, err, want)
		}
	}
}

// A summary says what each column became. Classes may have numbers in their names, or be numbers. Lines may end as in
// old programs.
func TestTableSummary(t *testing.T) {
	for text, want := range map[string]string{
		flowers: "4 rows, 3 actions (width: 10, 20, 30); length: number; colour: 3 categories; " +
			"kind, exactly: 3 categories",
		"a,b\n1a,Yes\n2b,yes\n3,1\n4,1.0\n": "4 rows, 4 actions (b: 1, 1.0, Yes, yes); a: 4 categories",
		"a,b\r1,x\r2,y\r":                   "2 rows, 2 actions (b: x, y); a: number",
	} {
		w := &Table{File: written(t, text)}
		if got := strings.TrimPrefix(w.Summary(), w.File+": "); got != want {
			t.Errorf("%q: got the summary %q, want %q", text, got, want)
		}
	}
}

// The built-in data sets satisfy the requirements of every world.
func TestTableOfData(t *testing.T) {
	for name, want := range map[string][2]int{"digits": {10, 610}, "phishing": {2, 18}, "segment": {7, 126},
		"shuttle": {2, 18}} {
		w := &Table{Data: name, Order: Shuffled, Standardize: Online}
		must.M(w.Validate())
		if p := w.Problem(); p.Actions != want[0] || p.Features != want[1] {
			t.Errorf("data set %s: got problem %+v", name, p)
		}
		if source, sum := w.Source(); source != name || len(sum) != 64 {
			t.Errorf("%s: got source %q with digest %q", name, source, sum)
		}
	}
	help, _ := reflect.TypeFor[Table]().FieldByName("Data")
	for _, name := range sheet.Sets() {
		if !strings.Contains(help.Tag.Get("help"), name) {
			t.Errorf("the help does not contain %s", name)
		}
	}
}

// Faults name the file, line and column, are all reported, and say what to do.
func TestTableValidate(t *testing.T) {
	var ids, many strings.Builder
	for i := range 60 {
		fmt.Fprintf(&ids, "n%d,%d,%d\n", i, i%3, i)
	}
	for i := range 20 {
		fmt.Fprintf(&many, "%d,,1\n", i)
	}
	words := "a,b\n" + strings.Repeat("u,1\nv,2\nw,1\n", 300_000) // 3 numbers for each of 900,000 rows
	row := strings.Repeat("1,", 999) + "2\n"
	for text, want := range map[string][]string{
		"":                       {"is empty"},
		"a\x00,\x00b\x00\n\x00":  {"UTF-16", "save it as UTF-8"},
		"a\n1\n":                 {"needs at least two columns"},
		"a;b\n1;x\n2;y\n":        {"the separator seems to be ';': write commas"},
		"\"a\"\t\"b\"\n1\tx\n":   {"the separator seems to be '\\t'"},
		"\"a\n|\",b\n1,x\n2,x\n": {"has one value alone"}, // the header has a separator in its first line
		"a,b\nx,1\nna,2\ninf,2\n": {"the value \"na\" is missing, as this word says",
			"the value \"inf\" is not a finite number"},
		"a,b\n":             {"has 0 rows after the header"},
		"a,b\n1,2\n3\n":     {"record on line 3: wrong number of fields"},
		"a,b\n1,\"2\n3,4\n": {"line"},
		"a,b\n1,x\n,y\nNA,z\n": {"line 3, column 1 (\"a\")",
			"line 4, column 1 (\"a\"): the value \"NA\" is missing"},
		"a,b,c\n5,x,1\n5,x,2\n": {"column 1 (\"a\") has the same number in every row",
			"column 2 (\"b\") has the value \"x\" in every row"},
		"a,b\n1,2\n3,2\n": {"the target, column 2 (\"b\"), has one value alone", "choose another target"},
		"id,k,y\n" + ids.String(): {"column 1 (\"id\") has 51 or more different values",
			"has more than 50 different values, but needs 2 to 50"},
		"a,b,c\n" + many.String():       {"line 11, column 2", "and more errors like these"},
		strings.Repeat(row, 3):          {"column 10 (\"1\") has the same", "and more errors like these\n"},
		strings.Repeat(row, 2004):       {"has more than 2000000 numbers at line 2004"},
		words:                           {"has 3 different values in 900000 rows, which makes too many numbers"},
		"a,b\n1e300,1\n-1e300,2\n0,1\n": {"variance out of range"},
	} {
		if testing.Short() && len(text) > 1_000_000 {
			continue
		}
		err := (&Table{File: written(t, text)}).Validate()
		for _, want := range want {
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%.40q: error %v, want %q", text, err, want)
			}
		}
	}
	good := written(t, flowers)
	large := written(t, "")
	must.M(os.Truncate(large, sheet.MostBytes+1))
	for want, w := range map[string]*Table{
		"NAME one of digits, phishing, ": {},
		"no such file":                   {File: good + "x"},
		"is not a regular file":          {File: filepath.Dir(good)},
		"bytes, but at most":             {File: large},
		"has no column \"color\"":        {File: good, Target: "color"},
		"noise must be finite":           {File: good, Noise: -1},
		"choose one of length, colour, ": {File: good, Target: "kind"},
		"unknown \"shufled\"":            {File: good, Order: "shufled"},
		"choose one of file, online, no": {File: good, Standardize: "mean"},
		"cannot both be set: set one":    {File: good, Data: "digits"},
		"unknown \"shutle\" (did you m":  {Data: "shutle"},
	} {
		if err := w.Validate(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: error %v, want %q", w, err, want)
		}
	}
}
