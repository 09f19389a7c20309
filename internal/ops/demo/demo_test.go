package demo_test

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"mime/multipart"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"sluice/internal/kernel/sealed"
	"sluice/internal/ops/demo"
)

// fixed is a clock that stands at 2026-11-20 11:00 UTC.
type fixed struct{}

const fixedUnix = 1795172400

func (fixed) Now() time.Time { return time.Unix(fixedUnix, 0) }

// provider is a running upstream as its callers see it.
type provider struct {
	t   *testing.T
	url string
}

func start(t *testing.T, o demo.Options) provider {
	t.Helper()
	o.Clock = fixed{}
	srv := httptest.NewServer(demo.New(o))
	t.Cleanup(srv.Close)
	return provider{t, srv.URL}
}

// call sends a request and returns the answer with its whole body.
func (p provider) call(method, path, contentType string, body io.Reader) (*http.Response, string) {
	p.t.Helper()
	req, err := http.NewRequest(method, p.url+path, body)
	if err != nil {
		p.t.Fatal(err)
	}
	req.Header.Set("Content-Type", contentType)
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		p.t.Fatal(err)
	}
	defer func() { _ = res.Body.Close() }()
	b, err := io.ReadAll(res.Body)
	if err != nil {
		p.t.Fatal(err)
	}
	return res, string(b)
}

// post sends JSON and decodes a 200 into out.
func (p provider) post(path, body string, out any) {
	p.t.Helper()
	p.into(http.MethodPost, path, "application/json", strings.NewReader(body), out)
}

func (p provider) get(path string, out any) {
	p.t.Helper()
	p.into(http.MethodGet, path, "", nil, out)
}

func (p provider) into(method, path, contentType string, body io.Reader, out any) {
	p.t.Helper()
	res, got := p.call(method, path, contentType, body)
	if res.StatusCode != 200 || res.Header.Get("Content-Type") != "application/json" {
		p.t.Fatalf("%s %s: %s %s", method, path, res.Status, got)
	}
	if err := json.Unmarshal([]byte(got), out); err != nil {
		p.t.Fatalf("%s %s: %v in %s", method, path, err, got)
	}
}

// events sends JSON and returns the data of each event of the answer.
func (p provider) events(path, body string) []string {
	p.t.Helper()
	res, got := p.call(http.MethodPost, path, "application/json", strings.NewReader(body))
	return split(p.t, res, got)
}

func split(t *testing.T, res *http.Response, got string) []string {
	t.Helper()
	if res.StatusCode != 200 || res.Header.Get("Content-Type") != "text/event-stream" || !strings.HasSuffix(got, "\n\n") {
		t.Fatalf("no stream: %s %s", res.Status, got)
	}
	var out []string
	for _, e := range strings.Split(strings.TrimSuffix(got, "\n\n"), "\n\n") {
		_, data, ok := strings.Cut(e, "data: ")
		if !ok || strings.Contains(data, "\n") {
			t.Fatalf("event %q", e)
		}
		out = append(out, data)
	}
	return out
}

// form sends fields and a file; an empty file name sends none.
func (p provider) form(path, field, name string, file []byte, fields ...string) (*http.Response, string) {
	p.t.Helper()
	var b bytes.Buffer
	w := multipart.NewWriter(&b)
	for i := 0; i < len(fields); i += 2 {
		_ = w.WriteField(fields[i], fields[i+1])
	}
	if name != "" {
		f, err := w.CreateFormFile(field, name)
		if err != nil {
			p.t.Fatal(err)
		}
		_, _ = f.Write(file)
	}
	_ = w.Close()
	return p.call(http.MethodPost, path, w.FormDataContentType(), &b)
}

// Refusals have OpenAI's status and body, and name the field.
func TestRefusals(t *testing.T) {
	t.Parallel()
	p := start(t, demo.Options{})
	long := `"` + strings.Repeat("x", 5<<20) + `"`
	for _, c := range []struct {
		name, method, path, body string
		status                   int
		param                    string
	}{
		{"unknown path", "GET", "/v1/nothing", "", 404, ""},
		{"wrong method", "GET", "/v1/chat/completions", "", 404, ""},
		{"not JSON", "POST", "/v1/chat/completions", "{", 400, ""},
		{"wrong type", "POST", "/v1/chat/completions", `{"model":1}`, 400, ""},
		{"too large", "POST", "/v1/chat/completions", long, 413, ""},
		{"chat without model", "POST", "/v1/chat/completions", `{"messages":[{"role":"user","content":"x"}]}`, 400, "model"},
		{"chat without messages", "POST", "/v1/chat/completions", `{"model":"m"}`, 400, "messages"},
		{"too many choices", "POST", "/v1/chat/completions", `{"model":"m","n":129,"messages":[{"role":"user","content":"x"}]}`, 400, "n"},
		{"completion without model", "POST", "/v1/completions", `{"prompt":"x"}`, 400, "model"},
		{"too many completions", "POST", "/v1/completions", `{"model":"m","prompt":["a","b"],"n":65}`, 400, "n"},
		{"prompt of a wrong type", "POST", "/v1/completions", `{"model":"m","prompt":{}}`, 400, ""},
		{"embedding without model", "POST", "/v1/embeddings", `{"input":"x"}`, 400, "model"},
		{"embedding without input", "POST", "/v1/embeddings", `{"model":"m"}`, 400, "input"},
		{"dimensions", "POST", "/v1/embeddings", `{"model":"m","input":"x","dimensions":5000}`, 400, "dimensions"},
		{"encoding", "POST", "/v1/embeddings", `{"model":"m","input":"x","encoding_format":"hex"}`, 400, "encoding_format"},
		{"transcription as JSON", "POST", "/v1/audio/transcriptions", `{"model":"m"}`, 400, ""},
		{"translation as JSON", "POST", "/v1/audio/translations", `{"model":"m"}`, 400, ""},
		{"edit as JSON", "POST", "/v1/images/edits", `{"prompt":"m"}`, 400, ""},
		{"file as JSON", "POST", "/v1/files", `{"purpose":"m"}`, 400, ""},
		{"speech without model", "POST", "/v1/audio/speech", `{"input":"x","voice":"alloy"}`, 400, "model"},
		{"speech without input", "POST", "/v1/audio/speech", `{"model":"m","voice":"alloy"}`, 400, "input"},
		{"speech without voice", "POST", "/v1/audio/speech", `{"model":"m","input":"x"}`, 400, "voice"},
		{"image without prompt", "POST", "/v1/images/generations", `{"model":"m"}`, 400, "prompt"},
		{"too many images", "POST", "/v1/images/generations", `{"prompt":"x","n":11}`, 400, "n"},
		{"too many partial images", "POST", "/v1/images/generations", `{"prompt":"x","stream":true,"partial_images":4}`, 400, "partial_images"},
		{"image that does not stream", "POST", "/v1/images/generations", `{"model":"dall-e-3","prompt":"x","stream":true}`, 400, "stream"},
		{"image format", "POST", "/v1/images/generations", `{"prompt":"x","response_format":"gif"}`, 400, "response_format"},
		{"no such picture", "GET", "/v1/demo/pictures/xyz.png", "", 404, "id"},
		{"moderation of nothing", "POST", "/v1/moderations", `{}`, 400, "input"},
		{"rerank without model", "POST", "/v1/rerank", `{"query":"x","documents":["a"]}`, 400, "model"},
		{"rerank without query", "POST", "/v1/rerank", `{"model":"m","documents":["a"]}`, 400, "query"},
		{"rerank without documents", "POST", "/v1/rerank", `{"model":"m","query":"x"}`, 400, "documents"},
		{"response without model", "POST", "/v1/responses", `{"input":"x"}`, 400, "model"},
		{"response without input", "POST", "/v1/responses", `{"model":"m"}`, 400, "input"},
		{"response to a bad item", "POST", "/v1/responses", `{"model":"m","input":[1]}`, 400, "input[0]"},
		{"response after none", "POST", "/v1/responses", `{"model":"m","input":"x","previous_response_id":"resp_0"}`, 400, "previous_response_id"},
		{"no such response", "GET", "/v1/responses/resp_0", "", 404, "id"},
		{"no such items", "GET", "/v1/responses/resp_0/input_items", "", 404, "id"},
		{"drop no response", "DELETE", "/v1/responses/resp_0", "", 404, "id"},
		{"no such file", "GET", "/v1/files/file-0", "", 404, "id"},
		{"no such content", "GET", "/v1/files/file-0/content", "", 404, "id"},
		{"drop no file", "DELETE", "/v1/files/file-0", "", 404, "id"},
		{"limit of a list", "GET", "/v1/files?limit=0", "", 400, "limit"},
		{"batch without file", "POST", "/v1/batches", `{"endpoint":"/v1/embeddings","completion_window":"24h"}`, 400, "input_file_id"},
		{"no such batch", "GET", "/v1/batches/batch_0", "", 404, "id"},
		{"cancel no batch", "POST", "/v1/batches/batch_0/cancel", "", 404, "id"},
		{"job without model", "POST", "/v1/fine_tuning/jobs", `{}`, 400, "model"},
		{"job without file", "POST", "/v1/fine_tuning/jobs", `{"model":"m"}`, 400, "training_file"},
		{"no such job", "GET", "/v1/fine_tuning/jobs/ftjob-0", "", 404, "id"},
		{"cancel no job", "POST", "/v1/fine_tuning/jobs/ftjob-0/cancel", "", 404, "id"},
		{"no such model", "GET", "/v1/models/other", "", 404, "model"},
		{"realtime without model", "GET", "/v1/realtime", "", 400, "model"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			res, got := provider{t, p.url}.call(c.method, c.path, "application/json", strings.NewReader(c.body))
			wantRefusal(t, res, got, c.status, c.param)
		})
	}
}

func wantRefusal(t *testing.T, res *http.Response, got string, status int, param string) {
	t.Helper()
	var e struct {
		Error struct {
			Message string
			Type    string
			Param   *string
			Code    *string
		}
	}
	if err := json.Unmarshal([]byte(got), &e); err != nil || res.StatusCode != status || e.Error.Message == "" || e.Error.Type != "invalid_request_error" {
		t.Fatalf("%s, want %d: %s (%v)", res.Status, status, got, err)
	}
	if has := e.Error.Param; has == nil && param != "" || has != nil && *has != param {
		t.Errorf("param, want %q: %s", param, got)
	}
}

// With a key, only its holder is answered.
func TestKey(t *testing.T) {
	t.Parallel()
	h := demo.New(demo.Options{Key: sealed.New("sk-demo")})
	for header, want := range map[string]int{"": 401, "Bearer other": 401, "sk-demo": 401, "Bearer sk-demo": 200} {
		r := httptest.NewRequest(http.MethodGet, "/v1/models", nil)
		r.Header.Set("Authorization", header)
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		if w.Code != want || want == 401 && !strings.Contains(w.Body.String(), `"code":"invalid_api_key"`) {
			t.Errorf("%q: %d %s", header, w.Code, w.Body)
		}
	}
}

func TestModels(t *testing.T) {
	t.Parallel()
	p := start(t, demo.Options{})
	var list struct {
		Object string
		Data   []struct {
			ID, Object string
			Created    int64
			Owner      string `json:"owned_by"`
		}
	}
	p.get("/v1/models", &list)
	if list.Object != "list" || len(list.Data) != 9 || list.Data[0].ID != demo.AnyModel || list.Data[0].Object != "model" || list.Data[0].Created == 0 || list.Data[0].Owner == "" {
		t.Errorf("%+v", list)
	}
	for _, id := range []string{demo.RerankModel, "demo"} { // the last is the one of the first call
		var one struct{ ID string }
		p.get("/v1/models/"+id, &one)
		if one.ID != id {
			t.Errorf("%+v", one)
		}
	}
}

// A stream pauses before each event, and ends when its caller leaves.
func TestGap(t *testing.T) {
	t.Parallel()
	p := start(t, demo.Options{Gap: 2 * time.Millisecond})
	begun := time.Now()
	n := len(p.events("/v1/chat/completions", `{"model":"m","stream":true,"messages":[{"role":"user","content":"hello"}]}`))
	if took := time.Since(begun); took < time.Duration(2*n)*time.Millisecond {
		t.Errorf("%d events in %s", n, took)
	}
	ctx, cancel := context.WithCancel(context.Background())
	r := httptest.NewRequest(http.MethodPost, "/v1/chat/completions", strings.NewReader(`{"model":"m","stream":true,"messages":[{"role":"user","content":"hello"}]}`)).WithContext(ctx)
	cancel()
	w := httptest.NewRecorder()
	demo.New(demo.Options{Gap: time.Hour}).ServeHTTP(w, r)
	if w.Body.Len() != 0 {
		t.Errorf("events for nobody: %s", w.Body)
	}
}
