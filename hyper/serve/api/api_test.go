package api

import (
	"encoding/json"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/janpfeifer/must"
)

// The JSON examples in the comments of types have the form of their types, and the package imports only the standard
// library.
func TestExamplesInComments(t *testing.T) {
	types := map[string]any{"DecisionRequest": DecisionRequest{}, "Decision": Decision{}, "Explanation": Explanation{},
		"RewardRequest": RewardRequest{}, "RewardReply": RewardReply{}, "ShownRequest": ShownRequest{},
		"ShownReply": ShownReply{}, "SnapshotReply": SnapshotReply{}, "Health": Health{}, "ErrorReply": ErrorReply{},
		"Activity": Activity{}, "Diagnostics": Diagnostics{}, "Spec": Spec{}}
	for _, name := range must.M1(filepath.Glob("*.go")) {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		file := must.M1(parser.ParseFile(token.NewFileSet(), name, nil, parser.ParseComments))
		for _, i := range file.Imports {
			if strings.Contains(i.Path.Value, ".") {
				t.Errorf("%s imports %s, which is not in the standard library", name, i.Path.Value)
			}
		}
		for _, d := range file.Decls {
			g, ok := d.(*ast.GenDecl)
			if !ok || g.Tok != token.TYPE {
				continue
			}
			var example strings.Builder
			for line := range strings.Lines(g.Doc.Text()) {
				if strings.HasPrefix(line, "\t") {
					example.WriteString(line)
				}
			}
			of := g.Specs[0].(*ast.TypeSpec).Name.Name
			value, has := types[of]
			if has != (example.Len() > 0) {
				t.Errorf("%s: has an example: %v, want %v", of, example.Len() > 0, has)
			}
			delete(types, of)
			if !has {
				continue
			}
			for in := json.NewDecoder(strings.NewReader(example.String())); ; {
				in.DisallowUnknownFields()
				got := reflect.New(reflect.TypeOf(value)).Interface()
				if err := in.Decode(got); err == io.EOF {
					break
				} else if err != nil {
					t.Errorf("%s: %v in the example\n%s", of, err, example.String())
					break
				}
			}
		}
	}
	if len(types) > 0 {
		t.Errorf("the package has no types %v", types)
	}
}
