package sheet_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/janpfeifer/must"

	"github.com/hypermodels/hypermodels/hyper/bandit/sheet"
)

// The data sets are the ones in data/README.md. The digests of phishing, segment and shuttle are the digests of the CSV
// texts in the wheel of river 0.26.1.
func TestSets(t *testing.T) {
	type set struct {
		rows, columns int
		last          string // column
		classes       map[string]int
		sum           string
	}
	want := map[string]set{
		"digits": {1797, 61, "digit", map[string]int{"0": 178, "1": 182, "2": 177, "3": 183, "4": 181, "5": 182, "6": 181,
			"7": 179, "8": 174, "9": 180}, "d22498cf82d645f4a5ae708f9e0697d1eb053a683eb8faca3806831d75c342a4"},
		"phishing": {1250, 9, "is_phishing", map[string]int{"0": 702, "1": 548},
			"cfe77f0b77dd706ac5491842d7ad787c80b5805eb315a47a4b89d0172c760fca"},
		"segment": {2310, 18, "category", map[string]int{"brickface": 330, "cement": 330, "foliage": 330, "grass": 330,
			"path": 330, "sky": 330, "window": 330}, "d8845cf5ab6738e136069b37d4587d41553739088639c50ac97672d4aa04f366"},
		"shuttle": {49097, 9, "anomaly", map[string]int{"0": 45586, "1": 3511},
			"8bee3239f80b6549cbf0bc69c07bdcad8bb33fb968329c0678328a8ca971784b"},
	}
	if names := sheet.Sets(); len(names) != len(want) || !slices.IsSorted(names) {
		t.Errorf("got data sets %v, want the built-in ones in order", names)
	}
	for _, name := range sheet.Sets() {
		s := must.M1(sheet.Set(name))
		last := len(s.Header) - 1
		got := set{len(s.Rows), last, s.Header[last], map[string]int{}, s.Sum}
		for _, row := range s.Rows {
			got.classes[row[last]]++
		}
		if fmt.Sprint(got) != fmt.Sprint(want[name]) {
			t.Errorf("%s: got %v, want %v", name, got, want[name])
		}
	}
	if _, err := sheet.Set("digit"); err == nil || !strings.Contains(err.Error(),
		`unknown "digit" (did you mean "digits"?)`) {
		t.Error(err)
	}
	for _, odd := range []string{"", "../sets", "/etc/passwd"} {
		if _, err := sheet.Set(odd); err == nil || !strings.Contains(err.Error(), "choose one of digits, phishing,") {
			t.Errorf("data set %q: got error %v, want one that lists the names", odd, err)
		}
	}
}

// The extension of a file, in upper or lower case, determines how it is read. Cells without a value are reported by row
// if the file has no lines.
func TestRegister(t *testing.T) {
	file := filepath.Join(t.TempDir(), "a.Letters")
	must.M(os.WriteFile(file, []byte("a?"), 0o600))
	sheet.Register(".letters", func(contents []byte) (*sheet.Sheet, error) {
		if len(contents) == 0 {
			return nil, errors.New("has no letters")
		}
		s := &sheet.Sheet{Header: []string{"letter", "number"}}
		for i, x := range string(contents) {
			s.Rows = append(s.Rows, []string{string(x), fmt.Sprint(i)})
		}
		return s, nil
	})
	if _, err := sheet.Read(file); err == nil || !strings.Contains(err.Error(),
		`row 2, column 1 ("letter"): the value "?" is missing`) {
		t.Error(err)
	}
	must.M(os.WriteFile(file, nil, 0o600))
	if _, err := sheet.Read(file); err == nil || err.Error() != "file: "+file+" has no letters" {
		t.Error(err)
	}
	other := filepath.Join(t.TempDir(), "a.parquet")
	must.M(os.WriteFile(other, nil, 0o600))
	if _, err := sheet.Read(other); err == nil || !strings.Contains(err.Error(), "import hyper/bandit/sheet/parquet") {
		t.Error(err)
	}
}

// No text makes the CSV reader panic, or return a table that is not valid.
func FuzzRead(f *testing.F) {
	for _, text := range []string{"a,b\n1,x\n2,y\n", "\ufeffa,b\n1,2\n\"3\n4\",5\n", "a,b\n1\n", "\"",
		"a,b\r\n1,2\r\n\r\n,\r\n"} {
		f.Add(text)
	}
	file := filepath.Join(f.TempDir(), "a.csv")
	f.Fuzz(func(t *testing.T, text string) {
		must.M(os.WriteFile(file, []byte(text), 0o600))
		s, err := sheet.Read(file)
		if err != nil {
			return
		}
		if len(s.Header) < 2 || len(s.Rows) < 2 || len(s.Lines) != len(s.Rows) || len(s.Sum) != 64 {
			t.Errorf("text %q: got the invalid table %+v", text, s)
		}
		for _, row := range s.Rows {
			if len(row) != len(s.Header) || slices.Contains(row, "") {
				t.Errorf("text %q: got the invalid row %q", text, row)
			}
		}
	})
}

// Words of other programs for numbers that are not finite, and for missing ones, are errors and not categories.
func TestWordsForNumbers(t *testing.T) {
	for word, want := range map[string]string{"Infinity": "is not a finite number", "-infinity": "is not a finite number",
		"#N/A": "is missing, as this word says"} {
		file := filepath.Join(t.TempDir(), "rows.csv")
		must.M(os.WriteFile(file, []byte("x,y\n1,a\n2,b\n"+word+",a\n"+word+",b\n"), 0o600))
		_, err := sheet.Read(file)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got error %v, want %q", word, err, want)
		}
	}
}
