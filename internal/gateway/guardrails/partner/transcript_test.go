package partner_test

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"io"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"sluice/internal/domain/guardrail"
	"sluice/internal/gateway/guardrails/check"
	"sluice/internal/gateway/guardrails/partner"
	"sluice/internal/kernel/fault"
	"sluice/internal/kernel/llm"
)

var update = flag.Bool("update", false, "write the requests of the transcripts and PARTNERS.md")

// transcript is a file testdata/<id>/<case>.json: what a check reads, the call that it makes, and its
// result.
type transcript struct {
	Parameters json.RawMessage   `json:"parameters"`
	Phase      guardrail.Phase   `json:"phase"`
	Texts      []string          `json:"texts"`
	Endpoint   llm.Endpoint      `json:"endpoint,omitempty"`
	Request    json.RawMessage   `json:"request,omitempty"`  // of the client
	Response   json.RawMessage   `json:"response,omitempty"` // of the model
	Metadata   map[string]string `json:"metadata,omitempty"`
	Call       exchange          `json:"call"`
	Result     expected          `json:"result"`
}

// exchange is a call of a partner.
type exchange struct {
	Method  string                `json:"method"`
	URL     string                `json:"url"`
	Header  map[string]string     `json:"header"`
	Body    json.RawMessage       `json:"body"`
	AWS     *check.AWSCredentials `json:"aws,omitempty"`
	Status  int                   `json:"status"`
	Returns json.RawMessage       `json:"returns"` // the response; a string is sent as it is
}

// expected is the result of a check.
type expected struct {
	Verdict bool            `json:"verdict"`
	Error   string          `json:"error,omitempty"` // name of the error
	Decides bool            `json:"decides,omitempty"`
	Texts   []string        `json:"texts,omitempty"` // after the edits
	Body    json.RawMessage `json:"body,omitempty"`  // that replaces the client's
}

func TestTranscriptsOfEachPartner(t *testing.T) {
	for _, c := range partner.List() {
		if c.Unavailable != "" {
			continue
		}
		files, err := filepath.Glob(filepath.Join("testdata", c.ID, "*.json"))
		if err != nil {
			t.Fatal(err)
		}
		for _, path := range files {
			t.Run(c.ID+"/"+strings.TrimSuffix(filepath.Base(path), ".json"), func(t *testing.T) { replay(t, c, path) })
		}
		kinds := kindsOf(files)
		required := []string{"pass", "error"}
		if !c.Transformer {
			required = append(required, "fail")
		}
		if partner.Redacts(c.ID) {
			required = append(required, "redact")
		}
		for _, kind := range required {
			if !kinds[kind] {
				t.Errorf("%s has no transcript %s.json", c.ID, kind)
			}
		}
	}
}

func kindsOf(files []string) map[string]bool {
	kinds := map[string]bool{}
	for _, f := range files {
		kind, _, _ := strings.Cut(strings.TrimSuffix(filepath.Base(f), ".json"), "-")
		kinds[kind] = true
	}
	return kinds
}

// replay runs a check against a server that returns what the transcript contains.
func replay(t *testing.T, c check.Check, path string) {
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var tr transcript
	d := json.NewDecoder(bytes.NewReader(raw))
	d.DisallowUnknownFields()
	if err := d.Decode(&tr); err != nil {
		t.Fatal(err)
	}
	var got exchange
	calls := 0
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		calls++
		aws := got.AWS
		got = received(t, r)
		got.AWS = aws
		respond(w, &tr.Call)
	})
	s.aws = func(a *check.AWSCredentials) { got.AWS = a }
	runner := open(t, c, string(tr.Parameters), &check.Deps{Services: s})
	res := runner.Run(context.Background(), input(&tr))
	if calls != 1 {
		t.Fatalf("%d calls, want 1; result %+v", calls, res)
	}
	got.Status, got.Returns = tr.Call.Status, tr.Call.Returns
	if *update {
		tr.Call = got
		write(t, path, &tr)
		return
	}
	compareExchange(t, &got, &tr.Call)
	compareResult(t, &tr, &res)
}

// open reads parameters as a guardrail does, and compiles them.
func open(t testing.TB, c check.Check, parameters string, d *check.Deps) check.Runner {
	t.Helper()
	table := guardrail.NewTable([]guardrail.Definition{c.Definition})
	if _, err := table.Read([]byte(`[{"id":"` + c.ID + `","parameters":` + parameters + `}]`)); err != nil {
		t.Fatalf("%s: %v (%s)", c.ID, err, fault.From(err).Param)
	}
	p, err := check.ReadParams([]byte(parameters))
	if err != nil {
		t.Fatal(err)
	}
	r, err := c.New(p, d)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func input(tr *transcript) *check.Input {
	in := &check.Input{
		Phase: tr.Phase, Texts: tr.Texts, Endpoint: tr.Endpoint, Request: tr.Request, Body: tr.Request,
		Provider: "openai", Model: "gpt-4o-mini", Metadata: tr.Metadata, TraceID: "trace-1",
	}
	if in.Endpoint == "" {
		in.Endpoint = llm.ChatComplete
	}
	if tr.Phase == guardrail.Output {
		in.Body, in.Status = tr.Response, 200
	}
	return in
}

// received returns a request as transcripts have it.
func received(t *testing.T, r *http.Request) exchange {
	t.Helper()
	body, err := io.ReadAll(r.Body)
	if err != nil {
		t.Error(err)
	}
	e := exchange{Method: r.Method, URL: r.Header.Get("X-Test-Scheme") + "://" + r.Host + r.URL.RequestURI(), Header: map[string]string{}}
	if len(body) > 0 {
		e.Body = body
	}
	for _, name := range slices.Sorted(maps.Keys(r.Header)) {
		if name = strings.ToLower(name); !slices.Contains([]string{"user-agent", "accept-encoding", "content-length", "x-test-scheme"}, name) {
			e.Header[name] = r.Header.Get(name)
		}
	}
	return e
}

func respond(w http.ResponseWriter, e *exchange) {
	w.WriteHeader(e.Status)
	var text string
	if json.Unmarshal(e.Returns, &text) == nil {
		_, _ = io.WriteString(w, text)
		return
	}
	_, _ = w.Write(e.Returns)
}

func compareExchange(t *testing.T, got, want *exchange) {
	t.Helper()
	if got.Method != want.Method || got.URL != want.URL {
		t.Errorf("call of %s %s, want %s %s", got.Method, got.URL, want.Method, want.URL)
	}
	if !maps.Equal(got.Header, want.Header) {
		t.Errorf("header %v, want %v", got.Header, want.Header)
	}
	if g, w := canonical(t, got.Body), canonical(t, want.Body); g != w {
		t.Errorf("body\n%s, want\n%s", g, w)
	}
	switch {
	case (got.AWS == nil) != (want.AWS == nil):
		t.Errorf("AWS credentials %v, want %v", got.AWS, want.AWS)
	case got.AWS != nil && *got.AWS != *want.AWS:
		t.Errorf("AWS credentials %v, want %v", *got.AWS, *want.AWS)
	}
}

func compareResult(t *testing.T, tr *transcript, res *check.Result) {
	t.Helper()
	name := ""
	if res.Error != nil {
		name = res.Error.Name
	}
	if res.Verdict != tr.Result.Verdict || name != tr.Result.Error || res.ErrorDecides != tr.Result.Decides {
		t.Errorf("verdict %v, error %v, decides %v; want %+v", res.Verdict, res.Error, res.ErrorDecides, tr.Result)
	}
	after, want := apply(tr.Texts, res.Edits), tr.Result.Texts
	if want == nil {
		want = tr.Texts
	}
	if !slices.Equal(after, want) {
		t.Errorf("texts %q, want %q", after, want)
	}
	if g, w := canonical(t, res.Body), canonical(t, tr.Result.Body); g != w {
		t.Errorf("body %s, want %s", g, w)
	}
	if raw, _ := json.Marshal(res.Data); want[0] != tr.Texts[0] && strings.Contains(string(raw), "jane@") {
		t.Errorf("the data quote what was replaced: %s", raw)
	}
	for _, shown := range []any{res.Data, res.Log, res.Error} {
		raw, err := json.Marshal(shown)
		if err != nil {
			t.Errorf("result does not encode: %v", err)
		}
		if strings.Contains(string(raw), "test-key") {
			t.Errorf("the result contains a credential: %s", raw)
		}
	}
}

// canonical returns JSON with sorted members.
func canonical(t *testing.T, raw []byte) string {
	t.Helper()
	if len(raw) == 0 {
		return ""
	}
	var v any
	if err := json.Unmarshal(raw, &v); err != nil {
		return string(raw)
	}
	out, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(out)
}

// apply returns the texts after the edits of a result.
func apply(texts []string, edits []check.Edit) []string {
	out := slices.Clone(texts)
	for _, e := range slices.Backward(edits) {
		out[e.Text] = out[e.Text][:e.Start] + e.With + out[e.Text][e.End:]
	}
	return out
}

func write(t *testing.T, path string, v any) {
	t.Helper()
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	if err := e.Encode(v); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, b.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
}
