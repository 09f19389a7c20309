package batch_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"sluice/internal/domain/batch"
	"sluice/internal/kernel/jsonedit"
)

// Whatever the order of the lines, each counts once, and the stored form has the same lines.
func TestProgress_IsTheSetOfAddedLines(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		const total = 40
		p, want, ok := batch.Progress{Total: total}, map[int64]bool{}, int64(0)
		for range rapid.IntRange(0, 80).Draw(t, "additions") {
			line, success := rapid.Int64Range(0, total-1).Draw(t, "line"), rapid.Bool().Draw(t, "success")
			if added := p.Add(line, success); added == want[line] {
				t.Fatalf("line %d added: %v", line, added)
			} else if added && success {
				ok++
			}
			want[line] = true
		}
		text, err := json.Marshal(p)
		if err != nil {
			t.Fatal(err)
		}
		var stored batch.Progress
		if err := json.Unmarshal(text, &stored); err != nil {
			t.Fatal(err)
		}
		for line := range int64(total) {
			if p.Has(line) != want[line] || stored.Has(line) != want[line] {
				t.Errorf("line %d: %v, stored %v, want %v", line, p.Has(line), stored.Has(line), want[line])
			}
		}
		if p.Completed != ok || p.Completed+p.Failed != int64(len(want)) || p.Done() != (len(want) == total) {
			t.Errorf("%+v", p)
		}
		if len(want) == total && len(p.Ahead) != 0 {
			t.Errorf("after the last line: %+v", p)
		}
	})
}

func TestResults_AreLinesInTheFormatOfOpenAI(t *testing.T) {
	t.Parallel()
	for want, r := range map[string]batch.LineResult{
		`{"id":"i","custom_id":"a\"b","response":{"status_code":200,"request_id":"r","body":{"x":1}},"error":null}`: {CustomID: `a"b`, Response: &batch.Response{Status: 200, RequestID: "r", Body: []byte("{\n \"x\": 1}")}},
		`{"id":"i","custom_id":"c","response":{"status_code":502,"request_id":"","body":"<html>\n"},"error":null}`:  {CustomID: "c", Response: &batch.Response{Status: 502, Body: []byte("<html>\n")}},
		`{"id":"i","custom_id":"d","response":{"status_code":204,"request_id":"r","body":null},"error":null}`:       {CustomID: "d", Response: &batch.Response{Status: 204, RequestID: "r"}},
		`{"id":"i","custom_id":"e","response":null,"error":{"code":"batch_expired","message":"too late"}}`:          {CustomID: "e", Error: &batch.LineError{Code: "batch_expired", Message: "too late"}},
	} {
		got := string(r.Append(nil, "i"))
		if got != want+"\n" {
			t.Errorf("%s, want %s", got, want)
		}
		back := batch.ReadResult([]byte(got))
		if back.CustomID != r.CustomID || back.Response.OK() != r.Response.OK() || (back.Error == nil) != (r.Error == nil) {
			t.Errorf("read again: %+v", back)
		}
	}
}

func TestBatch_EndsOnceAndIsNotCancelledAfterwards(t *testing.T) {
	t.Parallel()
	now := time.Now()
	b := &batch.Batch{State: batch.InProgress}
	b.EndAs(batch.End{State: batch.Completed}, now)
	b.EndAs(batch.End{State: batch.Failed}, now)
	b.Cancel(now)
	if b.State != batch.Finalizing || b.End.State != batch.Completed {
		t.Errorf("%s, %+v", b.State, b.End)
	}
	b.Close(now)
	b.EndAs(batch.End{State: batch.Failed}, now)
	b.Cancel(now)
	if b.State != batch.Completed || !b.State.Ended() {
		t.Error(b.State)
	}
}

// Input of callers and providers is never a reason to crash, and a valid line is what it seems.
func FuzzLines(f *testing.F) {
	f.Add([]byte(`{"custom_id":"a","method":"POST","url":"https://api.openai.com/v1/chat/completions","body":{"model":"m"}}`))
	f.Add([]byte(`{"custom_id":"a","response":{"status_code":1e99,"body":[]},"error":{"code":1}}`))
	f.Add([]byte(`{"body":{"stream":true},"url":"%zz"}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		if l, err := batch.ReadLine(0, text, "/v1/chat/completions"); err == nil && (l.CustomID == "" || !jsonedit.Valid(l.Body)) {
			t.Errorf("%q is valid: %+v", text, l)
		}
		r := batch.ReadResult(text)
		if line := string(r.Append(nil, "i")); !json.Valid([]byte(line)) || strings.Count(line, "\n") != 1 {
			t.Errorf("%q becomes %q", text, line)
		}
	})
}
