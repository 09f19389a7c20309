package responsestore

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"sluice/internal/dialect"
	"sluice/internal/dialect/responses"
	"sluice/internal/kernel/fault"
	"sluice/internal/kernel/ident"
	"sluice/internal/kernel/jsonedit"
	"sluice/internal/kernel/llm"
	"sluice/internal/kernel/wire"
)

// memoryResponses keeps responses in memory, and can be away.
type memoryResponses struct {
	mu   sync.Mutex // guards the rest
	rows map[string][2][]byte
	err  error
	gate chan struct{} // nil, or closed when writes may go on

	deleting func() // nil, or called before a row is taken out
}

func newMemoryResponses() *memoryResponses { return &memoryResponses{rows: map[string][2][]byte{}} }

func (s *memoryResponses) fail(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.err = err
}

func (s *memoryResponses) SaveResponse(_ context.Context, workspace, id string, _ time.Time, input, response []byte) error {
	s.mu.Lock()
	gate := s.gate
	s.mu.Unlock()
	if gate != nil {
		<-gate
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.err == nil {
		s.rows[workspace+"/"+id] = [2][]byte{input, response}
	}
	return s.err
}

func (s *memoryResponses) FindResponse(_ context.Context, workspace, id string, _ time.Time) (input, response []byte, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	row, ok := s.rows[workspace+"/"+id]
	if !ok {
		return nil, nil, fault.New(fault.NotFound, "")
	}
	return row[0], row[1], nil
}

func (s *memoryResponses) DeleteResponse(_ context.Context, workspace, id string) error {
	if s.deleting != nil {
		s.deleting()
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, ok := s.rows[workspace+"/"+id]; !ok {
		return fault.New(fault.NotFound, "")
	}
	delete(s.rows, workspace+"/"+id)
	return nil
}

func (s *memoryResponses) SweepResponses(context.Context, time.Time) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.rows["swept"] = [2][]byte{}
	return s.err
}

func (s *memoryResponses) count() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.rows)
}

func newTestStore(s *memoryResponses) *Store {
	return New(s, ident.System{}, slog.New(slog.DiscardHandler))
}

// running runs a store inside a bubble until stop is called.
func running(t *testing.T, k *Store) (stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error)
	go func() { ended <- k.Run(ctx) }()
	return func() {
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	}
}

const old = "resp_gw019000000000" // of 2024

func TestStore_WritesBehind(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newMemoryResponses()
		k := newTestStore(s)
		if err := k.save("w", old, []byte("[]"), []byte("{}")); err != nil {
			t.Fatal(err)
		}
		if input, out, err := k.find(t.Context(), "w", old); err != nil || string(input) != "[]" || string(out) != "{}" {
			t.Errorf("before it is written: %s %s %v", input, out, err)
		}
		if _, _, err := k.find(t.Context(), "other", old); !fault.Has(err, fault.NotFound) {
			t.Errorf("another workspace: %v", err)
		}
		stop := running(t, k)
		synctest.Wait()
		if s.count() != 1 || k.count() != 0 || k.bytes != 0 {
			t.Errorf("%d written, %d waiting", s.count(), k.count())
		}
		if _, out, err := k.find(t.Context(), "w", old); err != nil || string(out) != "{}" {
			t.Errorf("after it was written: %s %v", out, err)
		}
		time.Sleep(sweepInterval)
		synctest.Wait()
		if s.count() != 2 {
			t.Error("nothing was swept")
		}
		stop()
	})
}

// A database that is away takes nothing new, and gets what waits when it is back.
func TestStore_WithoutDatabase(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newMemoryResponses()
		s.fail(fault.New(fault.ReadOnly, ""))
		k := newTestStore(s)
		defer running(t, k)()
		if err := k.save("w", old, nil, []byte("{}")); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		if k.ready() || k.save("w", old+"1", nil, []byte("{}")) == nil {
			t.Error("something is taken in that cannot be written")
		}
		if _, _, err := k.find(t.Context(), "w", old); err != nil {
			t.Errorf("what waits: %v", err)
		}
		s.fail(nil)
		time.Sleep(2 * retryInterval)
		synctest.Wait()
		if !k.ready() || s.count() != 1 || k.count() != 0 {
			t.Errorf("%d written, %d waiting", s.count(), k.count())
		}
	})
}

// What can never be written does not hold up the rest.
func TestStore_DropsWhatCannotBeWritten(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newMemoryResponses()
		s.fail(fault.New(fault.TooLarge, ""))
		k := newTestStore(s)
		defer running(t, k)()
		if err := k.save("w", old, nil, []byte("{}")); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		if !k.ready() || k.count() != 0 {
			t.Errorf("%d waiting", k.count())
		}
	})
}

func TestStore_EndsWithEverythingWritten(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newMemoryResponses()
		s.fail(fault.New(fault.Overloaded, ""))
		k := newTestStore(s)
		stop := running(t, k)
		if err := k.save("w", old, nil, []byte("{}")); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		s.fail(nil)
		stop()
		if s.count() != 1 {
			t.Error("what waited was not written")
		}
	})
}

func TestStore_HasALimit(t *testing.T) {
	t.Parallel()
	k := newTestStore(newMemoryResponses())
	payload := make([]byte, maxPendingBytes/2)
	for i, want := range []bool{true, true, false} {
		if err := k.save("w", fmt.Sprint(old, i), payload, nil); (err == nil) != want {
			t.Errorf("number %d: %v", i, err)
		}
	}
	if k.ready() {
		t.Error("a full store is ready")
	}
	if (*Store)(nil).ready() {
		t.Error("no store is ready")
	}
}

// One that was deleted while it was being written is found by nobody, also not between
// its writing and its deletion.
func TestDeletedWhileWritten(t *testing.T) {
	t.Parallel()
	rows := newMemoryResponses()
	k := New(rows, ident.System{}, slog.New(slog.DiscardHandler))
	if err := k.save("w", "r", []byte("[]"), []byte("{}")); err != nil {
		t.Fatal(err)
	}
	if err := k.remove(t.Context(), "w", "r"); err != nil {
		t.Fatal(err)
	}
	checked := false
	rows.deleting = func() {
		checked = true
		if _, _, err := k.find(t.Context(), "w", "r"); !fault.Has(err, fault.NotFound) {
			t.Errorf("found before it was deleted: %v", err)
		}
	}
	k.flush(t.Context())
	if !checked || k.count() != 0 || len(rows.rows) != 0 {
		t.Errorf("deleted %v, %d wait, %d kept", checked, k.count(), len(rows.rows))
	}
}

// A response is gone once it was deleted, wherever it was at that moment.
func TestStore_Deletes(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newMemoryResponses()
		s.gate = make(chan struct{})
		k := newTestStore(s)
		defer running(t, k)()
		if err := k.save("w", old, nil, []byte("{}")); err != nil {
			t.Fatal(err)
		}
		synctest.Wait() // it is being written
		if err := k.remove(t.Context(), "w", old); err != nil {
			t.Errorf("while it waits: %v", err)
		}
		gone := func(when string) {
			t.Helper()
			if _, _, err := k.find(t.Context(), "w", old); !fault.Has(err, fault.NotFound) {
				t.Errorf("%s: %v", when, err)
			}
			if err := k.remove(t.Context(), "w", old); !fault.Has(err, fault.NotFound) {
				t.Errorf("again, %s: %v", when, err)
			}
		}
		gone("while it waits")
		close(s.gate)
		synctest.Wait()
		gone("after it was written")
		if s.count() != 0 {
			t.Error("it is still there")
		}
	})
}

// A response that another node made a moment ago is waited for, an old one is not.
func TestStore_WaitsForOtherNodes(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newMemoryResponses()
		k := newTestStore(s)
		id := responses.ID(fmt.Sprintf("%012x7b6f9d2a0c6d8a", time.Now().UnixMilli()))
		go func() {
			time.Sleep(3*otherPause + time.Millisecond)
			if err := s.SaveResponse(t.Context(), "w", id, time.Time{}, nil, []byte("{}")); err != nil {
				t.Error(err)
			}
		}()
		began := time.Now()
		if _, _, err := k.find(t.Context(), "w", id); err != nil || time.Since(began) != 4*otherPause {
			t.Errorf("%v after %v", err, time.Since(began))
		}
		for _, id := range []string{old, "resp_gwxyz", "resp_gw" + strings.Repeat("z", 26), "resp_1", ""} {
			began = time.Now()
			if _, _, err := k.find(t.Context(), "w", id); !fault.Has(err, fault.NotFound) || time.Since(began) != 0 {
				t.Errorf("%q: %v after %v", id, err, time.Since(began))
			}
		}
		began = time.Now()
		if _, _, err := k.find(t.Context(), "other", id); !fault.Has(err, fault.NotFound) || time.Since(began) != otherTries*otherPause {
			t.Errorf("nobody's: %v after %v", err, time.Since(began))
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if _, _, err := k.find(ctx, "other", id); !fault.Has(err, fault.ClientGone) || !errors.Is(err, context.Canceled) {
			t.Errorf("a caller who left: %v", err)
		}
	})
}

// continueConversation makes a call and keeps its answer.
func continueConversation(t *testing.T, k *Store, body, id, output string) *Conversation {
	t.Helper()
	c, err := k.Begin(t.Context(), "w", []byte(body))
	if err != nil {
		t.Fatalf("%v\n%s", err, body)
	}
	if !jsonedit.Valid(c.body) {
		t.Fatalf("no JSON: %s", c.body)
	}
	response := []byte(`{"id":"` + id + `","object":"response","output":` + output + `,"store":true}`)
	if got := c.SaveResponse(response); string(got) != string(response) {
		t.Fatalf("it is not kept: %s", got)
	}
	return c
}

// A conversation goes on from what was said, in three steps.
func TestConversation(t *testing.T) {
	t.Parallel()
	k := newTestStore(newMemoryResponses())
	one, two, three := responses.ID("1"), responses.ID("2"), responses.ID("3")
	c := continueConversation(t, k, `{"model":"m","input":"Weather?"}`, one,
		`[{"id":"rs_1","type":"reasoning","summary":[],"encrypted_content":"EqQB"},{"id":"ig_1","type":"image_generation_call","result":"aGk="},{"id":"fc_1","type":"function_call","call_id":"c1","name":"f","arguments":"{}","status":"completed"}]`)
	if string(c.body) != `{"model":"m","input":"Weather?"}` || c.previous != "" || !c.store {
		t.Errorf("the first call: %s %+v", c.body, c)
	}
	c = continueConversation(t, k, `{"model":"m","previous_response_id":"`+one+`","input":[{"type":"function_call_output","call_id":"c1","output":"warm"}],"instructions":"Be brief"}`, two,
		`[{"id":"msg_2","type":"message","role":"assistant","status":"completed","content":[{"type":"output_text","text":"It is warm","annotations":[]}]}]`)
	want := `{"model":"m","input":[{"type":"message","role":"user","content":[{"type":"input_text","text":"Weather?"}],"id":"msg_1i0","status":"completed"},` +
		`{"id":"rs_1","type":"reasoning","summary":[],"encrypted_content":"EqQB"},{"id":"fc_1","type":"function_call","call_id":"c1","name":"f","arguments":"{}","status":"completed"},` +
		`{"type":"function_call_output","call_id":"c1","output":"warm"}],"instructions":"Be brief"}`
	if string(c.body) != want || c.previous != one {
		t.Errorf("the second call:\n%s\nwant\n%s", c.body, want)
	}
	c = continueConversation(t, k, `{"previous_response_id":"`+two+`","input":"Thanks","model":"m"}`, three, `[]`)
	call, err := responses.Client().DecodeCall(c.body)
	if err != nil {
		t.Fatal(err)
	}
	roles := ""
	for _, m := range call.Messages {
		roles += string(m.Role) + " "
	}
	if roles != "user assistant tool assistant user " {
		t.Errorf("the third call: %s", roles)
	}
}

// A call that says nothing of the gateway's responses is left as it is.
func TestConversationOfItsOwn(t *testing.T) {
	t.Parallel()
	k := newTestStore(newMemoryResponses())
	for body, store := range map[string]bool{
		`{"input":"x"}`: true, `{"input":"x","store":true}`: true, `{"input":"x","store":null,"previous_response_id":null}`: true, `{"input":"x","store":false}`: false,
	} {
		c, err := k.Begin(t.Context(), "w", []byte(body))
		if err != nil || string(c.body) != body || c.store != store || c.rejected {
			t.Errorf("%s: %+v %v", body, c, err)
		}
	}
	c, err := (*Store)(nil).Begin(t.Context(), "w", []byte(`{"input":"x"}`))
	if err != nil || c.store || c.rejected {
		t.Errorf("without a store: %+v %v", c, err)
	}
	var none *Conversation
	if string(none.SaveResponse([]byte("{}"))) != "{}" || len(none.AppendHeader(nil)) != 0 {
		t.Error("a call of another kind is changed")
	}
	none.SaveStream(nil)
}

func TestConversationRefuses(t *testing.T) {
	t.Parallel()
	k := newTestStore(newMemoryResponses())
	continueConversation(t, k, `{"input":"x"}`, old, `[]`)
	for name, c := range map[string]struct{ workspace, body string }{
		"unknown":              {"w", `{"input":"x","previous_response_id":"resp_gw0"}`},
		"another's":            {"other", `{"input":"x","previous_response_id":"` + old + `"}`},
		"the provider's own":   {"w", `{"input":"x","previous_response_id":"resp_67"}`},
		"no text":              {"w", `{"input":"x","previous_response_id":7}`},
		"an input that is not": {"w", `{"input":7,"previous_response_id":"` + old + `"}`},
	} {
		b, err := k.Begin(t.Context(), c.workspace, []byte(c.body))
		if err == nil {
			_, err = responses.Client().DecodeCall(b.body)
		}
		if f := fault.From(err); f == nil || f.Code != fault.InvalidParameter || f.Param == "" {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// When nothing can be kept the answer says so, and is given all the same.
func TestUnkept(t *testing.T) {
	t.Parallel()
	k := newTestStore(newMemoryResponses())
	c, err := k.Begin(t.Context(), "w", []byte(`{"input":"x"}`))
	if err != nil {
		t.Fatal(err)
	}
	k.logOutage(fault.New(fault.ReadOnly, "")) // while the provider thinks
	if got := c.SaveResponse([]byte(`{"id":"resp_gw1","store":true,"output":[]}`)); string(got) != `{"id":"resp_gw1","store":false,"output":[]}` {
		t.Errorf("%s", got)
	}
	if h := c.AppendHeader(nil); h.Get("x-gateway-response-stored") != "false" {
		t.Errorf("header %v", h)
	}
	c, err = k.Begin(t.Context(), "w", []byte(`{"input":"x"}`))
	if err != nil || c.store || c.AppendHeader(wire.Header{}).Get("x-gateway-response-stored") != "false" {
		t.Errorf("the next call: %+v %v", c, err)
	}
	if c, err = k.Begin(t.Context(), "w", []byte(`{"input":"x","store":false}`)); err != nil || len(c.AppendHeader(nil)) != 0 {
		t.Errorf("a caller who wants nothing kept: %+v %v", c, err)
	}
}

// A provider with responses of its own gets what it can understand.
func TestConversationGoesElsewhere(t *testing.T) {
	t.Parallel()
	k := newTestStore(newMemoryResponses())
	continueConversation(t, k, `{"input":"Weather?"}`, old, `[{"id":"rs_1","type":"reasoning","summary":[],"encrypted_content":"EqQB"},{"id":"msg_1","type":"message","status":"completed","role":"assistant","content":[{"type":"output_text","text":"Warm"}]}]`)
	native := func(body string) string {
		t.Helper()
		var d jsonedit.Doc
		if err := jsonedit.Scan([]byte(body), &d); err != nil {
			t.Fatal(err)
		}
		edits, err := k.Edits(t.Context(), "w", llm.CreateModelResponse, &d)
		if err != nil {
			t.Fatal(err)
		}
		return string(d.Apply(edits))
	}
	want := `{"input":[{"type":"message","role":"user","content":[{"type":"input_text","text":"Weather?"}]},{"type":"message","role":"assistant","content":[{"type":"output_text","text":"Warm"}]},{"type":"message","role":"user","content":"Thanks"}]}`
	if got := native(`{"previous_response_id":"` + old + `","input":"Thanks"}`); got != want {
		t.Errorf("got %s\nwant %s", got, want)
	}
	for _, same := range []string{`{"previous_response_id":"resp_67","input":"Thanks"}`, `{"input":"Thanks"}`} {
		if got := native(same); got != same {
			t.Errorf("%s became %s", same, got)
		}
	}
}

func TestServes(t *testing.T) {
	t.Parallel()
	k := newTestStore(newMemoryResponses())
	for path, want := range map[string]bool{
		"GET /responses/" + old: true, "DELETE /responses/" + old: true, "GET /responses/" + old + "/input_items": true,
		"GET /responses/resp_67": false, "POST /responses": false, "GET /files/" + old: false,
	} {
		method, path, _ := strings.Cut(path, " ")
		if got := k.Serves(llm.Lookup(method, path)); got != want {
			t.Errorf("%s %s: %v", method, path, got)
		}
	}
}

func TestAnswers(t *testing.T) {
	t.Parallel()
	k := newTestStore(newMemoryResponses())
	continueConversation(t, k, `{"input":[{"role":"user","content":"a"},{"role":"assistant","content":"b"},{"id":"own","role":"user","content":[{"type":"input_text","text":"c"}]}]}`, old, `[]`)
	ask := func(workspace, method, path, query string) (map[string]any, error) {
		t.Helper()
		body, err := k.Respond(t.Context(), workspace, llm.Lookup(method, path), query)
		if err != nil {
			return nil, err
		}
		var m map[string]any
		if err := json.Unmarshal(body, &m); err != nil {
			t.Fatalf("%v in %s", err, body)
		}
		return m, nil
	}
	resp, err := ask("w", "GET", "/responses/"+old, "include=reasoning.encrypted_content")
	if err != nil || resp["id"] != old {
		t.Errorf("%v %v", resp, err)
	}
	items := "/responses/" + old + "/input_items"
	made := strings.TrimPrefix(old, "resp_gw")
	for query, want := range map[string]string{
		"":                                   "own msg_" + made + "i1 msg_" + made + "i0 own msg_" + made + "i0 false",
		"order=asc&limit=2":                  "msg_" + made + "i0 msg_" + made + "i1 msg_" + made + "i0 msg_" + made + "i1 true",
		"order=asc&after=msg_" + made + "i1": "own own own false",
		"after=msg_" + made + "i0":           "<nil> <nil> false",
		"limit=1":                            "own own own true",
	} {
		got, err := ask("w", "GET", items, query)
		if err != nil {
			t.Errorf("%s: %v", query, err)
			continue
		}
		line := ""
		for _, item := range got["data"].([]any) {
			line += item.(map[string]any)["id"].(string) + " "
		}
		if line += fmt.Sprint(got["first_id"], " ", got["last_id"], " ", got["has_more"]); line != want {
			t.Errorf("%s: %s, want %s", query, line, want)
		}
	}
	for _, query := range []string{"limit=0", "limit=101", "limit=x", "order=up", "after=nobody"} {
		if _, err := ask("w", "GET", items, query); !fault.Has(err, fault.InvalidParameter) {
			t.Errorf("%s: %v", query, err)
		}
	}
	if _, err := ask("w", "GET", "/responses/"+old, "stream=true"); !fault.Has(err, fault.InvalidParameter) {
		t.Errorf("as a stream: %v", err)
	}
	for _, path := range []string{"/responses/" + old, items} {
		if _, err := ask("other", "GET", path, ""); !fault.Has(err, fault.NotFound) {
			t.Errorf("another workspace: %v", err)
		}
	}
	if _, err := ask("other", "DELETE", "/responses/"+old, ""); !fault.Has(err, fault.NotFound) {
		t.Errorf("another workspace deletes: %v", err)
	}
	if got, err := ask("w", "DELETE", "/responses/"+old, ""); err != nil || got["deleted"] != true || got["id"] != old {
		t.Errorf("%v %v", got, err)
	}
	if _, err := ask("w", "GET", "/responses/"+old, ""); !fault.Has(err, fault.NotFound) {
		t.Errorf("after it was deleted: %v", err)
	}
}

// A stream is kept when it has come to its end, once.
func TestStreamIsKept(t *testing.T) {
	t.Parallel()
	k := newTestStore(newMemoryResponses())
	c, err := k.Begin(t.Context(), "w", []byte(`{"model":"m","input":"x"}`))
	if err != nil {
		t.Fatal(err)
	}
	call, err := responses.Client().DecodeCall(c.body)
	if err != nil {
		t.Fatal(err)
	}
	a := &dialect.ResponseContext{Call: call, ID: "01900000000070008000000000"}
	c.SetContext(a)
	enc := responses.Client().NewEncoder(a)
	for _, ev := range []llm.Event{{Kind: llm.EventStart}, {Kind: llm.EventText, Text: "Hi"}, {Kind: llm.EventFinish}, {Kind: llm.EventEnd}} {
		enc.Append(nil, &ev)
		c.SaveStream(enc)
	}
	c.SaveStream(enc)
	_, out, err := k.find(t.Context(), "w", responses.ID(a.ID))
	if err != nil || !strings.Contains(string(out), `"text":"Hi"`) || !strings.Contains(string(out), `"store":true`) || k.count() != 1 {
		t.Errorf("%d kept: %s %v", k.count(), out, err)
	}
}
