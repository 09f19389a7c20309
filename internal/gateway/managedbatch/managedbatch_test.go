package managedbatch_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"mime/multipart"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"sluice/internal/domain/batch"
	"sluice/internal/gateway/managedbatch"
	"sluice/internal/kernel/fault"
	"sluice/internal/kernel/ident"
	"sluice/internal/kernel/jsonedit"
	"sluice/internal/kernel/llm"
	"sluice/internal/kernel/multipartedit"
	"sluice/internal/kernel/wire"
)

// executor responds to the calls of batches by a function, and counts them.
type executor struct {
	respond func(ctx context.Context, c *managedbatch.Call, body string) (*managedbatch.Response, error)

	mu       sync.Mutex // guards what follows
	sent     []string   // bodies of the calls, in order
	open     int
	mostOpen int
	revoked  bool
}

func (e *executor) Execute(ctx context.Context, c *managedbatch.Call) (*managedbatch.Response, error) {
	text := ""
	if c.Body != nil {
		body, err := io.ReadAll(c.Body)
		if err != nil {
			return nil, err
		}
		text = string(body)
	}
	e.mu.Lock()
	if e.revoked {
		e.mu.Unlock()
		return nil, managedbatch.ErrKey
	}
	e.sent = append(e.sent, text)
	e.open++
	e.mostOpen = max(e.mostOpen, e.open)
	e.mu.Unlock()
	defer func() {
		e.mu.Lock()
		defer e.mu.Unlock()
		e.open--
	}()
	return e.respond(ctx, c, text)
}

func (e *executor) FindKey(by managedbatch.Caller) (string, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.revoked {
		return "", managedbatch.ErrKey
	}
	return by.KeyHash, nil
}

func (e *executor) revoke() {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.revoked = true
}

func (e *executor) calls() []string {
	e.mu.Lock()
	defer e.mu.Unlock()
	return slices.Clone(e.sent)
}

// responding returns a response with a status after a second.
func responding(status int) func(context.Context, *managedbatch.Call, string) (*managedbatch.Response, error) {
	return func(ctx context.Context, _ *managedbatch.Call, body string) (*managedbatch.Response, error) {
		select {
		case <-time.After(time.Second):
		case <-ctx.Done():
			return nil, ctx.Err()
		}
		return response(status, `{"echo":`+body+`}`), nil
	}
}

func response(status int, body string) *managedbatch.Response {
	return &managedbatch.Response{Response: batch.Response{Status: status, RequestID: "req", Body: []byte(body)}}
}

// noJudge changes nothing.
type noJudge struct{}

func (noJudge) JudgeRequest(context.Context, *managedbatch.Call) (*managedbatch.Judgement, error) {
	return &managedbatch.Judgement{}, nil
}

func (noJudge) JudgeResponse(context.Context, *managedbatch.Call, []byte) (*managedbatch.Judgement, error) {
	return &managedbatch.Judgement{}, nil
}

// node is a service on a store that other nodes may share.
type node struct {
	t       *testing.T
	store   *memory
	exec    *executor
	service *managedbatch.Service
}

var caller = managedbatch.Caller{OrgID: "org", WorkspaceID: "workspace", KeyID: "key", KeyHash: "00"}

func newNode(t *testing.T, store *memory, exec *executor, judge managedbatch.Judge) *node {
	s := managedbatch.New(managedbatch.Deps{
		Store: store, Leases: store, Box: box{}, Executor: exec, Judge: judge, Clock: ident.System{}, Log: slog.New(slog.DiscardHandler),
		Retention: 30 * 24 * time.Hour, SpoolDir: t.TempDir(),
	})
	return &node{t, store, exec, s}
}

// start runs the node until the returned function is called, which waits for its end.
func (n *node) start() (stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = n.service.Run(ctx)
	}()
	return func() { cancel(); <-done }
}

func (n *node) respond(e llm.Endpoint, change func(r *managedbatch.Request)) (string, error) {
	n.t.Helper()
	r := &managedbatch.Request{By: caller, Match: llm.Match{Endpoint: e}, CheckHeader: func(string) error { return nil }}
	change(r)
	got, err := n.service.Respond(n.t.Context(), r)
	if err != nil {
		return "", err
	}
	if got.Content == nil {
		return string(got.JSON), nil
	}
	text, err := io.ReadAll(got.Content)
	if int64(len(text)) != got.Length {
		n.t.Errorf("%d bytes, but a length of %d", len(text), got.Length)
	}
	return string(text), err
}

func (n *node) must(e llm.Endpoint, change func(r *managedbatch.Request)) string {
	n.t.Helper()
	got, err := n.respond(e, change)
	if err != nil {
		n.t.Fatalf("%s: %v", e, err)
	}
	return got
}

// upload stores a file and returns the response.
func (n *node) upload(purpose, content string) (string, error) {
	n.t.Helper()
	var form bytes.Buffer
	w := multipart.NewWriter(&form)
	_ = w.WriteField("purpose", purpose)
	part, _ := w.CreateFormFile("file", "requests.jsonl")
	_, _ = io.WriteString(part, content)
	_ = w.Close()
	spool := wire.NewSpool(n.t.TempDir())
	defer spool.Close()
	f, err := multipartedit.Read(&form, w.FormDataContentType(), spool, multipartedit.Limits{Total: 1 << 30})
	if err != nil {
		n.t.Fatal(err)
	}
	return n.respond(llm.UploadFile, func(r *managedbatch.Request) { r.Form = f })
}

// create uploads lines, creates a batch and returns its id.
func (n *node) create(window, lines, options string) string {
	n.t.Helper()
	file, err := n.upload("batch", lines)
	if err != nil {
		n.t.Fatal(err)
	}
	return jsonedit.Text([]byte(n.createOf(jsonedit.Text([]byte(file), "id"), window, options)), "id")
}

func (n *node) createOf(fileID, window, options string) string {
	n.t.Helper()
	d := jsonedit.GetDoc()
	if err := jsonedit.Scan([]byte(`{"input_file_id":"`+fileID+`","endpoint":"/v1/chat/completions","completion_window":"`+window+`","metadata":{"team":"a"},"gateway_options":`+options+`}`), d); err != nil {
		n.t.Fatal(err)
	}
	return n.must(llm.CreateBatch, func(r *managedbatch.Request) { r.Doc = d })
}

// lines are n lines of an input file.
func lines(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, `{"custom_id":"c%d","method":"POST","url":"/v1/chat/completions","body":{"n":%d}}`+"\n", i, i)
	}
	return b.String()
}

// object is a batch as a client sees it.
type object struct {
	Status string `json:"status"`
	Output string `json:"output_file_id"`
	Error  string `json:"error_file_id"`
	Errors struct {
		Data []struct {
			Code, Message string
			Line          int
		}
	} `json:"errors"`
	Counts struct{ Total, Completed, Failed int } `json:"request_counts"`
}

func (n *node) batch(id string) (o object) {
	n.t.Helper()
	text := n.must(llm.RetrieveBatch, func(r *managedbatch.Request) { r.Match.ID = id })
	if err := json.Unmarshal([]byte(text), &o); err != nil {
		n.t.Fatal(err)
	}
	return o
}

// await waits until the batch has ended.
func (n *node) await(id string) object {
	n.t.Helper()
	for range 100_000 {
		if o := n.batch(id); batch.State(o.Status).Ended() {
			return o
		}
		time.Sleep(time.Second)
	}
	n.t.Fatalf("the batch did not end: %+v", n.batch(id))
	return object{}
}

// row is a line of a result file.
type row struct {
	CustomID string `json:"custom_id"`
	Response *struct {
		Status int             `json:"status_code"`
		Body   json.RawMessage `json:"body"`
	} `json:"response"`
	Error *struct{ Code, Message string } `json:"error"`
}

func (n *node) rows(fileID string) map[string]row {
	n.t.Helper()
	rows := map[string]row{}
	if fileID == "" {
		return rows
	}
	text := n.must(llm.RetrieveFileContent, func(r *managedbatch.Request) { r.Match.ID = fileID })
	for line := range strings.Lines(text) {
		var r row
		if err := json.Unmarshal([]byte(line), &r); err != nil {
			n.t.Fatalf("%s: %v", line, err)
		}
		if _, twice := rows[r.CustomID]; twice {
			n.t.Errorf("two results of %s", r.CustomID)
		}
		rows[r.CustomID] = r
	}
	return rows
}

func (n *node) check(o object, status string, total, completed, failed int) {
	n.t.Helper()
	if o.Status != status || o.Counts.Total != total || o.Counts.Completed != completed || o.Counts.Failed != failed {
		n.t.Fatalf("%+v, want %s with %d lines, %d completed, %d failed", o, status, total, completed, failed)
	}
	if got := len(n.rows(o.Output)); got != completed {
		n.t.Errorf("%d lines in the output file, want %d", got, completed)
	}
	if got := len(n.rows(o.Error)); got != failed {
		n.t.Errorf("%d lines in the error file, want %d", got, failed)
	}
}

func TestImmediateBatch_SendsEachLineOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := newNode(t, newMemory(), &executor{respond: responding(200)}, noJudge{})
		defer n.start()()
		id := n.create("immediate", lines(110), "{}")
		if o := n.batch(id); batch.State(o.Status).Ended() || o.Output != "" {
			t.Errorf("at first: %+v", o)
		}
		o := n.await(id)
		n.check(o, "completed", 110, 110, 0)
		if sent := n.exec.calls(); len(sent) != 110 || n.exec.mostOpen != 25 {
			t.Errorf("%d calls, at most %d at once", len(sent), n.exec.mostOpen)
		}
		if r := n.rows(o.Output)["c7"]; string(r.Response.Body) != `{"echo":{"n":7}}` || r.Error != nil {
			t.Errorf("line 7: %+v", r)
		}
		if out := n.must(llm.GetBatchOutput, func(r *managedbatch.Request) { r.Match.ID = id }); strings.Count(out, "\n") != 110 {
			t.Errorf("the output has %d lines", strings.Count(out, "\n"))
		}
	})
}

func TestLines_AreRetriedThreeTimes(t *testing.T) {
	for status, calls := range map[int]int{429: 4, 500: 4, 503: 4, 501: 1, 400: 1, 446: 1} {
		t.Run(fmt.Sprint(status), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				n := newNode(t, newMemory(), &executor{respond: responding(status)}, noJudge{})
				defer n.start()()
				o := n.await(n.create("immediate", lines(1), "{}"))
				n.check(o, "completed", 1, 0, 1)
				if got := len(n.exec.calls()); got != calls {
					t.Errorf("%d calls, want %d", got, calls)
				}
				if r := n.rows(o.Error)["c0"]; r.Response == nil || r.Response.Status != status {
					t.Errorf("in the error file: %+v", r)
				}
			})
		})
	}
}

func TestRestartedBatch_SendsNoAnsweredLineAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store, exec := newMemory(), &executor{respond: responding(200)}
		first := newNode(t, store, exec, noJudge{})
		stop := first.start()
		id := first.create("immediate", lines(300), "{}")
		time.Sleep(6*time.Second + 500*time.Millisecond)
		stop()
		before := len(exec.calls())
		if o := first.batch(id); o.Status != "in_progress" || o.Counts.Completed == 0 || o.Counts.Completed == 300 {
			t.Fatalf("after the stop: %+v", o)
		}
		second := newNode(t, store, exec, noJudge{})
		defer second.start()()
		second.check(second.await(id), "completed", 300, 300, 0)
		sent := exec.calls()
		slices.Sort(sent)
		if len(slices.Compact(sent)) != 300 || len(exec.calls()) != 300 {
			t.Errorf("%d calls before and %d in all, for 300 lines", before, len(exec.calls()))
		}
	})
}

func TestTwoNodes_ShareNoLine(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store, exec := newMemory(), &executor{respond: responding(200)}
		a, b := newNode(t, store, exec, noJudge{}), newNode(t, store, exec, noJudge{})
		defer a.start()()
		defer b.start()()
		a.check(a.await(a.create("immediate", lines(60), "{}")), "completed", 60, 60, 0)
		if len(exec.calls()) != 60 {
			t.Errorf("%d calls for 60 lines", len(exec.calls()))
		}
	})
}

func TestCancelledBatch_KeepsTheResultsSoFar(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := newNode(t, newMemory(), &executor{respond: responding(200)}, noJudge{})
		defer n.start()()
		id := n.create("immediate", lines(1000), "{}")
		time.Sleep(7 * time.Second)
		n.must(llm.CancelBatch, func(r *managedbatch.Request) { r.Match.ID = id })
		if o := n.batch(id); o.Status != "cancelling" {
			t.Errorf("at once: %+v", o)
		}
		o := n.await(id)
		sent := len(n.exec.calls())
		n.check(o, "cancelled", 1000, sent, 1000-sent)
		if r := n.rows(o.Error)["c999"]; r.Response != nil || r.Error.Code != "batch_cancelled" {
			t.Errorf("a line that was not sent: %+v", r)
		}
		if _, err := n.respond(llm.CancelBatch, func(r *managedbatch.Request) { r.Match.ID = id }); !fault.Has(err, fault.Conflict) {
			t.Errorf("cancelled again: %v", err)
		}
	})
}

func TestRevokedKey_StopsItsBatch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := newNode(t, newMemory(), &executor{respond: responding(200)}, noJudge{})
		defer n.start()()
		id := n.create("immediate", lines(1000), "{}")
		time.Sleep(7 * time.Second)
		n.exec.revoke()
		o := n.await(id)
		sent := len(n.exec.calls())
		n.check(o, "failed", 1000, sent, 1000-sent)
		if len(o.Errors.Data) != 1 || o.Errors.Data[0].Code != "key_revoked" || n.rows(o.Error)["c999"].Error.Code != "key_revoked" {
			t.Errorf("%+v", o.Errors)
		}
	})
}

func TestImmediateBatch_ExpiresAfterADay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := newNode(t, newMemory(), &executor{respond: func(ctx context.Context, c *managedbatch.Call, body string) (*managedbatch.Response, error) {
			time.Sleep(time.Hour)
			return response(200, "{}"), nil
		}}, noJudge{})
		defer n.start()()
		o := n.await(n.create("immediate", lines(1000), "{}"))
		sent := len(n.exec.calls())
		n.check(o, "expired", 1000, sent, 1000-sent)
		if code := n.rows(o.Error)["c999"].Error.Code; code != "batch_expired" {
			t.Error(code)
		}
	})
}

func TestInvalidLines_FailTheBatch(t *testing.T) {
	const good = `{"custom_id":"a","method":"POST","url":"/v1/chat/completions","body":{}}`
	for line, want := range map[string]string{
		good: "custom_id is used by an earlier line",
		`{"method":"POST","url":"/v1/chat/completions","body":{}}`:                                 "custom_id is required; it must be a string",
		`{"custom_id":"b","method":"GET","url":"/v1/chat/completions","body":{}}`:                  `method must be "POST"`,
		`{"custom_id":"b","method":"POST","url":"/v1/embeddings","body":{}}`:                       "url must be the endpoint of the batch, /v1/chat/completions",
		`{"custom_id":"b","method":"POST","url":"/v1/chat/completions"}`:                           "body is required; it must be an object",
		`{"custom_id":"b","method":"POST","url":"/v1/chat/completions","body":{"stream": true}}`:   "body.stream must not be true in a batch",
		`{"custom_id":"` + strings.Repeat("x", 513) + `","method":"POST","url":"/v1/x","body":{}}`: "custom_id is longer than 512 bytes",
	} {
		synctest.Test(t, func(t *testing.T) {
			n := newNode(t, newMemory(), &executor{respond: responding(200)}, noJudge{})
			defer n.start()()
			o := n.await(n.create("immediate", good+"\n\n"+line, "{}"))
			if o.Status != "failed" || len(o.Errors.Data) != 1 || o.Errors.Data[0].Message != want || o.Errors.Data[0].Line != 2 || len(n.exec.calls()) != 0 {
				t.Errorf("%.100s: %+v", line, o)
			}
		})
	}
}

func TestDeletedInput_EndsTheBatch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := newNode(t, newMemory(), &executor{respond: responding(200)}, noJudge{})
		file, err := n.upload("batch", lines(2))
		if err != nil {
			t.Fatal(err)
		}
		fileID := jsonedit.Text([]byte(file), "id")
		id := jsonedit.Text([]byte(n.createOf(fileID, "immediate", "{}")), "id")
		n.must(llm.DeleteFile, func(r *managedbatch.Request) { r.Match.ID = fileID })
		defer n.start()()
		if o := n.await(id); o.Status != "failed" || o.Errors.Data[0].Code != "input_file_missing" {
			t.Errorf("%+v", o)
		}
	})
}
