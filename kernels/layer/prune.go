package layer

import (
	"bytes"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
)

// unused is what the compiler says of an import that a program does not need.
var unused = regexp.MustCompile(`(?m)^(?:\S*/)?(main(?:_test)?\.go):(\d+):\d+: .* imported (?:as \S+ )?and not used$`)

// prune takes imports out of the program that GoNB has made of a cell, which lies in a folder, where the compiler has
// said that they are not used. GoNB has imports of earlier cells in every program, and goimports takes out what is not
// used, but no dot import. The other lines stay where they are. The result tells whether something was taken out.
func prune(dir string, said []byte) bool {
	lines := map[string]map[int]bool{}
	for _, m := range unused.FindAllSubmatch(said, -1) {
		line, _ := strconv.Atoi(string(m[2]))
		if lines[string(m[1])] == nil {
			lines[string(m[1])] = map[int]bool{}
		}
		lines[string(m[1])][line] = true
	}
	for name, of := range lines {
		if err := pruneFile(filepath.Join(dir, name), of); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return false
		}
	}
	return len(lines) > 0
}

func pruneFile(path string, lines map[int]bool) error {
	text, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	pruned, err := pruneImports(text, lines)
	if err != nil {
		return err
	}
	return os.WriteFile(path, pruned, 0o600)
}

// pruneImports blanks the imports that begin in some lines. An error says that there is none.
func pruneImports(text []byte, lines map[int]bool) ([]byte, error) {
	files := token.NewFileSet()
	file, err := parser.ParseFile(files, "", text, parser.ImportsOnly)
	if err != nil {
		return nil, err
	}
	out := bytes.Clone(text)
	found := false
	for _, d := range file.Decls {
		decl, ok := d.(*ast.GenDecl)
		if !ok || decl.Tok != token.IMPORT {
			continue
		}
		for _, spec := range decl.Specs {
			var at ast.Node = spec
			if !lines[files.Position(spec.Pos()).Line] {
				continue
			}
			if !decl.Lparen.IsValid() {
				at = decl
			}
			found = true
			from, to := files.Position(at.Pos()).Offset, files.Position(at.End()).Offset
			for i := from; i < to; i++ {
				if out[i] != '\n' {
					out[i] = ' '
				}
			}
		}
	}
	if !found {
		return nil, errors.New("the compiler names imports that are not there")
	}
	return out, nil
}
