package notebook

import (
	"fmt"
	"go/ast"
	"go/printer"
	"go/token"
	"io"
	"maps"
	"slices"
	"strings"
)

// source is a file, and the nodes of it that were taken.
type source struct {
	files *token.FileSet
	tree  *ast.File
	nodes map[string][]ast.Node // declarations and statements of each name
	taken map[ast.Node]bool
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
