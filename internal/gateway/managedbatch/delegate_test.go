package managedbatch_test

import (
	"context"
	"errors"
	"io"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"sluice/internal/domain/batch"
	"sluice/internal/gateway/managedbatch"
	"sluice/internal/kernel/llm"
)

// provider runs batches: it stores one uploaded file and one batch.
type provider struct {
	mu       sync.Mutex // guards what follows
	uploads  []string
	created  int
	status   string
	output   string
	failing  int   // status of the creation; 0 for success
	createIn error // error of the creation
}

func (p *provider) respond(_ context.Context, c *managedbatch.Call, body string) (*managedbatch.Response, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch c.Method + " " + c.Path {
	case "POST /v1/files":
		p.uploads = append(p.uploads, body)
		return response(200, `{"id":"file-1"}`), nil
	case "POST /v1/batches":
		p.created++
		switch {
		case p.createIn != nil:
			return nil, p.createIn
		case p.failing != 0:
			return response(p.failing, `{"error":{"message":"no batches here"}}`), nil
		}
		return response(200, `{"id":"batch/1"}`), nil
	case "POST /v1/batches/batch%2F1/cancel":
		p.status = "cancelled"
		return response(200, `{}`), nil
	case "GET /v1/batches/batch%2F1":
		return response(200, `{"status":"`+p.status+`","output_file_id":"out","request_counts":{"completed":1}}`), nil
	case "GET /v1/batches/batch%2F1/output":
		_, err := io.WriteString(c.To, p.output)
		return response(200, ""), err
	}
	return response(404, `{"error":{"message":"unexpected call"}}`), nil
}

func (p *provider) set(change func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	change()
}

// wordJudge denies requests and responses with "bad", and replaces "secret".
type wordJudge struct{}

func (wordJudge) JudgeRequest(_ context.Context, c *managedbatch.Call) (*managedbatch.Judgement, error) {
	body, err := io.ReadAll(c.Body)
	if err != nil {
		return nil, err
	}
	return judged(string(body)), nil
}

func (wordJudge) JudgeResponse(_ context.Context, _ *managedbatch.Call, body []byte) (*managedbatch.Judgement, error) {
	return judged(string(body)), nil
}

func judged(text string) *managedbatch.Judgement {
	switch {
	case strings.Contains(text, "bad"):
		return &managedbatch.Judgement{Denial: &batch.Response{Status: 446, RequestID: "r", Body: []byte(`{"error":"denied"}`)}}
	case strings.Contains(text, "secret"):
		return &managedbatch.Judgement{Body: []byte(strings.ReplaceAll(text, "secret", "***"))}
	}
	return &managedbatch.Judgement{}
}

func inputLine(id, text string) string {
	return `{"custom_id":"` + id + `","method":"POST","url":"/v1/chat/completions","body":{"model":"m","text":"` + text + `"}}` + "\n"
}

func resultLine(id, text string) string {
	return `{"id":"x","custom_id":"` + id + `","response":{"status_code":200,"request_id":"q","body":{"text":"` + text + `"}},"error":null}` + "\n"
}

func TestDelegatedBatch_SendsAndReturnsWhatGuardrailsAllow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &provider{status: "in_progress", output: resultLine("a", "fine") + resultLine("c", "a secret") + resultLine("d", "bad") + resultLine("unknown", "x")}
		n := newNode(t, newMemory(), &executor{respond: p.respond}, wordJudge{})
		defer n.start()()
		id := n.create("24h", inputLine("a", "one")+inputLine("b", "bad")+inputLine("c", "my secret")+inputLine("d", "four")+inputLine("e", "five"), `{"provider":"openai"}`)
		time.Sleep(time.Minute)
		if o := n.batch(id); o.Status != "in_progress" || o.Counts.Completed != 1 || o.Counts.Failed != 1 {
			t.Errorf("while the provider works: %+v", o)
		}
		p.set(func() { p.status = "completed" })
		o := n.await(id)
		n.check(o, "completed", 5, 2, 3)
		if up := p.uploads[0]; strings.Contains(up, "bad") || strings.Contains(up, "secret") || !strings.Contains(up, "my ***") || strings.Count(up, "custom_id") != 4 {
			t.Errorf("uploaded %s", up)
		}
		if r := n.rows(o.Output)["c"]; string(r.Response.Body) != `{"text":"a ***"}` {
			t.Errorf("a replaced response: %s", r.Response.Body)
		}
		failed := n.rows(o.Error)
		if failed["b"].Response.Status != 446 || failed["d"].Response.Status != 446 || failed["e"].Error.Code != "no_result" {
			t.Errorf("%+v", failed)
		}
	})
}

func TestDelegatedBatch_WithoutAnAllowedLineIsNotSent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &provider{}
		n := newNode(t, newMemory(), &executor{respond: p.respond}, wordJudge{})
		defer n.start()()
		n.check(n.await(n.create("24h", inputLine("a", "bad"), "{}")), "completed", 1, 0, 1)
		if len(n.exec.calls()) != 0 {
			t.Errorf("calls: %q", n.exec.calls())
		}
	})
}

func TestDelegatedBatch_IsCancelledAtTheProvider(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &provider{status: "in_progress", output: resultLine("a", "fine")}
		n := newNode(t, newMemory(), &executor{respond: p.respond}, noJudge{})
		defer n.start()()
		id := n.create("24h", inputLine("a", "one")+inputLine("b", "two"), "{}")
		time.Sleep(time.Minute)
		n.must(llm.CancelBatch, func(r *managedbatch.Request) { r.Match.ID = id })
		o := n.await(id)
		n.check(o, "cancelled", 2, 1, 1)
		if code := n.rows(o.Error)["b"].Error.Code; code != "batch_cancelled" {
			t.Error(code)
		}
	})
}

func TestDelegatedBatch_FailsWithTheProvidersReason(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &provider{failing: 400}
		n := newNode(t, newMemory(), &executor{respond: p.respond}, noJudge{})
		defer n.start()()
		o := n.await(n.create("24h", inputLine("a", "one"), "{}"))
		n.check(o, "failed", 1, 0, 1)
		if o.Errors.Data[0].Message != "cannot create the batch at the provider: no batches here" {
			t.Errorf("%+v", o.Errors)
		}
	})
}

// The provider may run a batch whose creation was interrupted, so it is not created twice.
func TestDelegatedBatch_IsNotCreatedTwice(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &provider{createIn: errors.New("connection lost")}
		n := newNode(t, newMemory(), &executor{respond: p.respond}, noJudge{})
		defer n.start()()
		o := n.await(n.create("24h", inputLine("a", "one"), "{}"))
		if o.Status != "failed" || o.Errors.Data[0].Code != "interrupted" || p.created != 1 || len(p.uploads) != 1 {
			t.Errorf("%+v after %d creations and %d uploads", o, p.created, len(p.uploads))
		}
	})
}

// A provider that is busy is asked again until it accepts the batch.
func TestDelegatedBatch_WaitsForABusyProvider(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &provider{failing: 429, status: "completed", output: resultLine("a", "fine")}
		n := newNode(t, newMemory(), &executor{respond: p.respond}, noJudge{})
		defer n.start()()
		id := n.create("24h", inputLine("a", "one"), "{}")
		time.Sleep(time.Minute)
		p.set(func() { p.failing = 0 })
		n.check(n.await(id), "completed", 1, 1, 0)
		if p.created < 2 || len(p.uploads) != 1 {
			t.Errorf("%d creations and %d uploads", p.created, len(p.uploads))
		}
	})
}
