package faults

import (
	"errors"
	"strings"
	"testing"
)

// A fault has the same text as an error that is formatted at once, and Rename changes only names of fields, also behind
// prefixes, in joined errors and among the arguments.
func TestRename(t *testing.T) {
	err := errors.Join(
		Prefix("Train.", errors.Join(AtLeast("Batch", 0, 1), New("IndexSet", "frame needs an even number of %s, got %d",
			Name("Indices"), 3))),
		Size(Product{Name("Batch"), "parameters"}, MostNumbers, 2), New("N", ", the number, must be %v", true),
		New("", "use %s exact", Name("Integrate")), errors.New("Batch is a word here"), nil)
	const plain = `Train.Batch must be at least 1, got 0
Train.IndexSet frame needs an even number of Indices, got 3
Batch x parameters would be [2147483647 2] numbers; at most 2147483647 are possible
N, the number, must be true
use Integrate exact
Batch is a word here`
	if err.Error() != plain {
		t.Errorf("got\n%v\nwant\n%s", err, plain)
	}
	keys := Rename(err, func(path []string, field string) string {
		return strings.Join(append(path, "<"+field+">"), "|")
	})
	const renamed = `Train.|<Batch> must be at least 1, got 0
Train.|<IndexSet> frame needs an even number of <Indices>, got 3
<Batch> x parameters would be [2147483647 2] numbers; at most 2147483647 are possible
<N>, the number, must be true
use <Integrate> exact
Batch is a word here`
	if keys.Error() != renamed {
		t.Errorf("got\n%v\nwant\n%s", keys, renamed)
	}
	if Rename(nil, nil) != nil {
		t.Error("nil is an error")
	}
}
