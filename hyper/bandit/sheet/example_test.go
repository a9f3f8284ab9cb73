package sheet_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/hypermodels/hypermodels/hyper/bandit/sheet"
)

// The built-in data sets with their numbers of rows and columns.
func ExampleSet() {
	for _, name := range sheet.Sets() {
		s, err := sheet.Set(name)
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(s.Name, len(s.Rows), len(s.Header))
	}
	// Output:
	// digits 1797 62
	// phishing 1250 10
	// segment 2310 19
	// shuttle 49097 10
}

// A file with cells that are separated by bars. A program registers how to read it.
func ExampleRegister() {
	sheet.Register(".bars", func(contents []byte) (*sheet.Sheet, error) {
		lines := strings.Split(strings.TrimSpace(string(contents)), "\n")
		if len(lines) < 3 {
			return nil, errors.New("has no two rows")
		}
		s := &sheet.Sheet{Header: strings.Split(lines[0], "|")}
		for i, line := range lines[1:] {
			s.Rows, s.Lines = append(s.Rows, strings.Split(line, "|")), append(s.Lines, i+2)
		}
		return s, nil
	})
	dir, err := os.MkdirTemp("", "sheet")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	file := filepath.Join(dir, "flowers.bars")
	if err := os.WriteFile(file, []byte("length|kind\n5.1|iris\n3.2|poppy\n"), 0o600); err != nil {
		fmt.Println(err)
		return
	}
	s, err := sheet.Read(file)
	fmt.Println(s.Header, s.Rows, err)
	// Output: [length kind] [[5.1 iris] [3.2 poppy]] <nil>
}
