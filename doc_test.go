package sluice

import (
	"go/ast"
	"go/token"
	"slices"
	"strings"
	"testing"
)

func TestEveryPackageHasAComment(t *testing.T) {
	t.Parallel()
	for _, f := range readTree(t) {
		files := f.code
		if len(files) == 0 {
			files = f.tests
		}
		about := slices.ContainsFunc(files, func(file *ast.File) bool { return file.Doc.Text() != "" })
		if !about {
			t.Errorf("%s has no package comment: say what it is for", f.path)
		}
	}
}

// leastDocumented is the share of exported names that must have a comment.
const leastDocumented = 0.98

func TestExportedNamesAreDocumented(t *testing.T) {
	t.Parallel()
	all := 0
	var bare []string
	for _, f := range readTree(t) {
		note := func(n ast.Node, name string, doc ...*ast.CommentGroup) {
			if !ast.IsExported(name) {
				return
			}
			all++
			if !slices.ContainsFunc(doc, func(c *ast.CommentGroup) bool { return c.Text() != "" }) {
				bare = append(bare, f.at(n)+" "+name)
			}
		}
		for _, file := range f.code {
			if file.Name.Name == "main" {
				continue
			}
			for _, decl := range file.Decls {
				noteDecl(decl, note)
			}
		}
	}
	if share := 1 - float64(len(bare))/float64(max(all, 1)); share < leastDocumented {
		t.Errorf("%.1f %% of %d exported names are documented, %.0f %% are asked for; these are not:\n%s",
			100*share, all, 100*leastDocumented, strings.Join(bare, "\n"))
	}
}

type noter func(n ast.Node, name string, doc ...*ast.CommentGroup)

func noteDecl(decl ast.Decl, note noter) {
	switch d := decl.(type) {
	case *ast.FuncDecl:
		if d.Recv == nil || ast.IsExported(receiver(d.Recv.List[0].Type)) {
			note(d, d.Name.Name, d.Doc)
		}
	case *ast.GenDecl:
		if d.Tok != token.IMPORT {
			noteSpecs(d, note)
		}
	}
}

// noteSpecs takes the comment of a group for its members.
func noteSpecs(d *ast.GenDecl, note noter) {
	for _, spec := range d.Specs {
		switch s := spec.(type) {
		case *ast.TypeSpec:
			note(s, s.Name.Name, d.Doc, s.Doc, s.Comment)
		case *ast.ValueSpec:
			for _, name := range s.Names {
				note(s, name.Name, d.Doc, s.Doc, s.Comment)
			}
		}
	}
}

// receiver is the name of a method's type, without pointer and type parameters.
func receiver(e ast.Expr) string {
	switch t := e.(type) {
	case *ast.StarExpr:
		return receiver(t.X)
	case *ast.IndexExpr:
		return receiver(t.X)
	case *ast.IndexListExpr:
		return receiver(t.X)
	case *ast.Ident:
		return t.Name
	}
	return ""
}
