package gateway_test

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"sluice/internal/domain/credential"
	"sluice/internal/domain/keys"
	"sluice/internal/domain/providerjob"
	"sluice/internal/domain/providerjob/providerjobtest"
	"sluice/internal/domain/record"
	"sluice/internal/kernel/llm"
	"sluice/internal/limits/quota"
)

// factory is a provider of jobs. It counts what reaches it; what it answers to a path may
// change.
type factory struct {
	*httptest.Server
	mu      sync.Mutex // guards what follows
	answers map[string]string
	codes   map[string]int
	seen    map[string]int
}

func newFactory(t *testing.T) *factory {
	f := &factory{answers: map[string]string{}, codes: map[string]int{}, seen: map[string]int{}}
	f.Server = httptest.NewServer(f)
	t.Cleanup(f.Close)
	return f
}

// ServeHTTP implements http.Handler.
func (f *factory) ServeHTTP(out http.ResponseWriter, r *http.Request) {
	_, _ = io.Copy(io.Discard, r.Body)
	f.mu.Lock()
	defer f.mu.Unlock()
	route := r.Method + " " + r.URL.EscapedPath()
	f.seen[route]++
	body, ok := f.answers[route]
	typ := "application/json"
	if strings.HasSuffix(route, "/content") {
		typ = "application/octet-stream"
	}
	out.Header().Set("content-type", typ)
	switch {
	case !ok:
		out.WriteHeader(404)
		body = `{"error":{"message":"not here","type":"invalid_request_error"}}`
	case f.codes[route] != 0:
		out.WriteHeader(f.codes[route])
	}
	_, _ = io.WriteString(out, body)
}

func (f *factory) handle(route, body string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.answers[route] = body
}

func (f *factory) calls(route string) int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.seen[route]
}

// advancedClock is a clock that is set forward.
type advancedClock struct {
	mu sync.Mutex // guards by
	by time.Duration
}

// Now implements ident.Clock.
func (a *advancedClock) Now() time.Time {
	a.mu.Lock()
	defer a.mu.Unlock()
	return time.Now().Add(a.by)
}

func (a *advancedClock) move(by time.Duration) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.by += by
}

// works is a rig that follows jobs of a factory, with the saved provider @works there.
type works struct {
	*rig
	up      *factory
	store   *providerjobtest.Memory
	clock   *advancedClock
	tracker *providerjob.Tracker
}

func newWorks(t *testing.T, spec string) *works {
	w := &works{rig: newRig(t), up: newFactory(t), store: new(providerjobtest.Memory), clock: new(advancedClock)}
	w.rig.dir.accounts["works"] = &credential.Account{
		Slug: "works", Spec: spec, Status: "active", AllModels: true, Values: map[string]string{"key": "sk-saved", "custom_host": w.up.URL + "/v1"},
	}
	w.restart()
	return w
}

// restart forgets what a process knows of jobs.
func (w *works) restart() {
	w.tracker = providerjob.New(w.store, w.store, w.clock, slog.New(slog.NewTextHandler(&w.log, nil)))
	p := w.gateway.ProviderJobs()
	w.gateway.Clock, p.Clock, p.Tracker = w.clock, w.clock, w.tracker
	w.gateway.Reassemble()
}

// turn lets time pass, and has due jobs checked.
func (w *works) turn() {
	w.t.Helper()
	w.clock.move(10 * time.Minute)
	if err := w.tracker.Turn(context.Background(), w.gateway.ProviderJobs()); err != nil {
		w.t.Fatal(err)
	}
}

// jobTracker follows jobs of a rig.
type jobTracker struct {
	providerjobtest.Memory
	clock   advancedClock
	tracker *providerjob.Tracker
}

func (j *jobTracker) follow(r *rig) {
	j.tracker = providerjob.New(&j.Memory, &j.Memory, &j.clock, slog.New(slog.NewTextHandler(&r.log, nil)))
	p := r.gateway.ProviderJobs()
	r.gateway.Clock, p.Clock, p.Tracker = &j.clock, &j.clock, j.tracker
	r.gateway.Reassemble()
}

func (j *jobTracker) turn(t *testing.T, r *rig) {
	t.Helper()
	j.clock.move(10 * time.Minute)
	if err := j.tracker.Turn(context.Background(), r.gateway.ProviderJobs()); err != nil {
		t.Fatal(err)
	}
}

// tryCall makes a call whose answer may break off, wherever it does.
func (r *rig) tryCall(path, body string, headers ...string) {
	r.t.Helper()
	req, err := http.NewRequest("POST", r.server.URL+path, strings.NewReader(body))
	if err != nil {
		r.t.Fatal(err)
	}
	for _, h := range append(headers, "x-gateway-api-key: "+key, "content-type: application/json") {
		name, value, _ := strings.Cut(h, ": ")
		req.Header.Set(name, value)
	}
	if resp, err := http.DefaultClient.Do(req); err == nil {
		_, _ = io.Copy(io.Discard, resp.Body)
		_ = resp.Body.Close()
	}
}

func (w *works) budget(dollars float64) *quota.Plan {
	return w.limited(keys.Kind, w.keyID(), quota.Limits{Budgets: []quota.Budget{budget(quota.Cost, dollars)}})
}

func (w *works) used(p *quota.Plan) int64 {
	return w.limiter.State(w.clock.Now(), &p.Budgets[0]).Used + w.store.Used(w.keyID()+"/cost")
}

func (w *works) upload(t *testing.T, purpose, file string, headers ...string) {
	t.Helper()
	body := "--x\r\ncontent-disposition: form-data; name=\"purpose\"\r\n\r\n" + purpose + "\r\n--x\r\ncontent-disposition: form-data; name=\"file\"; filename=\"f.jsonl\"\r\n\r\n" + file + "\r\n--x--\r\n"
	if a := w.call("POST", "/v1/files", body, append([]string{"content-type: multipart/form-data; boundary=x"}, headers...)...); a.StatusCode != 200 {
		t.Fatalf("upload: %d %s", a.StatusCode, a.Text)
	}
}

const (
	savedWorks   = "x-gateway-provider: @works"
	requestLine  = `{"custom_id":"%d","method":"POST","url":"/v1/chat/completions","body":{"model":"gpt-4o-mini","max_tokens":100,"messages":[{"role":"user","content":"Hello there"}]}}` + "\n"
	resultLine   = `{"id":"r","custom_id":"%d","response":{"status_code":200,"body":{"id":"c","object":"chat.completion","model":"gpt-4o-mini-2024-07-18","choices":[{"index":0,"message":{"role":"assistant","content":"Hi."},"finish_reason":"stop"}],"usage":{"prompt_tokens":1000,"completion_tokens":40,"total_tokens":1040}}},"error":null}` + "\n"
	lineCost     = 1000*75 + 40*300 // nano-dollars: half of $0.15 and $0.60 for a million
	batchRunning = `{"id":"batch_a","object":"batch","status":"in_progress","output_file_id":null}`
	batchDone    = `{"id":"batch_a","object":"batch","status":"completed","output_file_id":"file-out","error_file_id":null,"request_counts":{"total":2,"completed":2,"failed":0}}`
	createBatch  = `{"input_file_id":"file-in","endpoint":"/v1/chat/completions","completion_window":"24h"}`
)

// batchOf has the factory take a file and a batch of it.
func (w *works) takeBatch() {
	w.up.handle("POST /v1/files", `{"id":"file-in","object":"file","purpose":"batch"}`)
	w.up.handle("POST /v1/batches", strings.Replace(batchRunning, "in_progress", "validating", 1))
	w.up.handle("GET /v1/batches/batch_a", batchRunning)
}

func twoLines(format string) string { return fmt.Sprintf(format, 1) + fmt.Sprintf(format, 2) }

// A batch holds its maximum cost from its creation on, and costs what its output reports
// once it has ended, whether it was completed or stopped before.
func TestBatchIsHeldAndSettled(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		done, output string
		cost         int64
		state        string
		outcome      record.Outcome
	}{
		"completed":                          {batchDone, twoLines(resultLine), 2 * lineCost, "settled", record.OK},
		"cancelled":                          {strings.Replace(batchDone, "completed", "cancelled", 1), fmt.Sprintf(resultLine, 1), lineCost, "settled", record.OK},
		"expired":                            {strings.Replace(batchDone, "completed", "expired", 1), fmt.Sprintf(resultLine, 2), lineCost, "settled", record.OK},
		"failed":                             {`{"id":"batch_a","object":"batch","status":"failed","output_file_id":null}`, "", 0, "released", record.Failed},
		"cancelled before anything was done": {`{"id":"batch_a","object":"batch","status":"cancelled","request_counts":{"total":2,"completed":0,"failed":0}}`, "", 0, "released", record.OK},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorks(t, "openai")
			plan := w.budget(1)
			w.takeBatch()
			w.upload(t, "batch", twoLines(requestLine), savedWorks)
			if a := w.call("POST", "/v1/batches", createBatch, savedWorks); a.StatusCode != 200 {
				t.Fatalf("%d %s", a.StatusCode, a.Text)
			}
			open := w.store.Jobs()
			if len(open) != 1 || open[0].MaxCostNano <= 2*100*300 || w.used(plan) != open[0].MaxCostNano {
				t.Fatalf("open %+v, used %d", open, w.used(plan))
			}
			created := w.journal.some(t, 2)[1]
			if created.Spend.State != "released" || created.Spend.Cost != 0 || created.Spend.MaxCost != open[0].MaxCostNano || created.Endpoint != llm.CreateBatch {
				t.Errorf("the creation is on record as %+v", created.Spend)
			}
			w.turn()
			if w.store.Settled() != 0 || len(w.journal.all()) != 2 {
				t.Error("the batch was settled while it ran")
			}
			w.up.handle("GET /v1/batches/batch_a", c.done)
			w.up.handle("GET /v1/files/file-out/content", c.output)
			w.turn()
			w.turn()
			last := w.journal.some(t, 3)[2]
			if last.Spend.Cost != c.cost || last.Spend.State != c.state || last.Outcome != c.outcome || last.ID != open[0].ID || last.TraceID != created.TraceID || last.RequestID != created.RequestID {
				t.Errorf("the batch is on record as %s %+v (%s)", last.Outcome, last.Spend, last.Error)
			}
			if got := w.used(plan); got != c.cost || w.store.Settled() != 1 || len(w.store.Jobs()) != 0 {
				t.Errorf("settled %d times, used %d, want %d", w.store.Settled(), got, c.cost)
			}
			if w.up.calls("GET /v1/files/file-in/content") != 0 {
				t.Error("the input file was fetched although it was uploaded here")
			}
		})
	}
}

// With a tenth of a cent left nothing that cannot be paid reaches the provider.
func TestJobsBeyondTheBudgetAreRefused(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ path, body, route string }{
		"a batch":                    {"/v1/batches", createBatch, "POST /v1/batches"},
		"fine-tuning":                {"/v1/fine_tuning/jobs", `{"model":"gpt-4o-mini","training_file":"file-in"}`, "POST /v1/fine_tuning/jobs"},
		"a video":                    {"/v1/videos", `{"model":"sora-2","prompt":"a cat","seconds":"8"}`, "POST /v1/videos"},
		"a remix":                    {"/v1/videos/video_1/remix", `{"prompt":"a dog"}`, "POST /v1/videos/video_1/remix"},
		"an evaluation":              {"/v1/evals/eval_1/runs", `{"data_source":{}}`, "POST /v1/evals/eval_1/runs"},
		"a training of no price":     {"/v1/fine_tuning/jobs", `{"model":"own-model","training_file":"file-in"}`, "POST /v1/fine_tuning/jobs"},
		"batches of Mistral's shape": {"/v1/batch/jobs", `{"input_files":["file-in"],"model":"gpt-4o-mini"}`, "POST /v1/batch/jobs"},
		"a job nobody can follow":    {"/v1/async-invoke", `{"modelId":"amazon.nova-reel-v1:0"}`, "POST /v1/async-invoke"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorks(t, "openai")
			w.budget(0.001)
			w.takeBatch()
			w.up.handle(c.route, `{"id":"job_1","status":"queued"}`)
			w.up.handle("GET /v1/files/file-in/content", strings.Repeat(twoLines(requestLine), 50))
			for range 4 {
				if a := w.call("POST", c.path, c.body, savedWorks); a.StatusCode != 412 || !strings.Contains(a.Text, "budget") {
					t.Errorf("%d %s", a.StatusCode, a.Text)
				}
			}
			if n := w.up.calls(c.route); n != 0 {
				t.Errorf("%d calls reached the provider", n)
			}
		})
	}
}

// Without a budget of cost nothing is refused and nothing fetched, and the end of the job
// is on record with its cost all the same.
func TestBatchWithoutABudgetIsBilled(t *testing.T) {
	t.Parallel()
	w := newWorks(t, "openai")
	w.takeBatch()
	if a := w.call("POST", "/v1/batches", createBatch, savedWorks); a.StatusCode != 200 {
		t.Fatalf("%d %s", a.StatusCode, a.Text)
	}
	w.up.handle("GET /v1/batches/batch_a", batchDone)
	w.up.handle("GET /v1/files/file-out/content", twoLines(resultLine))
	w.turn()
	last := w.journal.some(t, 2)[1]
	if last.Spend.Cost != 2*lineCost || last.Usage.InputTokens != 2000 || last.Usage.OutputTokens != 80 || !strings.Contains(last.Spend.Terms, `"units":2000`) {
		t.Errorf("%+v %+v", last.Spend, last.Usage)
	}
	if n := w.up.calls("GET /v1/files/file-in/content"); n != 0 {
		t.Errorf("the input was fetched %d times", n)
	}
}

// An input file that was not uploaded here is read from the provider, once; one that
// cannot be read is refused with the reason and the fix.
func TestBatchFileIsFetched(t *testing.T) {
	t.Parallel()
	w := newWorks(t, "openai")
	w.budget(1)
	w.takeBatch()
	a := w.call("POST", "/v1/batches", createBatch, savedWorks)
	if a.StatusCode != 412 || !strings.Contains(a.Text, "cannot be read") || !strings.Contains(a.Text, "upload it through this gateway") || w.up.calls("POST /v1/batches") != 0 {
		t.Errorf("%d %s", a.StatusCode, a.Text)
	}
	w.up.handle("GET /v1/files/file-in/content", twoLines(requestLine))
	for range 2 {
		if a := w.call("POST", "/v1/batches", createBatch, savedWorks); a.StatusCode != 200 {
			t.Errorf("%d %s", a.StatusCode, a.Text)
		}
	}
	if n := w.up.calls("GET /v1/files/file-in/content"); n != 2 { // the first was answered with 404
		t.Errorf("fetched %d times", n)
	}
	w.up.handle("GET /v1/files/file-in/content", "{not JSON}\n")
	other := strings.Replace(createBatch, "file-in", "file-bad", 1)
	w.up.handle("GET /v1/files/file-bad/content", "{not JSON}\n")
	if a := w.call("POST", "/v1/batches", other, savedWorks); a.StatusCode != 412 || !strings.Contains(a.Text, "line 1 is not a JSON object") {
		t.Errorf("%d %s", a.StatusCode, a.Text)
	}
}

// A job survives the process where its provider is saved, and one whose caller brought the
// credential is settled when a caller reads its end.
func TestJobSurvivesARestart(t *testing.T) {
	t.Parallel()
	for name, headers := range map[string][]string{"saved": {savedWorks}, "private": {"x-gateway-provider: openai", "authorization: Bearer sk-own"}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorks(t, "openai")
			if name == "private" {
				headers = append(headers, "x-gateway-custom-host: "+w.up.URL+"/v1")
			}
			plan := w.budget(1)
			w.takeBatch()
			w.upload(t, "batch", twoLines(requestLine), headers...)
			if a := w.call("POST", "/v1/batches", createBatch, headers...); a.StatusCode != 200 {
				t.Fatalf("%d %s", a.StatusCode, a.Text)
			}
			w.restart()
			w.up.handle("GET /v1/batches/batch_a", batchDone)
			w.up.handle("GET /v1/files/file-out/content", twoLines(resultLine))
			w.turn()
			if name == "private" {
				if w.store.Settled() != 0 {
					t.Fatal("settled without a credential")
				}
				if a := w.call("GET", "/v1/batches/batch_a", "", headers...); a.StatusCode != 200 {
					t.Fatalf("%d %s", a.StatusCode, a.Text)
				}
				w.turn()
			}
			if got := w.used(plan); got != 2*lineCost || w.store.Settled() != 1 {
				t.Errorf("settled %d times, used %d, want %d", w.store.Settled(), got, 2*lineCost)
			}
		})
	}
}

// A job whose provider does not describe it any longer counts with its maximum.
func TestJobThatIsForgottenCountsWithItsMaximum(t *testing.T) {
	t.Parallel()
	w := newWorks(t, "openai")
	plan := w.budget(1)
	w.takeBatch()
	w.upload(t, "batch", twoLines(requestLine), savedWorks)
	w.call("POST", "/v1/batches", createBatch, savedWorks)
	maxCost := w.store.Jobs()[0].MaxCostNano
	w.up.mu.Lock()
	delete(w.up.answers, "GET /v1/batches/batch_a")
	w.up.mu.Unlock()
	for range 5 {
		w.turn()
	}
	last := w.journal.some(t, 3)[2]
	if last.Spend.State != "unknown" || last.Spend.Cost != maxCost || last.Outcome != record.Failed || len(w.store.Jobs()) != 0 || w.used(plan) != maxCost {
		t.Errorf("%+v, %s", last.Spend, last.Error)
	}
}

// Message batches have their requests in the call, in Anthropic's format or the gateway's.
func TestMessageBatch(t *testing.T) {
	t.Parallel()
	for _, path := range []string{"/v1/messages/batches", "/v1/batches"} {
		t.Run(path, func(t *testing.T) {
			t.Parallel()
			w := newWorks(t, "anthropic")
			plan := w.budget(1)
			const state = `{"id":"msgbatch_1","type":"message_batch","processing_status":"%s","request_counts":{"processing":0,"succeeded":1,"errored":1,"canceled":0,"expired":0},"results_url":"https://api.example/x"}`
			w.up.handle("POST /v1/messages/batches", fmt.Sprintf(state, "in_progress"))
			w.up.handle("GET /v1/messages/batches/msgbatch_1", fmt.Sprintf(state, "ended"))
			w.up.handle("GET /v1/messages/batches/msgbatch_1/results", `{"custom_id":"1","result":{"type":"succeeded","message":{"id":"m","type":"message","role":"assistant","model":"claude-haiku-4-5","content":[{"type":"text","text":"Hi."}],"stop_reason":"end_turn","usage":{"input_tokens":1000,"output_tokens":40}}}}`+"\n"+`{"custom_id":"2","result":{"type":"errored","error":{"type":"error","error":{"type":"invalid_request_error","message":"no"}}}}`+"\n")
			body := `{"requests":[{"custom_id":"1","params":{"model":"claude-haiku-4-5","max_tokens":200,"messages":[{"role":"user","content":"Hello"}]}},{"custom_id":"2","params":{"model":"claude-haiku-4-5","max_tokens":200,"messages":[{"role":"user","content":"Hello"}]}}]}`
			if a := w.call("POST", path, body, savedWorks, "anthropic-version: 2023-06-01"); a.StatusCode != 200 {
				t.Fatalf("%d %s", a.StatusCode, a.Text)
			}
			maxCost := w.store.Jobs()[0].MaxCostNano
			if maxCost < 2*200*2_500 || w.used(plan) != maxCost {
				t.Errorf("holds %d, used %d", maxCost, w.used(plan))
			}
			w.turn()
			if last := w.journal.some(t, 2)[1]; last.Spend.Cost != 1000*500+40*2_500 || last.Spend.State != "settled" {
				t.Errorf("%+v %s", last.Spend, last.Error)
			}
		})
	}
}

// A video costs its seconds at its size, and nothing when it fails.
func TestVideoIsBilledBySeconds(t *testing.T) {
	t.Parallel()
	form := "--x\r\ncontent-disposition: form-data; name=\"model\"\r\n\r\nsora-2-pro\r\n--x\r\ncontent-disposition: form-data; name=\"seconds\"\r\n\r\n8\r\n--x\r\ncontent-disposition: form-data; name=\"size\"\r\n\r\n1792x1024\r\n--x--\r\n"
	for name, c := range map[string]struct {
		body, typ, end string
		maxCost, cost  int64
	}{
		"completed":       {`{"model":"sora-2","prompt":"a cat","seconds":"8","size":"1280x720"}`, "application/json", "completed", 8 * 100_000_000, 8 * 100_000_000},
		"by default":      {`{"model":"sora-2","prompt":"a cat"}`, "application/json", "completed", 4 * 100_000_000, 4 * 100_000_000},
		"a larger format": {`{"model":"sora-2-pro","prompt":"a cat","seconds":"4","size":"1024x1792"}`, "application/json", "completed", 4 * 500_000_000, 4 * 500_000_000},
		"a form":          {form, "multipart/form-data; boundary=x", "completed", 8 * 500_000_000, 8 * 500_000_000},
		"failed":          {`{"model":"sora-2","prompt":"a cat","seconds":"8"}`, "application/json", "failed", 8 * 100_000_000, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorks(t, "openai")
			plan := w.budget(10)
			w.up.handle("POST /v1/videos", `{"id":"video_1","object":"video","status":"queued","progress":0}`)
			w.up.handle("GET /v1/videos/video_1", `{"id":"video_1","object":"video","status":"in_progress","progress":50}`)
			if a := w.call("POST", "/v1/videos", c.body, savedWorks, "content-type: "+c.typ); a.StatusCode != 200 {
				t.Fatalf("%d %s", a.StatusCode, a.Text)
			}
			if got := w.used(plan); got != c.maxCost {
				t.Errorf("holds %d, want %d", got, c.maxCost)
			}
			w.turn()
			w.up.handle("GET /v1/videos/video_1", `{"id":"video_1","object":"video","status":"`+c.end+`","progress":100}`)
			w.turn()
			if last := w.journal.some(t, 2)[1]; last.Spend.Cost != c.cost {
				t.Errorf("%+v %s", last.Spend, last.Error)
			}
			if got := w.used(plan); got != c.cost {
				t.Errorf("used %d, want %d", got, c.cost)
			}
		})
	}
}

// Training holds the tokens of its file times the epochs and costs what was trained.
func TestFinetuningIsBilledByTrainedTokens(t *testing.T) {
	t.Parallel()
	w := newWorks(t, "openai")
	plan := w.budget(10)
	example := `{"messages":[{"role":"user","content":"Hello there"},{"role":"assistant","content":"Hi."}]}` + "\n"
	w.up.handle("POST /v1/files", `{"id":"file-train","object":"file"}`)
	w.upload(t, "fine-tune", strings.Repeat(example, 10), savedWorks)
	w.up.handle("POST /v1/fine_tuning/jobs", `{"id":"ftjob-1","object":"fine_tuning.job","status":"queued"}`)
	w.up.handle("GET /v1/fine_tuning/jobs/ftjob-1", `{"id":"ftjob-1","object":"fine_tuning.job","status":"succeeded","trained_tokens":400,"fine_tuned_model":"ft:gpt-4o-mini:x"}`)
	body := `{"model":"gpt-4o-mini-2024-07-18","training_file":"file-train","method":{"type":"supervised","supervised":{"hyperparameters":{"n_epochs":3}}}}`
	if a := w.call("POST", "/v1/fine_tuning/jobs", body, savedWorks); a.StatusCode != 200 {
		t.Fatalf("%d %s", a.StatusCode, a.Text)
	}
	maxCost := w.store.Jobs()[0].MaxCostNano
	if tokens := maxCost / 3000; w.used(plan) != maxCost || tokens < int64(30*len(example)) || tokens > int64(60*len(example)) {
		t.Errorf("holds %d for %d tokens", maxCost, tokens)
	}
	w.turn()
	last := w.journal.some(t, 3)[2]
	if last.Spend.Cost != 400*3000 || last.Usage.TotalTokens != 400 || w.used(plan) != 400*3000 {
		t.Errorf("%+v %+v", last.Spend, last.Usage)
	}
}

// Tokens of a batch count on rates when it is settled, not before.
func TestTokensOfABatchCountWhenItIsSettled(t *testing.T) {
	t.Parallel()
	w := newWorks(t, "openai")
	plan := w.limited(keys.Kind, w.keyID(), quota.Limits{Rates: []quota.Rate{{Type: quota.Tokens, Unit: quota.PerDay, Value: 5000}}})
	w.takeBatch()
	if a := w.call("POST", "/v1/batches", createBatch, savedWorks); a.StatusCode != 200 {
		t.Fatalf("%d %s", a.StatusCode, a.Text)
	}
	if got := w.limiter.State(w.clock.Now(), &plan.Rates[0]).Used; got != 0 {
		t.Errorf("%d tokens count before the end", got)
	}
	w.up.handle("GET /v1/batches/batch_a", batchDone)
	w.up.handle("GET /v1/files/file-out/content", twoLines(resultLine))
	w.turn()
	if got := w.limiter.State(w.clock.Now(), &plan.Rates[0]).Used; got != 2080 {
		t.Errorf("%d tokens count, want 2080", got)
	}
}
