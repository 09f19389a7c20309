package sluice

import (
	"go/ast"
	"go/token"
	"testing"
)

// TestPackages_HaveNoMutableVariables: what changes while the program runs belongs to a value
// that somebody made. A variable of a package is a table, an error or a pool: it is never
// assigned to, and is no counter, lock or map for many.
func TestPackages_HaveNoMutableVariables(t *testing.T) {
	t.Parallel()
	for _, f := range readTree(t) {
		vars := map[string]bool{}
		for _, file := range f.code {
			for _, decl := range file.Decls {
				d, ok := decl.(*ast.GenDecl)
				if !ok || d.Tok != token.VAR {
					continue
				}
				for _, spec := range d.Specs {
					v := spec.(*ast.ValueSpec)
					if shared(v) {
						t.Errorf("%s: a variable of a package that changes; give it to what is made by New", f.at(v))
					}
					for _, name := range v.Names {
						vars[name.Name] = true
					}
				}
			}
		}
		eachFunc(f.code, func(d *ast.FuncDecl) {
			for _, n := range assigned(d) {
				if vars[n.Name] {
					t.Errorf("%s: %s is a variable of the package and may not be assigned to", f.at(n), n.Name)
				}
			}
		})
	}
}

// shared reports whether a variable is of a type that is there to be changed by many.
func shared(v *ast.ValueSpec) bool {
	found := false
	see := func(n ast.Node) bool {
		_, inside := n.(*ast.FuncLit)
		found = found || selected(n, "sync", "Mutex", "RWMutex", "Map", "WaitGroup") ||
			selected(n, "atomic", "Bool", "Int32", "Int64", "Uint32", "Uint64", "Uintptr", "Value", "Pointer")
		return !inside
	}
	if v.Type != nil {
		ast.Inspect(v.Type, see)
	}
	for _, val := range v.Values {
		ast.Inspect(val, see)
	}
	return found
}

// assigned are the names that a function assigns to and does not declare itself.
func assigned(d *ast.FuncDecl) (to []*ast.Ident) {
	locals := map[string]bool{}
	var set []*ast.Ident
	note := func(e ast.Expr) {
		if id, ok := e.(*ast.Ident); ok {
			set = append(set, id)
		}
	}
	ast.Inspect(d, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.Field:
			for _, id := range n.Names {
				locals[id.Name] = true
			}
		case *ast.ValueSpec:
			for _, id := range n.Names {
				locals[id.Name] = true
			}
		case *ast.AssignStmt:
			for _, e := range n.Lhs {
				if id, ok := e.(*ast.Ident); ok && n.Tok == token.DEFINE {
					locals[id.Name] = true
				} else {
					note(e)
				}
			}
		case *ast.RangeStmt:
			for _, e := range []ast.Expr{n.Key, n.Value} {
				if id, ok := e.(*ast.Ident); ok && n.Tok == token.DEFINE {
					locals[id.Name] = true
				} else {
					note(e)
				}
			}
		case *ast.IncDecStmt:
			note(n.X)
		}
		return true
	})
	for _, id := range set {
		if !locals[id.Name] && id.Name != "_" {
			to = append(to, id)
		}
	}
	return to
}
