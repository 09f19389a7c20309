package control_test

import (
	"os"
	"slices"
	"strings"
	"testing"
)

// rightsOf is a line of the table of who may do what (testdata/access.txt).
type rightsOf struct {
	method, path string // "/configs/<config>"
	inWorkspace  bool   // of a workspace, not of the organisation
	named        bool   // the workspace is named, although the path names a record
	keyed        bool   // not for sessions, whoever's they are
	unlocked     bool   // from a key that is locked to a workspace it is about something else
	keys, people []string
	scopes       []string // any of them is enough; "a+b" is both
	body         string
	makes        string // what the id of the answer is called
	mode         string // "public", "anyone", "self" or "none" instead of keys and people
}

func (l *rightsOf) String() string { return l.method + " " + l.path }

// names reports whether a path names a record, rather than a place alone.
func (l *rightsOf) namesRecord() bool {
	return strings.Contains(strings.ReplaceAll(l.path, "<org>", ""), "<")
}

// namesOrganisation reports whether a call says which organisation it is about.
func (l *rightsOf) namesOrganisation() bool {
	return l.namesRecord() || strings.Contains(l.path+l.body, "<org>")
}

// eachScope are the scopes of a line one by one, also those that let a key in together.
func (l *rightsOf) eachScope() []string { return strings.Split(strings.Join(l.scopes, "+"), "+") }

// gives is the scope that the body of a line gives to a new key; who gives it holds it.
func (l *rightsOf) gives() string {
	_, rest, _ := strings.Cut(l.body, `"scopes":["`)
	scope, _, _ := strings.Cut(rest, `"`)
	return scope
}

// readAccess reads the table.
func readAccess(t *testing.T) (lines []*rightsOf) {
	t.Helper()
	raw, err := os.ReadFile("testdata/access.txt")
	if err != nil {
		t.Fatal(err)
	}
	for text := range strings.Lines(string(raw)) {
		text = strings.TrimSpace(text)
		if text == "" || strings.HasPrefix(text, "#") {
			continue
		}
		cells := strings.Split(text, " | ")
		route := strings.Fields(cells[0])
		if len(cells) < 3 || len(route) != 2 {
			t.Fatalf("%q is not: route | where | keys | people | scopes | body", text)
		}
		l := &rightsOf{method: route[0], path: route[1], inWorkspace: strings.HasPrefix(cells[1], "ws"), named: strings.HasPrefix(cells[1], "ws named"), keyed: strings.HasSuffix(cells[1], " keys"), unlocked: cells[1] == "org unlocked"}
		if l.mode = cells[2]; len(cells) == 4 {
			l.body = cells[3]
		}
		if len(cells) > 4 {
			l.mode, l.keys, l.people, l.scopes = "", strings.Fields(cells[2]), strings.Fields(cells[3]), strings.Fields(cells[4])
		}
		if len(cells) > 5 {
			l.body, l.makes, _ = strings.Cut(cells[5], " => ")
		}
		lines = append(lines, l)
	}
	return withAliases(lines)
}

// aliases are paths under which the same is served.
var aliases = map[string]string{"/admin/workspaces": "/workspaces", "/virtual-keys": "/virtual_keys"}

func withAliases(lines []*rightsOf) []*rightsOf {
	for _, l := range slices.Clone(lines) {
		for path, also := range aliases {
			if rest, ok := strings.CutPrefix(l.path, path); ok {
				again := *l
				again.path, again.makes = also+rest, ""
				lines = append(lines, &again)
			}
		}
	}
	return lines
}

// TestAccessTableIsComplete: every mounted operation has a line.
func TestAccessTableIsComplete(t *testing.T) {
	t.Parallel()
	lines := readAccess(t)
	for _, route := range plainAdmin().Routes() {
		method, path, _ := strings.Cut(route, " ")
		held := slices.ContainsFunc(lines, func(l *rightsOf) bool { return l.method == method && fits(path, l.path) })
		if !held {
			t.Errorf("%s stands in no line of testdata/access.txt: say who may do it, from the contract", route)
		}
	}
}

// fits reports whether a path of the table is one of a route: "/configs/<config>" of
// "/configs/{slug}".
func fits(route, path string) bool {
	path, _, _ = strings.Cut(path, "?")
	want, got := strings.Split(route, "/"), strings.Split(path, "/")
	for i := range want {
		if i >= len(got) || want[i] != got[i] && !strings.HasPrefix(want[i], "{") {
			return false
		}
	}
	return len(want) == len(got)
}
