package gateway_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"mime/multipart"
	"net/http"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"sluice/internal/domain/guardrail"
	"sluice/internal/domain/tenant"
	"sluice/internal/gateway"
	"sluice/internal/kernel/access"
	"sluice/internal/kernel/jsonedit"
	"sluice/internal/kernel/sealed"
	"sluice/internal/storage/sqlstore"
	"sluice/internal/test/listen"
	"sluice/internal/test/upstream"
)

const managed = "x-gateway-provider: gateway"

// newBatchRig is a rig that manages batches, in a real database.
func newBatchRig(t *testing.T) *rig {
	t.Helper()
	r := newRig(t)
	r.manageBatches()
	return r
}

// manageBatches starts the gateway of the rig again, with batches.
func (r *rig) manageBatches() {
	t := r.t
	t.Helper()
	db, err := sqlstore.Open(context.Background(), sqlstore.Settings{Engine: "sqlite", Path: filepath.Join(t.TempDir(), "batches.db")}, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	if err := db.Migrate(context.Background()); err != nil {
		t.Fatal(err)
	}
	box, err := sealed.NewBox([]byte("sealing key of the tests"))
	if err != nil {
		t.Fatal(err)
	}
	r.parts.Batches = &gateway.ManagedBatches{Store: db, Leases: db, Box: box, Retention: 24 * time.Hour}
	r.gateway = gateway.New(r.parts, r.set)
	r.server = listen.Start(t, r.gateway)
	ctx, stop := context.WithCancel(context.Background()) // it outlives the context of the test
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = r.gateway.RunBatches(ctx)
	}()
	t.Cleanup(func() { stop(); <-done })
}

// uploadLines uploads an input file as OpenAI's clients do, and returns the response.
func (r *rig) uploadLines(content string, headers ...string) callResult {
	r.t.Helper()
	var form bytes.Buffer
	w := multipart.NewWriter(&form)
	_ = w.WriteField("purpose", "batch")
	part, _ := w.CreateFormFile("file", "requests.jsonl")
	_, _ = io.WriteString(part, content)
	_ = w.Close()
	req, err := http.NewRequest("POST", r.server.URL+"/v1/files", &form)
	if err != nil {
		r.t.Fatal(err)
	}
	for _, h := range append([]string{"authorization: Bearer " + key, "content-type: " + w.FormDataContentType()}, headers...) {
		name, value, _ := strings.Cut(h, ": ")
		req.Header.Set(name, value)
	}
	return r.do(req)
}

// runBatch uploads lines, runs them as a batch, and returns it when it has ended.
func (r *rig) runBatch(window, content string, options map[string]any, headers ...string) batchObject {
	r.t.Helper()
	file := r.uploadLines(content, managed)
	if file.StatusCode != 200 {
		r.t.Fatalf("upload: %d %s", file.StatusCode, file.Text)
	}
	body, err := json.Marshal(map[string]any{
		"input_file_id": jsonedit.Text([]byte(file.Text), "id"), "endpoint": "/v1/chat/completions", "completion_window": window, "gateway_options": options,
	})
	if err != nil {
		r.t.Fatal(err)
	}
	created := r.call("POST", "/v1/batches", string(body), managed)
	if created.StatusCode != 200 {
		r.t.Fatalf("create: %d %s", created.StatusCode, created.Text)
	}
	return r.awaitBatch(jsonedit.Text([]byte(created.Text), "id"), headers...)
}

type batchObject struct {
	ID     string `json:"id"`
	Status string `json:"status"`
	Output string `json:"output_file_id"`
	Error  string `json:"error_file_id"`
	Errors struct {
		Data []struct{ Code, Message string }
	} `json:"errors"`
	Counts struct{ Total, Completed, Failed int } `json:"request_counts"`
	PostAt int64                                  `json:"processing_post_request_guardrails_at"`
}

func (r *rig) awaitBatch(id string, headers ...string) (b batchObject) {
	r.t.Helper()
	for limit := time.Now().Add(time.Minute); time.Now().Before(limit); time.Sleep(20 * time.Millisecond) {
		a := r.call("GET", "/v1/batches/"+id, "", append(headers, managed)...)
		b = batchObject{}
		if err := json.Unmarshal([]byte(a.Text), &b); a.StatusCode != 200 || err != nil {
			r.t.Fatalf("%d %s", a.StatusCode, a.Text)
		}
		switch b.Status {
		case "completed", "failed", "expired", "cancelled":
			return b
		}
	}
	r.t.Fatalf("the batch did not end: %+v", b)
	return b
}

// batchRow is a line of a result file.
type batchRow struct {
	CustomID string `json:"custom_id"`
	Response struct {
		Status int             `json:"status_code"`
		ID     string          `json:"request_id"`
		Body   json.RawMessage `json:"body"`
	} `json:"response"`
	Error *struct{ Code, Message string } `json:"error"`
}

func (r *rig) batchRows(fileID string) map[string]batchRow {
	r.t.Helper()
	rows := map[string]batchRow{}
	if fileID == "" {
		return rows
	}
	a := r.call("GET", "/v1/files/"+fileID+"/content", "", managed)
	if a.StatusCode != 200 || a.Err != nil {
		r.t.Fatalf("%d %s, %v", a.StatusCode, a.Text, a.Err)
	}
	for line := range strings.Lines(a.Text) {
		var row batchRow
		if err := json.Unmarshal([]byte(line), &row); err != nil {
			r.t.Fatal(err)
		}
		rows[row.CustomID] = row
	}
	return rows
}

// batchLine is a line of an input file.
func batchLine(id, text string) string {
	return fmt.Sprintf(`{"custom_id":%q,"method":"POST","url":"/v1/chat/completions","body":{"model":"gpt-4o-mini","messages":[{"role":"user","content":%q}]}}`+"\n", id, text)
}

// options are gateway_options that send calls to the rig's upstream.
func (r *rig) options(more map[string]any) map[string]any {
	o := map[string]any{"provider": "openai", "authorization": "Bearer sk-upstream", "custom_host": r.up.URL() + "/v1"}
	for name, value := range more {
		o[name] = value
	}
	return o
}

func TestManagedBatch_SendsItsLinesAsCallsOfItsCreator(t *testing.T) {
	t.Parallel()
	r := newBatchRig(t)
	b := r.runBatch("immediate", batchLine("a", "one")+batchLine("b", "two"), r.options(map[string]any{"metadata": map[string]string{"team": "search"}, "trace_id": "my-trace"}))
	if b.Status != "completed" || b.Counts.Completed != 2 {
		t.Fatalf("%+v", b)
	}
	rows := r.batchRows(b.Output)
	if a := rows["a"]; a.Response.Status != 200 || a.Response.ID == "" || !strings.Contains(string(a.Response.Body), `"chat.completion"`) || a.Error != nil {
		t.Errorf("%+v", a)
	}
	for _, a := range r.journal.some(t, 2) {
		if a.WorkspaceID != workspace || a.TraceID != "my-trace" || a.Metadata["team"] != "search" || a.Spend.Cost == 0 {
			t.Errorf("record: %s, trace %s, metadata %v, cost %d", a.WorkspaceID, a.TraceID, a.Metadata, a.Spend.Cost)
		}
	}
	if got := r.up.Seen()[0].Get("authorization"); got != "Bearer sk-upstream" {
		t.Errorf("the provider received %q", got)
	}
	out := r.call("GET", "/v1/batches/"+b.ID+"/output", "", managed)
	if out.StatusCode != 200 || strings.Count(out.Text, "\n") != 2 {
		t.Errorf("%d %s", out.StatusCode, out.Text)
	}
	list := r.call("GET", "/v1/batches?limit=1", "", managed)
	if !strings.Contains(list.Text, b.ID) || !strings.Contains(list.Text, `"has_more":false`) {
		t.Error(list.Text)
	}
}

func TestManagedBatch_DeniedLinesAreInTheErrorFile(t *testing.T) {
	t.Parallel()
	r := newBatchRig(t)
	r.save("g1", rule, guardrail.Actions{Deny: true})
	r.dir.scope.SetGuardrails(workspace, &tenant.Organisation{Defaults: tenant.OrgDefaults{InputGuardrails: []string{"g1"}}})
	b := r.runBatch("immediate", batchLine("a", "harmless")+batchLine("b", "forbidden"), r.options(nil))
	if b.Status != "completed" || b.Counts.Completed != 1 || b.Counts.Failed != 1 {
		t.Fatalf("%+v", b)
	}
	if row := r.batchRows(b.Error)["b"]; row.Response.Status != 446 || !strings.Contains(string(row.Response.Body), "hook_results") {
		t.Errorf("%+v", row)
	}
	if r.up.Total() != 1 {
		t.Errorf("%d calls reached the provider", r.up.Total())
	}
}

func TestManagedBatch_StopsWhenItsKeyIsRevoked(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	const other = "sk-other-key-of-the-tests-0000"
	r.dir.add(r.parts.Hasher, other, access.WorkspaceService, workspace, access.Allowed(access.WorkspaceService)...)
	var current atomic.Pointer[directory]
	current.Store(r.dir)
	r.parts.Directory = func() gateway.Directory { return current.Load() }
	r.manageBatches()
	r.up.Script(func(s upstream.Seen) *upstream.Response {
		if s.ID == 10 { // the key is deleted while the batch runs
			next := *r.dir
			next.keys = maps.Clone(r.dir.keys)
			delete(next.keys, r.parts.Hasher.Sum(key))
			current.Store(&next)
		}
		return respondingWith(`{"id":"x","object":"chat.completion","choices":[]}`)
	})
	var lines strings.Builder
	for i := range 300 {
		lines.WriteString(batchLine(fmt.Sprint(i), "hi"))
	}
	b := r.runBatch("immediate", lines.String(), r.options(nil), "x-gateway-api-key: "+other)
	sent := r.up.Total()
	if b.Status != "failed" || len(b.Errors.Data) != 1 || b.Errors.Data[0].Code != "key_revoked" || b.Counts.Completed != sent || b.Counts.Failed != 300-sent || sent > 100 {
		t.Fatalf("%+v after %d calls", b, sent)
	}
	a := r.call("GET", "/v1/files/"+b.Error+"/content", "", managed, "x-gateway-api-key: "+other)
	if strings.Count(a.Text, `"code":"key_revoked"`) != 300-sent {
		t.Errorf("%d %.300s", a.StatusCode, a.Text)
	}
}

func TestManagedBatch_RefusesTheKeyOfTheGatewayInItsOptions(t *testing.T) {
	t.Parallel()
	r := newBatchRig(t)
	id := jsonedit.Text([]byte(r.uploadLines(batchLine("a", "hi"), managed).Text), "id")
	body := `{"input_file_id":"` + id + `","endpoint":"/v1/chat/completions","completion_window":"immediate","gateway_options":{"provider":"openai","authorization":"Bearer ` + key + `"}}`
	a := r.call("POST", "/v1/batches", body, managed)
	if a.StatusCode != 400 || !strings.Contains(a.Text, "gateway_options.authorization") || strings.Contains(a.Text, key) {
		t.Errorf("%d %s", a.StatusCode, a.Text)
	}
}

func TestManagedFiles_AreChosenByProviderConfigOrID(t *testing.T) {
	t.Parallel()
	r := newBatchRig(t)
	r.dir.config(t, "pc-files", `{"provider":"gateway"}`)
	file := r.uploadLines(batchLine("a", "hi"), "x-gateway-config: pc-files")
	id := jsonedit.Text([]byte(file.Text), "id")
	if file.StatusCode != 200 || !strings.HasPrefix(id, "file-gw") {
		t.Fatalf("%d %s", file.StatusCode, file.Text)
	}
	for _, headers := range [][]string{{managed}, {"x-gateway-config: pc-files"}, {}, r.custom()} {
		if a := r.call("GET", "/v1/files/"+id+"/content", "", headers...); a.StatusCode != 200 || a.Text != batchLine("a", "hi") {
			t.Errorf("%v: %d %s", headers, a.StatusCode, a.Text)
		}
	}
	if a := r.call("DELETE", "/v1/files/"+id, "", managed); a.StatusCode != 200 {
		t.Errorf("%d %s", a.StatusCode, a.Text)
	}
	if a := r.call("GET", "/v1/files/"+id, "", managed); a.StatusCode != 404 {
		t.Errorf("%d %s", a.StatusCode, a.Text)
	}
	if r.up.Total() != 0 {
		t.Errorf("%d calls reached the provider", r.up.Total())
	}
}

// A batch of another window is judged, uploaded to the provider, polled, and its results are judged.
func TestDelegatedBatch_IsJudgedInBothDirections(t *testing.T) {
	t.Parallel()
	r := newBatchRig(t)
	r.save("g1", rule, guardrail.Actions{Deny: true})
	r.dir.scope.SetGuardrails(workspace, &tenant.Organisation{Defaults: tenant.OrgDefaults{InputGuardrails: []string{"g1"}, OutputGuardrails: []string{"g1"}}})
	var uploaded, created string
	result := func(id, text string) string {
		return `{"id":"r","custom_id":"` + id + `","response":{"status_code":200,"request_id":"q","body":{"id":"c","object":"chat.completion","model":"gpt-4o-mini","choices":[{"index":0,"message":{"role":"assistant","content":"` + text + `"},"finish_reason":"stop"}]}},"error":null}` + "\n"
	}
	r.up.Handle("/v1/files", func(s upstream.Seen) *upstream.Response {
		uploaded = string(s.Body)
		return respondingWith(`{"id":"file-up","object":"file"}`)
	})
	r.up.Handle("/v1/batches", func(s upstream.Seen) *upstream.Response {
		created = string(s.Body)
		return respondingWith(`{"id":"batch_up","object":"batch","status":"validating"}`)
	})
	r.up.Handle("/v1/batches/batch_up", upstream.Always(upstream.JSON(200, []byte(`{"id":"batch_up","object":"batch","status":"completed","output_file_id":"file-out","error_file_id":null,"request_counts":{"total":3,"completed":3,"failed":0}}`))))
	r.up.Handle("/v1/files/file-out/content", upstream.Always(upstream.JSON(200, []byte(result("a", "fine")+result("c", "forbidden text")))))
	b := r.runBatch("24h", batchLine("a", "one")+batchLine("b", "forbidden")+batchLine("c", "three")+batchLine("d", "four"), r.options(nil))
	if b.Status != "completed" || b.PostAt == 0 || b.Counts.Total != 4 || b.Counts.Completed != 1 || b.Counts.Failed != 3 {
		t.Fatalf("%+v", b)
	}
	if strings.Contains(uploaded, "forbidden") || !strings.Contains(uploaded, "three") {
		t.Errorf("uploaded: %s", uploaded)
	}
	if !strings.Contains(created, "file-up") || !strings.Contains(created, "24h") {
		t.Errorf("created: %s", created)
	}
	failed := r.batchRows(b.Error)
	if failed["b"].Response.Status != 446 || failed["c"].Response.Status != 446 || failed["d"].Error.Code != "no_result" || strings.Contains(string(failed["c"].Response.Body), "forbidden text") {
		t.Errorf("%+v", failed)
	}
	if rows := r.batchRows(b.Output); len(rows) != 1 || !strings.Contains(string(rows["a"].Response.Body), "fine") {
		t.Errorf("%+v", rows)
	}
}

func respondingWith(body string) *upstream.Response {
	resp := upstream.JSON(200, []byte(body))
	return &resp
}
