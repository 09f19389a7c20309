package sluice

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// retiredWords may not be part of any identifier or file name, nor of a text that is logged
// or returned as an error. The value is the word to use instead.
var retiredWords = map[string]string{
	"afresh":    "again",
	"anew":      "again, re- or reset",
	"anybody":   "a caller",
	"asked":     "requested",
	"behind":    "after or next",
	"beside":    "next to or additional",
	"besides":   "additional",
	"carried":   "supported or included",
	"carries":   "supports",
	"christen":  "write id",
	"crowd":     "connection set",
	"cure":      "hint",
	"cured":     "withHint",
	"discreet":  "redacting",
	"door":      "limits or check",
	"fallen":    "failed",
	"fate":      "outcome",
	"founder":   "bootstrapper",
	"gently":    "throttled",
	"halves":    "surrogate pair",
	"heal":      "reopen",
	"hear":      "receive",
	"heard":     "received",
	"hearing":   "meter",
	"hole":      "gap",
	"hurry":     "expire",
	"inscribe":  "write id",
	"keeper":    "store or checkpointer",
	"kept":      "stored, cached or retained",
	"laid":      "merged",
	"lay":       "merge",
	"leap":      "skip",
	"lend":      "get",
	"lender":    "pool",
	"lent":      "pooled",
	"looked":    "polled or checked",
	"lose":      "drop",
	"mend":      "clear",
	"mended":    "cleared",
	"mine":      "isModelRoute or built-in",
	"nobody":    "no caller",
	"ours":      "local or built-in",
	"owe":       "charge",
	"owed":      "charge",
	"owing":     "deferred",
	"pace":      "throttle",
	"patiently": "with timeout or retry",
	"picture":   "image",
	"pieces":    "chunks",
	"places":    "paths, offsets or memberships",
	"quietly":   "low priority",
	"reckon":    "estimate",
	"reckoned":  "estimated",
	"restate":   "translate",
	"retell":    "translate",
	"ripe":      "ready",
	"room":      "scratch, buffer or capacity",
	"rooms":     "buffers or packages",
	"rouse":     "wake",
	"said":      "content, message or status",
	"say":       "state or report",
	"says":      "states or reports",
	"seat":      "add memberships",
	"shelf":     "store, set or cache",
	"soil":      "markDirty",
	"somebody":  "a caller",
	"speak":     "use",
	"speaks":    "uses",
	"spoken":    "speech or audio",
	"stake":     "reservation",
	"staked":    "reserved",
	"standing":  "cluster total or rights",
	"story":     "health log",
	"talk":      "stream translator",
	"tell":      "report or notify",
	"tells":     "reports",
	"thoughts":  "reasoning",
	"told":      "reported",
	"tongue":    "dialect",
	"tongues":   "dialects",
	"torn":      "corrupt",
	"trouble":   "outage",
	"twins":     "duplicates",
	"unheard":   "uncovered",
	"walled":    "blocked",
	"wanted":    "requested",
	"weigh":     "count",
	"welcome":   "create user",
	"whoever":   "the client",
	"wish":      "request",
	"wished":    "requested",
}

// retiredNames may not be a whole identifier; they may be part of one.
var retiredNames = map[string]string{
	"answer":  "response",
	"bank":    "limiter",
	"below":   "a noun",
	"book":    "store or list",
	"carry":   "support or include",
	"figures": "metrics",
	"given":   "the noun",
	"half":    "surrogate",
	"keep":    "store, cache or retain",
	"least":   "a bound with min",
	"look":    "poll or check",
	"most":    "a bound with max",
	"of":      "a verb with an object",
	"on":      "enabled, or a noun",
	"over":    "a verb with an object",
	"own":     "native, local or built-in",
	"piece":   "chunk",
	"place":   "path, offset or workspace",
	"reply":   "response",
	"sound":   "audio",
	"thought": "reasoning",
	"whole":   "complete",
	"within":  "a verb with an object",
}

// permittedNames are identifiers and file names that keep a retired word, with the reason.
var permittedNames = map[string]string{
	"Told":            "a key that a script in htmlpages_test.go writes",
	"Kept":            "a column of audit_checkpoints; a key that a script in htmlpages_test.go writes",
	"carry":           "the carry of an addition",
	"IncludeThoughts": "a field of Gemini's requests",
}

// retiredPhrases may not be in a text that is logged or returned as an error.
var retiredPhrases = []struct {
	pattern *regexp.Regexp
	say     string
}{
	{regexp.MustCompile(`\b(is|are) no [a-z]`), "is not a"},
	{regexp.MustCompile(`\b(is|are) none\b`), "is not"},
	{regexp.MustCompile(`\b(has|have) not (a|an|the) `), "does not have"},
	{regexp.MustCompile(`\banew\b`), "again"},
	{regexp.MustCompile(`\b(failed to|could not)\b`), "cannot"},
	{regexp.MustCompile(`\b(whoever|somebody|nobody|anybody)\b`), "name the role: caller, user, administrator"},
	{regexp.MustCompile(`\b(told|heard|hears|tells)\b`), "reported, received, returned"},
}

func TestVocabulary_IdentifiersUsePlainWords(t *testing.T) {
	t.Parallel()
	used := map[string]bool{}
	forEachFile(t, func(path string, f *ast.File, set *token.FileSet) {
		base := strings.TrimSuffix(filepath.Base(path), ".go")
		if say := retiredIn(strings.Split(base, "_")); say != "" && permittedNames[base] == "" {
			t.Errorf("%s: the file name has a retired word; use %s", path, say)
		}
		for _, id := range declared(f) {
			if permittedNames[id.Name] != "" {
				used[id.Name] = true
				continue
			}
			say := retiredIn(splitName(id.Name))
			if say == "" {
				say = retiredNames[id.Name]
			}
			if say != "" {
				t.Errorf("%s: %s has a retired word; use %s", set.Position(id.Pos()), id.Name, say)
			}
		}
	})
	for name := range permittedNames {
		if !used[name] {
			t.Errorf("permittedNames: %s is not declared any more; remove it", name)
		}
	}
}

func TestVocabulary_TextsUsePlainWords(t *testing.T) {
	t.Parallel()
	forEachFile(t, func(path string, f *ast.File, set *token.FileSet) {
		if strings.HasSuffix(path, "_test.go") {
			return
		}
		for _, text := range reportedTexts(f) {
			value, err := strconv.Unquote(text.Value)
			if err != nil {
				t.Fatal(err)
			}
			for _, p := range retiredPhrases {
				if p.pattern.MatchString(value) {
					t.Errorf("%s: %q; use %s", set.Position(text.Pos()), value, p.say)
				}
			}
		}
	})
}

func TestVocabulary_SplitsNames(t *testing.T) {
	t.Parallel()
	for name, want := range map[string][]string{
		"maxBytes":       {"max", "bytes"},
		"HTTPServer":     {"http", "server"},
		"toolsMost":      {"tools", "most"},
		"userID":         {"user", "id"},
		"stmtCacheConn2": {"stmt", "cache", "conn", "2"},
	} {
		if got := splitName(name); !slices.Equal(got, want) {
			t.Errorf("splitName(%q) = %v, want %v", name, got, want)
		}
	}
}

// forEachFile parses each Go file of the repository.
func forEachFile(t *testing.T, visit func(path string, f *ast.File, set *token.FileSet)) {
	t.Helper()
	set := token.NewFileSet()
	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (d.Name() == "node_modules" || d.Name() == "testdata" || d.Name() == "bin" || strings.HasPrefix(d.Name(), ".") && path != "."):
			return filepath.SkipDir
		case d.IsDir() && path != "." && path != testModule && isModule(path):
			return filepath.SkipDir
		case d.IsDir() || !strings.HasSuffix(path, ".go") || path == "vocabulary_test.go":
			return nil
		}
		f, err := parser.ParseFile(set, path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		if !ast.IsGenerated(f) {
			visit(path, f, set)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// isModule reports whether a folder is a module of its own.
func isModule(dir string) bool {
	_, err := os.Stat(filepath.Join(dir, "go.mod"))
	return err == nil
}

// splitName splits an identifier into lower-case words: "maxHTTPBytes" is max, http, bytes.
func splitName(name string) []string {
	var words []string
	start := 0
	runes := []rune(name)
	for i := 1; i <= len(runes); i++ {
		if i < len(runes) && !startsWord(runes, i) {
			continue
		}
		if w := strings.Trim(strings.ToLower(string(runes[start:i])), "_"); w != "" {
			words = append(words, w)
		}
		start = i
	}
	return words
}

func startsWord(r []rune, i int) bool {
	upper := func(c rune) bool { return c >= 'A' && c <= 'Z' }
	digit := func(c rune) bool { return c >= '0' && c <= '9' }
	switch {
	case r[i] == '_' || r[i-1] == '_':
		return true
	case digit(r[i]) != digit(r[i-1]):
		return true
	case upper(r[i]) && !upper(r[i-1]):
		return true
	}
	return upper(r[i]) && i+1 < len(r) && !upper(r[i+1]) && !digit(r[i+1]) && r[i+1] != '_'
}

func retiredIn(words []string) string {
	for _, w := range words {
		if say := retiredWords[w]; say != "" {
			return say
		}
	}
	return ""
}

// declared returns the identifiers that a file declares.
func declared(f *ast.File) []*ast.Ident {
	var ids []*ast.Ident
	ast.Inspect(f, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncDecl:
			if !isTestName(n.Name.Name) {
				ids = append(ids, n.Name)
			}
		case *ast.TypeSpec:
			ids = append(ids, n.Name)
		case *ast.ValueSpec:
			ids = append(ids, n.Names...)
		case *ast.Field:
			ids = append(ids, n.Names...)
		case *ast.LabeledStmt:
			ids = append(ids, n.Label)
		case *ast.AssignStmt:
			if n.Tok == token.DEFINE {
				ids = append(ids, identsOf(n.Lhs)...)
			}
		case *ast.RangeStmt:
			if n.Tok == token.DEFINE {
				ids = append(ids, identsOf([]ast.Expr{n.Key, n.Value})...)
			}
		}
		return true
	})
	return ids
}

func identsOf(exprs []ast.Expr) (ids []*ast.Ident) {
	for _, e := range exprs {
		if id, ok := e.(*ast.Ident); ok {
			ids = append(ids, id)
		}
	}
	return ids
}

// reporters are the functions and methods whose texts users and operators read.
var reporters = []string{"Errorf", "New", "Newf", "Wrap", "Wrapf", "Info", "Warn", "Error", "Debug", "Log", "LogAttrs",
	"InfoContext", "WarnContext", "ErrorContext", "DebugContext"}

// reportedTexts returns the string literals that are arguments of a reporter.
func reportedTexts(f *ast.File) (texts []*ast.BasicLit) {
	ast.Inspect(f, func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if !ok {
			return true
		}
		fun, ok := call.Fun.(*ast.SelectorExpr)
		if !ok || !slices.Contains(reporters, fun.Sel.Name) {
			return true
		}
		for _, arg := range call.Args {
			if lit, ok := arg.(*ast.BasicLit); ok && lit.Kind == token.STRING {
				texts = append(texts, lit)
			}
		}
		return true
	})
	return texts
}

// isTestName reports whether a function is a test, a benchmark or a fuzz target. Their names
// are sentences; reviewers check them.
func isTestName(name string) bool {
	return strings.HasPrefix(name, "Test") || strings.HasPrefix(name, "Benchmark") || strings.HasPrefix(name, "Fuzz")
}
