package cells

import (
	"fmt"
	"go/ast"
	"go/token"
	"regexp"
	"strings"
)

// harmless matches calls that are cheap and always give the same result: of some packages, and of built-in functions.
var harmless = regexp.MustCompile(`^(errors|regexp|strings|strconv|math|fmt|time|big|template|slices|maps|sync|floats|mat|index)\.\w+$|` +
	`^(append|cap|complex|copy|imag|len|make|max|min|new|real|string|bool|byte|rune|error|any|u?int(8|16|32|64)?|` +
	`float(32|64)|complex(64|128)|rand\.New\w*)$`)

// callsFunction reports whether the initializer of a variable calls a function that is not harmless. A call of
// cache.Cache does not count.
func callsFunction(s ast.Spec) bool {
	v, ok := s.(*ast.ValueSpec)
	if !ok {
		return false
	}
	calls, keeps := false, false
	local := map[string]bool{} // variables of a function literal that is called in the initializer
	var look func(ast.Node) bool
	look = func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncLit:
			return false // The function is not called here.
		case *ast.AssignStmt:
			for _, x := range n.Lhs {
				if id, ok := x.(*ast.Ident); ok && n.Tok == token.DEFINE {
					local[id.Name] = true
				}
			}
		case *ast.CallExpr:
			if lit, ok := n.Fun.(*ast.FuncLit); ok {
				ast.Inspect(lit.Body, look)
			}
			name := callee(n.Fun)
			if of, _, _ := strings.Cut(name, "."); local[of] {
				return true
			}
			keeps = keeps || strings.HasPrefix(name, "cache.Cache")
			calls = calls || name != "" && !harmless.MatchString(name)
		}
		return true
	}
	for _, x := range v.Values {
		ast.Inspect(x, look)
	}
	return calls && !keeps
}

// callee returns the text of a called function, or "" if it has no name.
func callee(x ast.Expr) string {
	switch x := x.(type) {
	case *ast.Ident:
		return x.Name
	case *ast.SelectorExpr:
		return fmt.Sprint(callee(x.X), ".", x.Sel.Name)
	case *ast.IndexExpr:
		return callee(x.X)
	case *ast.IndexListExpr:
		return callee(x.X)
	case *ast.ParenExpr:
		return callee(x.X)
	}
	return ""
}
