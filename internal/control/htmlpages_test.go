package control_test

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"

	"sluice/internal/storage/sqlstore/storetest"
)

var inline = regexp.MustCompile(`(?s)<(script|style)[^>]*>(.*?)</`)

// A page runs its own script and no other, nobody frames it, and its address is its own affair.
func TestThePolicyOfPages(t *testing.T) {
	t.Parallel()
	for _, path := range []string{"/docs", "/console/invite"} {
		rec := httptest.NewRecorder()
		plainAdmin().Handler().ServeHTTP(rec, httptest.NewRequest(http.MethodGet, path, nil))
		if got := rec.Header().Get("Referrer-Policy"); got != "no-referrer" {
			t.Errorf("%s: others learn the address: %q", path, got)
		}
		policy := rec.Header().Get("Content-Security-Policy")
		if strings.Contains(policy, "unsafe") {
			t.Errorf("%s: anything may run: %s", path, policy)
		}
		for _, must := range []string{"default-src 'none'", "base-uri 'none'", "form-action 'none'", "frame-ancestors 'none'"} {
			if !strings.Contains(policy, must) {
				t.Errorf("%s: %s lacks %s", path, policy, must)
			}
		}
		elements := inline.FindAllStringSubmatch(rec.Body.String(), -1)
		if len(elements) != 2 {
			t.Fatalf("%s: %d scripts and styles", path, len(elements))
		}
		for _, e := range elements {
			sum := sha256.Sum256([]byte(e[2]))
			if must := e[1] + "-src 'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"; !strings.Contains(policy, must) {
				t.Errorf("%s: %s lacks %s", path, policy, must)
			}
		}
	}
}

// page is a document of which the script of the description knows, and the text that it
// came to: summaries and the bodies below them, one element a line.
const page = `
class Element {
  constructor(name) { this.name = name; this.inside = []; this.own = ""; }
  set textContent(text) { this.own = text; this.inside = []; }
  append(...more) { this.inside.push(...more); }
  get text() { return this.own + this.inside.map((e) => e instanceof Element ? e.text : e).join(""); }
  all(name) { return (this.name === name ? [this] : []).concat(this.inside.flatMap((e) => e instanceof Element ? e.all(name) : [])); }
}
const ids = { title: new Element("h1"), about: new Element("p"), list: new Element("main") };
const document = { createElement: (name) => new Element(name), getElementById: (id) => ids[id] };
const spec = require("node:fs").readFileSync(0, "utf8");
const fetch = async () => ({ json: async () => JSON.parse(spec) });
process.on("exit", () => require("node:fs").writeFileSync(1, JSON.stringify({
  about: ids.about.text, operations: ids.list.all("details").map((d) => ({
    summary: d.all("summary")[0].text, headings: d.all("h3").map((e) => e.text), bodies: d.all("pre").map((e) => e.text),
  })),
})));
`

// The page shows every operation with what it takes and answers, of whatever type, and
// what the description says of each field.
func TestThePageShowsTheDescription(t *testing.T) {
	t.Parallel()
	node, err := exec.LookPath("node")
	if err != nil {
		storetest.Missing(t, "Node is not installed")
	}
	get := func(path string) string {
		rec := httptest.NewRecorder()
		plainAdmin().Handler().ServeHTTP(rec, httptest.NewRequest(http.MethodGet, path, nil))
		return rec.Body.String()
	}
	var script string
	for _, e := range inline.FindAllStringSubmatch(get("/docs"), -1) {
		if e[1] == "script" {
			script = e[2]
		}
	}
	cmd := exec.Command(node, "-e", page+"{"+script+"}")
	cmd.Stdin = strings.NewReader(get("/v1/openapi.json"))
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v: %.300s", err, out)
	}
	type operation struct {
		Summary          string
		Headings, Bodies []string
	}
	var shown struct {
		About      string
		Operations []operation
	}
	if err := json.Unmarshal(out, &shown); err != nil {
		t.Fatalf("%v: %.300s", err, out)
	}
	if strings.Contains(shown.About, "cannot be shown") {
		t.Error(shown.About)
	}
	operations := make(map[string]operation)
	for _, o := range shown.Operations {
		operations[o.Summary] = o
	}
	for path, item := range newDescribed(t, plainAdmin()).doc.Paths.Map() {
		for method, op := range item.Operations() {
			o, ok := operations[method+path+" "+op.Summary]
			if !ok {
				t.Errorf("%s %s is not shown", method, path)
			}
			if op.Responses.Value("200") == nil { // a WebSocket
				continue
			}
			for kind := range op.Responses.Value("200").Value.Content {
				if want := strings.TrimSuffix("Answer, "+kind, ", application/json"); !slices.Contains(o.Headings, want) {
					t.Errorf("%s %s: %q is not among %q", method, path, want, o.Headings)
				}
			}
		}
	}
	for summary, want := range map[string]string{
		"POST/api-keys/{type}/{sub_type} Create an API key":                                                                 "\n  // Id of the user of a user key\n  user_id?: string (uuid)\n",
		"POST/otel/v1/traces Ingest spans of an application: an ExportTraceServiceRequest, optionally compressed with gzip": "object",
		"POST/prompts Create a prompt": "\n  tool_choice?: string | null | object | null\n",
	} {
		if o := operations[summary]; len(o.Bodies) == 0 || !strings.Contains(o.Bodies[0], want) {
			t.Errorf("%s: %q is not in %q", summary, want, o.Bodies)
		}
	}
}

// form is a document of which the script of the invitation knows. It sends the form twice,
// first with passwords that differ, and says what the page said of each and what it kept in
// the address bar.
const form = `
const [address, ...fields] = process.argv.slice(1);
const at = new URL(address), kept = [], told = [];
const about = {}, entry = {}, button = {};
const location = at, history = { replaceState: (_, __, path) => kept.push(path) };
const document = { getElementById: (id) => ({ about, form: entry, send: button })[id] };
class FormData { constructor(form) { return new Map(Object.entries(form.fields)); } }
const real = globalThis.fetch;
const fetch = (path, how) => real(new URL(path, at), how);
process.on("exit", () => require("node:fs").writeFileSync(1, JSON.stringify({ told, kept })));
setTimeout(async () => {
  for (const again of fields) {
    entry.fields = { first_name: "Ada", last_name: "Lovelace", password: fields[fields.length - 1], again };
    await entry.onsubmit({ preventDefault() {} });
    told.push(about.textContent);
  }
});
`

// Whoever opens the link of an invitation gets in by the page behind it, once, and the
// token does not stay in the address bar.
func TestTheLinkOfAnInvitationLeadsIn(t *testing.T) {
	t.Parallel()
	node, err := exec.LookPath("node")
	if err != nil {
		storetest.Missing(t, "Node is not installed")
	}
	w := newWorld(t, storetest.Open(t, storetest.SQLite(t)))
	server := httptest.NewServer(w.admin.Handler())
	defer server.Close()
	var invited struct {
		Link string `json:"invite_link"`
	}
	sent := w.raw(t, "admin", http.MethodPost, "/v1/admin/users/invites", `{"email":"ada@acme.example","role":"member"}`)
	if err := json.Unmarshal(sent.Body.Bytes(), &invited); err != nil {
		t.Fatal(err)
	}
	link, err := url.Parse(invited.Link)
	if err != nil {
		t.Fatal(err)
	}
	shown := w.raw(t, "nobody", http.MethodGet, link.RequestURI(), "")
	script := inline.FindAllStringSubmatch(shown.Body.String(), -1)[1][2]

	open := func(passwords ...string) (messages, paths []string) {
		args := append([]string{"-e", form + "{" + script + "}", server.URL + link.RequestURI() + "#" + link.Fragment}, passwords...)
		out, err := exec.Command(node, args...).Output()
		if err != nil {
			t.Fatalf("%v: %.300s", err, out)
		}
		var page struct{ Told, Kept []string }
		if err := json.Unmarshal(out, &page); err != nil {
			t.Fatalf("%v: %.300s", err, out)
		}
		return page.Told, page.Kept
	}
	const password = "correct horse battery"
	messages, paths := open("another horse battery", password)
	same(t, "address bar", paths, link.Path)
	if !strings.Contains(messages[0], "differ") || !strings.Contains(messages[1], "You are in") {
		t.Errorf("the page said %q", messages)
	}
	if rec := w.raw(t, "nobody", http.MethodPost, "/v1/auth/login", `{"email":"ada@acme.example","password":"`+password+`"}`); rec.Code != http.StatusOK {
		t.Errorf("the password does not hold: %s", rec.Body)
	}
	if messages, _ := open(password); !strings.Contains(messages[0], "was not accepted: the invitation is unknown, used or expired") {
		t.Errorf("the link holds twice: %q", messages)
	}
}
