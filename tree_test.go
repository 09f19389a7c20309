package sluice

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
)

// module is the name in go.mod. Every import path of this module begins with it.
const module = "sluice"

// testModule is the folder of the second module: tests of the complete program, which may require
// what the program does not.
const testModule = "test"

// folder is a directory with Go files.
type folder struct {
	path  string      // "internal/storage/sqlstore", "." for the root
	code  []*ast.File // files that are not tests
	tests []*ast.File
	fset  *token.FileSet
}

// readTree returns every Go file of this module and of testModule, parsed, in the order of the paths.
// The tests share the result and must not change it.
func readTree(t *testing.T) []*folder {
	t.Helper()
	tree, err := parsed()
	if err != nil {
		t.Fatal(err)
	}
	return tree
}

var parsed = sync.OnceValues(parseTree)

func parseTree() ([]*folder, error) {
	byPath := map[string]*folder{}
	fset := token.NewFileSet()
	err := filepath.WalkDir(".", func(name string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir():
			return skip(name)
		case filepath.Ext(name) != ".go":
			return nil
		}
		file, err := parser.ParseFile(fset, name, nil, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		dir := filepath.ToSlash(filepath.Dir(name))
		if byPath[dir] == nil {
			byPath[dir] = &folder{path: dir, fset: fset}
		}
		if strings.HasSuffix(name, "_test.go") {
			byPath[dir].tests = append(byPath[dir].tests, file)
		} else {
			byPath[dir].code = append(byPath[dir].code, file)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	tree := make([]*folder, 0, len(byPath))
	for _, f := range byPath {
		tree = append(tree, f)
	}
	slices.SortFunc(tree, func(a, b *folder) int { return strings.Compare(a.path, b.path) })
	return tree, nil
}

// skip omits folders that go build omits, and other modules except testModule.
func skip(dir string) error {
	base := filepath.Base(dir)
	if dir == "." || dir == testModule {
		return nil
	}
	if base == "testdata" || base == "node_modules" || base[0] == '.' || base[0] == '_' {
		return filepath.SkipDir
	}
	if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
		return filepath.SkipDir
	}
	return nil
}

// imports returns the import paths of files, each once, sorted.
func imports(files []*ast.File) []string {
	var out []string
	for _, file := range files {
		for _, spec := range file.Imports {
			name, err := strconv.Unquote(spec.Path.Value)
			if err == nil {
				out = append(out, name)
			}
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// modulePath returns the path of an import inside this module, or false.
func modulePath(importPath string) (string, bool) {
	return strings.CutPrefix(importPath, module+"/")
}

// covers reports whether one of the patterns matches a path: "a/b" itself, "a/*" its
// children, "a/..." itself and everything below.
func covers(patterns []string, name string) bool {
	return slices.ContainsFunc(patterns, func(pattern string) bool {
		if root, ok := strings.CutSuffix(pattern, "/..."); ok {
			return name == root || strings.HasPrefix(name, root+"/")
		}
		fits, _ := path.Match(pattern, name)
		return fits
	})
}

// pathsBelow joins a folder with each word of a list.
func pathsBelow(root, words string) []string {
	var out []string
	for _, word := range strings.Fields(words) {
		out = append(out, root+"/"+word)
	}
	return out
}

// eachFunc calls see for every function and method declared in files.
func eachFunc(files []*ast.File, see func(*ast.FuncDecl)) {
	for _, file := range files {
		for _, decl := range file.Decls {
			if f, ok := decl.(*ast.FuncDecl); ok {
				see(f)
			}
		}
	}
}

// eachNode calls see for every node of files.
func eachNode(files []*ast.File, see func(ast.Node)) {
	for _, file := range files {
		ast.Inspect(file, func(n ast.Node) bool {
			if n != nil {
				see(n)
			}
			return true
		})
	}
}

// selected reports whether n is pkg.name for one of the names.
func selected(n ast.Node, pkg string, names ...string) bool {
	sel, ok := n.(*ast.SelectorExpr)
	if !ok {
		return false
	}
	id, ok := sel.X.(*ast.Ident)
	return ok && id.Name == pkg && slices.Contains(names, sel.Sel.Name)
}

// at is a position for a message: "internal/storage/sqlstore/tx.go:31".
func (f *folder) at(n ast.Node) string {
	pos := f.fset.Position(n.Pos())
	return filepath.ToSlash(pos.Filename) + ":" + strconv.Itoa(pos.Line)
}
