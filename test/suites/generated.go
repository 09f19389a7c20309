package suites

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"strconv"
	"strings"
)

// baseVariable is what generated tests read, and what they are known by.
const baseVariable = "TEST_API_BASE_URL"

// generated lists the generated tests in a folder, in the order of its files.
func generated(dir string) ([]string, error) {
	files, err := filepath.Glob(filepath.Join(dir, "*_test.go"))
	if err != nil {
		return nil, fmt.Errorf("list the tests of %s: %w", dir, err)
	}
	var names []string
	for _, path := range files {
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		if err != nil {
			return nil, fmt.Errorf("read the tests of a client: %w", err)
		}
		for _, d := range file.Decls {
			if f, ok := d.(*ast.FuncDecl); ok && strings.HasPrefix(f.Name.Name, "Test") && readsBase(f) {
				names = append(names, f.Name.Name)
			}
		}
	}
	return names, nil
}

// readsBase reports whether a function names the variable.
func readsBase(f *ast.FuncDecl) bool {
	found := false
	ast.Inspect(f, func(n ast.Node) bool {
		lit, ok := n.(*ast.BasicLit)
		found = found || ok && lit.Value == strconv.Quote(baseVariable)
		return !found
	})
	return found
}
