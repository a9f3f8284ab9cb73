package notebook

import (
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/printer"
	"go/token"
	"io"
	"io/fs"
	"maps"
	"slices"
	"strings"
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

// source is a file, and the nodes of it that were taken.
type source struct {
	files *token.FileSet
	tree  *ast.File
	nodes map[string][]ast.Node // declarations and statements of each name
	taken map[ast.Node]bool
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

// declarations stores the nodes of the file's names: imports, types and their methods, functions, variables and
// constants.
func (c *source) declarations() {
	for _, d := range c.tree.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			c.note(d.Name.Name, d)
			if d.Recv != nil && len(d.Recv.List) > 0 {
				ast.Inspect(d.Recv.List[0].Type, func(n ast.Node) bool {
					if id, ok := n.(*ast.Ident); ok {
						c.note(id.Name, d)
					}
					return true
				})
			}
		case *ast.GenDecl:
			for _, spec := range d.Specs {
				switch s := spec.(type) {
				case *ast.ImportSpec:
					name := strings.Trim(s.Path.Value, `"`)
					name = name[strings.LastIndex(name, "/")+1:]
					if s.Name != nil {
						name = s.Name.Name
					}
					c.note(name, s)
				case *ast.TypeSpec:
					c.note(s.Name.Name, s)
				case *ast.ValueSpec:
					for _, id := range s.Names {
						c.note(id.Name, d) // the whole group, because of iota
					}
				}
			}
		}
	}
}

// statements stores the statements before the call, in its function, that set variables.
func (c *source) statements(in *ast.FuncDecl, call *ast.CallExpr) {
	ast.Inspect(in.Body, func(n ast.Node) bool {
		if n == nil || n == call || n.Pos() > call.Pos() {
			return false
		}
		around := n.End() > call.Pos() // this statement has the call, and sets variables by it
		switch s := n.(type) {
		case *ast.AssignStmt:
			for _, left := range s.Lhs {
				if !around {
					c.note(base(left), s)
				}
			}
		case *ast.IncDecStmt:
			c.note(base(s.X), s)
		case *ast.RangeStmt:
			for _, of := range []ast.Expr{s.Key, s.Value} {
				if of != nil {
					c.note(base(of), s.X)
				}
			}
		case *ast.ValueSpec:
			for _, id := range s.Names {
				if !around {
					c.note(id.Name, s)
				}
			}
		case *ast.ExprStmt: // a method may change its receiver, and a function its arguments
			ast.Inspect(s, func(n ast.Node) bool {
				if id, ok := n.(*ast.Ident); ok && !around {
					c.note(id.Name, s)
				}
				return true
			})
		}
		return true
	})
}

// base returns the variable that an assignment to x, x.f or x[i] changes.
func base(x ast.Expr) string {
	for {
		switch y := x.(type) {
		case *ast.Ident:
			return y.Name
		case *ast.SelectorExpr:
			x = y.X
		case *ast.IndexExpr:
			x = y.X
		case *ast.StarExpr:
			x = y.X
		case *ast.ParenExpr:
			x = y.X
		default:
			return ""
		}
	}
}

func (c *source) note(name string, n ast.Node) {
	if name != "" && name != "_" {
		c.nodes[name] = append(c.nodes[name], n)
	}
}

// take takes a node and all nodes that it refers to.
func (c *source) take(n ast.Node) {
	if c.taken[n] {
		return
	}
	c.taken[n] = true
	ast.Inspect(n, func(at ast.Node) bool {
		if id, ok := at.(*ast.Ident); ok {
			for _, other := range c.nodes[id.Name] {
				c.take(other)
			}
		}
		return true
	})
}

// write writes the nodes that were taken, without comments, in an order that does not depend on their positions.
func (c *source) write(w io.Writer) error {
	texts := map[string]bool{}
	for n := range c.taken {
		var text strings.Builder
		if spec, ok := n.(*ast.ImportSpec); ok {
			text.WriteString(spec.Path.Value)
		} else if err := printer.Fprint(&text, c.files, n); err != nil {
			return err
		}
		texts[text.String()] = true
	}
	for _, text := range slices.Sorted(maps.Keys(texts)) {
		if _, err := fmt.Fprintln(w, text); err != nil {
			return err
		}
	}
	return nil
}
