package config

import (
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"reflect"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var update = flag.Bool("update", false, "rewrite docs/settings.md")

const manual = "../../../docs/settings.md"

// TestManual keeps docs/settings.md equal to the comments and tags of Settings.
func TestManual(t *testing.T) {
	t.Parallel()
	text := renderManual(t)
	if *update {
		require.NoError(t, os.MkdirAll(filepath.Dir(manual), 0o755))
		require.NoError(t, os.WriteFile(manual, []byte(text), 0o644))
	}
	have, err := os.ReadFile(manual)
	require.NoError(t, err)
	assert.True(t, text == string(have), "docs/settings.md is stale: run go generate ./internal/ops/config")
}

const manualHead = `# Settings

Generated from the comments in internal/ops/config; change it there and run ` + "`go generate ./internal/ops/config`" + `.

Every setting has one name, written in four places, weakest first:

1. its default, as listed here;
2. a YAML file named by ` + "`--config`" + ` or ` + "`SLUICE_CONFIG`" + `, with the name in lower case: ` + "`db_host: db.example.com`" + `; lists may be YAML lists;
3. the environment, with the name as listed: ` + "`DB_HOST=db.example.com`" + `;
4. the command line: ` + "`--set DB_HOST=db.example.com`" + `; the settings needed most have flags of their own, see ` + "`sluice serve --help`" + `.

An empty value counts as not set. An unknown name on the command line or in the
file, or a value that is not valid, stops the start, with everything that is wrong in one
message. ` + "`sluice config`" + ` shows the values in force and where each came from.

A value of a setting marked *file* that begins with ` + "`/`, `./` or `../`" + ` and is the
path of a readable file is replaced by the content of that file, without the white
space around it. A path that leads nowhere stops the start for keys, certificates and
addresses, and for everything else when the file is there and is not readable; a password
is then used as it stands, with a warning, since it may begin with a slash. The values of
settings marked *secret* are never shown, nor are names and passwords in addresses.
`

func renderManual(t *testing.T) string {
	t.Helper()
	comments := fieldComments(t)
	var b strings.Builder
	b.WriteString(manualHead)
	title := ""
	for _, s := range readSchema() {
		if s.title != title {
			title = s.title
			group := reflect.TypeFor[Settings]().Field(s.path[0])
			fmt.Fprintf(&b, "\n## %s\n\n%s\n", title, comments[group.Type.Name()])
		}
		field := reflect.TypeFor[Settings]().FieldByIndex(s.path)
		owner := reflect.TypeFor[Settings]().Field(s.path[0]).Type.Name()
		text := comments[owner+"."+field.Name]
		require.NotEmpty(t, text, "%s has no comment", s.name)
		require.True(t, strings.HasPrefix(text, field.Name+" "), "the comment of %s must begin with %s", s.name, field.Name)
		fmt.Fprintf(&b, "\n### %s\n\n`%s`%s\n\n%s\n", s.name, s.name, strings.TrimPrefix(text, field.Name), facts(s))
	}
	return b.String()
}

func facts(s setting) string {
	lines := []string{"- Default: " + orNone(s.def), "- Accepted: " + s.form()}
	if s.also != "" {
		lines = append(lines, "- Also read from the environment: `"+s.also+"`")
	}
	switch {
	case s.secret() && s.check != "proxy":
		lines = append(lines, "- *secret*, *file*")
	case s.content():
		lines = append(lines, "- *file*")
	}
	return strings.Join(lines, "\n")
}

func orNone(def string) string {
	if def == "" {
		return "none"
	}
	return "`" + def + "`"
}

// fieldComments reads the comments of this package's types and their fields, under
// "Server" and "Server.Port", each on one line.
func fieldComments(t *testing.T) map[string]string {
	t.Helper()
	files, err := filepath.Glob("*.go")
	require.NoError(t, err)
	out := map[string]string{}
	for _, name := range files {
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.ParseComments)
		require.NoError(t, err)
		for _, decl := range file.Decls {
			if gen, ok := decl.(*ast.GenDecl); ok && gen.Tok == token.TYPE {
				collect(out, gen)
			}
		}
	}
	return out
}

func collect(out map[string]string, gen *ast.GenDecl) {
	spec := gen.Specs[0].(*ast.TypeSpec)
	body, ok := spec.Type.(*ast.StructType)
	if !ok {
		return
	}
	out[spec.Name.Name] = "This group" + strings.TrimPrefix(oneLine(gen.Doc), spec.Name.Name)
	for _, field := range body.Fields.List {
		for _, name := range field.Names {
			out[spec.Name.Name+"."+name.Name] = oneLine(field.Doc)
		}
	}
}

func oneLine(doc *ast.CommentGroup) string { return strings.Join(strings.Fields(doc.Text()), " ") }

func TestTagsAreSound(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for _, s := range readSchema() {
		assert.Regexp(t, `^[A-Z][A-Z0-9_]+$`, s.name)
		assert.False(t, seen[s.name], "%s stands twice", s.name)
		seen[s.name] = true
		if s.loads != "" {
			target, ok := readSchema().find(s.loads)
			assert.True(t, ok && target.content(), "%s loads %s", s.name, s.loads)
		}
		if s.typ.Kind() == reflect.Int || s.typ.Kind() == reflect.Int64 {
			assert.True(t, s.bounded, "%s has no range", s.name)
		}
		assert.NotEmpty(t, s.title, s.name)
	}
}

func FuzzParseFile(f *testing.F) {
	for _, seed := range []string{
		"port: 8787\n", "# only a comment\n", "{port: 1, listen: '::'}\n", "a:\n  - x\n  - y\n", "a: |\n  -----BEGIN\n  x\n",
		"---\na: 1\n---\nb: 2\n", "a: &x 1\nb: *x\n", "? a\n: b\n", "a: !!binary eA==\n", "port: 0x1F\nport: 2\n", "a: [1, [2]]\n", "\"a\": \"\\u0000\"\n",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		entries, problems := parseFile("fuzz.yaml", text)
		lines := strings.Count(text, "\n") + 1 + strings.Count(text, "\r")
		for _, e := range entries {
			if e.line < 1 || e.line > lines {
				t.Fatalf("%q stands in line %s of %d", e.key, strconv.Itoa(e.line), lines)
			}
		}
		for _, p := range problems {
			if p.Setting == "" || p.Text == "" {
				t.Fatalf("empty problem %+v", p)
			}
		}
	})
}
