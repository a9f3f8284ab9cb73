package notebook

import (
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"io/fs"
)

// writeCode writes the code that a call of Keep or KeepFile at a line of a file depends on: its arguments and all
// declarations that they use in the file, without comments and positions. If the file does not exist, as with an
// installed program, it writes nothing.
func writeCode(w io.Writer, file string, line int) error {
	files := token.NewFileSet()
	tree, err := parser.ParseFile(files, file, nil, parser.SkipObjectResolution)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	c := &source{files: files, tree: tree, nodes: map[string][]ast.Node{}, taken: map[ast.Node]bool{}}
	call, in := c.call(line)
	if call == nil {
		return fmt.Errorf("%s:%d: found no call of Keep here: call Keep by its name", file, line)
	}
	c.declarations()
	if in != nil {
		c.statements(in, call)
	}
	if name := c.varies(call); name != "" {
		return fmt.Errorf("%s:%d: %s can differ between calls: pass it as an input as well", file, line, name)
	}
	for _, arg := range call.Args {
		c.take(arg)
	}
	return c.write(w)
}

// computeAt is the index of the argument that computes the value. Later arguments are inputs.
var computeAt = map[string]int{"Keep": 1, "KeepFile": 2}

// varies returns the name of a loop variable around the call, or of a parameter of a function around it, that the
// computation uses and no input has; or "".
func (c *source) varies(call *ast.CallExpr) string {
	last := computeAt[called(call.Fun)]
	if len(call.Args) <= last {
		return ""
	}
	used, given := names(call.Args[1:last+1]...), names(call.Args[last+1:]...)
	found := ""
	ast.Inspect(c.tree, func(n ast.Node) bool {
		if n == nil || n.Pos() > call.Pos() || n.End() < call.End() {
			return false
		}
		var own []*ast.Ident
		switch n := n.(type) {
		case *ast.FuncDecl:
			own = parameters(n.Type)
		case *ast.FuncLit:
			own = parameters(n.Type)
		case *ast.RangeStmt:
			for _, x := range []ast.Expr{n.Key, n.Value} {
				if id, ok := x.(*ast.Ident); ok {
					own = append(own, id)
				}
			}
		case *ast.ForStmt:
			if set, ok := n.Init.(*ast.AssignStmt); ok {
				for _, x := range set.Lhs {
					if id, ok := x.(*ast.Ident); ok {
						own = append(own, id)
					}
				}
			}
		}
		for _, id := range own {
			if used[id.Name] && !given[id.Name] {
				found = id.Name
			}
		}
		return true
	})
	return found
}

// names returns the identifiers in expressions.
func names(in ...ast.Expr) map[string]bool {
	out := map[string]bool{}
	for _, x := range in {
		ast.Inspect(x, func(n ast.Node) bool {
			if id, ok := n.(*ast.Ident); ok {
				out[id.Name] = true
			}
			return true
		})
	}
	return out
}

func parameters(f *ast.FuncType) (all []*ast.Ident) {
	for _, field := range f.Params.List {
		all = append(all, field.Names...)
	}
	return all
}

// call returns the innermost call of Keep or KeepFile around a line, and the function that contains it.
func (c *source) call(line int) (call *ast.CallExpr, in *ast.FuncDecl) {
	for _, d := range c.tree.Decls {
		ast.Inspect(d, func(n ast.Node) bool {
			x, ok := n.(*ast.CallExpr)
			if !ok || c.files.Position(x.Pos()).Line > line || c.files.Position(x.End()).Line < line {
				return true
			}
			if name := called(x.Fun); name == "Keep" || name == "KeepFile" {
				call = x
				in, _ = d.(*ast.FuncDecl)
			}
			return true
		})
	}
	return call, in
}

// called returns the name of a called function.
func called(f ast.Expr) string {
	switch f := f.(type) {
	case *ast.Ident:
		return f.Name
	case *ast.SelectorExpr:
		return f.Sel.Name
	case *ast.IndexExpr:
		return called(f.X)
	case *ast.IndexListExpr:
		return called(f.X)
	}
	return ""
}
