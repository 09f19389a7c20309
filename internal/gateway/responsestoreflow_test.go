package gateway_test

import (
	"context"
	"encoding/json"
	"log/slog"
	"strings"
	"testing"
	"time"

	"sluice/internal/domain/keys"
	"sluice/internal/gateway/responsestore"
	"sluice/internal/kernel/access"
	"sluice/internal/kernel/fault"
	"sluice/internal/kernel/ident"
	"sluice/internal/storage/sqlstore/storetest"
	"sluice/internal/test/upstream"
)

// keeping is a rig whose provider keeps no responses, and whose gateway keeps them.
func keeping(t *testing.T, rows responsestore.Database) *rig {
	t.Helper()
	r := newRig(t)
	r.up.Handle(geminiPath, upstream.Always(upstream.JSON(200, []byte(geminiResponse))))
	r.gateway.States = responsestore.New(rows, ident.System{}, slog.New(slog.DiscardHandler))
	r.gateway.Reassemble()
	return r
}

// written has everything written that was to be kept.
func (r *rig) written() {
	r.t.Helper()
	ctx, stop := context.WithCancel(context.Background())
	stop()
	if err := r.gateway.States.Run(ctx); err != nil {
		r.t.Fatal(err)
	}
}

const firstOf = `{"model":"gemini-2.5-flash","input":"First"}`

// What is kept in the database is there for its workspace, at a provider that has
// responses of its own too.
func TestKeptResponsesMove(t *testing.T) {
	t.Parallel()
	r := keeping(t, storetest.Open(t, storetest.SQLite(t)))
	id := idOf(t, r.call("POST", "/v1/responses", firstOf, r.gemini()...).Text)
	r.written()
	if a := r.call("GET", "/v1/responses/"+id, ""); a.StatusCode != 200 || !strings.Contains(a.Text, `"text":"Hello"`) {
		t.Errorf("%d %s", a.StatusCode, a.Text)
	}
	a := r.call("POST", "/v1/responses", `{"model":"gpt-4o-mini","input":"Second","previous_response_id":"`+id+`"}`, r.custom()...)
	if a.StatusCode != 200 {
		t.Fatalf("%d %s", a.StatusCode, a.Text)
	}
	const want = `"input":[{"type":"message","role":"user","content":[{"type":"input_text","text":"First"}]},` +
		`{"type":"message","role":"assistant","content":[{"type":"output_text","text":"Hello","annotations":[],"logprobs":[]}]},` +
		`{"type":"message","role":"user","content":"Second"}]`
	if sent := string(r.up.Seen()[1].Body); !strings.Contains(sent, want) || strings.Contains(sent, "previous_response_id") {
		t.Errorf("sent %s", sent)
	}

	const foreign = "sk-key-of-another-workspace-00"
	r.dir.add(keys.NewHasher([]byte("pepper of the tests")), foreign, access.WorkspaceService, ident.NewID(), "completions.write")
	for _, c := range [][2]string{{"GET", ""}, {"GET", "/input_items"}, {"DELETE", ""}} {
		if a := r.call(c[0], "/v1/responses/"+id+c[1], "", "x-gateway-api-key: "+foreign); a.StatusCode != 404 {
			t.Errorf("%s%s in another workspace: %d %s", c[0], c[1], a.StatusCode, a.Text)
		}
	}
	if a := r.call("GET", "/v1/responses/"+id, ""); a.StatusCode != 200 {
		t.Errorf("after that: %d %s", a.StatusCode, a.Text)
	}
}

// A database that takes no writes fails no answer: it says that it is not kept.
func TestResponsesWithoutDatabase(t *testing.T) {
	t.Parallel()
	r := keeping(t, readOnly{})
	r.call("POST", "/v1/responses", firstOf, r.gemini()...)
	r.written() // and so it is found to be away
	a := r.call("POST", "/v1/responses", firstOf, r.gemini()...)
	if a.StatusCode != 200 || !strings.Contains(a.Text, `"store":false`) || a.Header.Get("x-gateway-response-stored") != "false" {
		t.Errorf("%d %q %s", a.StatusCode, a.Header.Get("x-gateway-response-stored"), a.Text)
	}
	a = r.call("POST", "/v1/responses", strings.Replace(firstOf, "{", `{"store":false,`, 1), r.gemini()...)
	if a.StatusCode != 200 || a.Header.Get("x-gateway-response-stored") != "" {
		t.Errorf("nothing was to be kept: %d %q", a.StatusCode, a.Header.Get("x-gateway-response-stored"))
	}
	if a = r.call("DELETE", "/v1/responses/resp_gw1", ""); a.StatusCode != 503 {
		t.Errorf("delete: %d %s", a.StatusCode, a.Text)
	}
}

// readOnly is a database without its writer.
type readOnly struct{}

func (readOnly) SaveResponse(context.Context, string, string, time.Time, []byte, []byte) error {
	return fault.New(fault.ReadOnly, "")
}

func (readOnly) FindResponse(context.Context, string, string, time.Time) (input, response []byte, err error) {
	return nil, nil, fault.New(fault.NotFound, "")
}

func (readOnly) DeleteResponse(context.Context, string, string) error {
	return fault.New(fault.ReadOnly, "")
}

func (readOnly) SweepResponses(context.Context, time.Time) error { return nil }

// Libraries that were not told otherwise refer to what the model said before instead of
// saying it again. It is put in its place, whichever provider goes on; what is not kept is
// for the codec to refuse.
func TestKeptItemsAreReferredTo(t *testing.T) {
	t.Parallel()
	r := keeping(t, storetest.Open(t, storetest.SQLite(t)))
	const calls = `{"candidates":[{"content":{"role":"model","parts":[{"text":"Hm"},{"functionCall":{"name":"f","args":{"a":1}},"thoughtSignature":"c2ln"}]},"finishReason":"STOP","index":0}],"usageMetadata":{"totalTokenCount":6}}`
	r.up.Handle(geminiPath, upstream.InTurn(upstream.JSON(200, []byte(calls)), upstream.JSON(200, []byte(geminiResponse))))
	const tools = `"tools":[{"type":"function","name":"f","parameters":{"type":"object"}}]`
	first := r.call("POST", "/v1/responses", `{"model":"gemini-2.5-flash","input":"First",`+tools+`}`, r.gemini()...)
	r.written()
	var response struct {
		Output []struct {
			ID     string `json:"id"`
			CallID string `json:"call_id"`
		} `json:"output"`
	}
	if err := json.Unmarshal([]byte(first.Text), &response); err != nil || len(response.Output) != 2 {
		t.Fatalf("%v %s", err, first.Text)
	}
	message, call := response.Output[0], response.Output[1]
	second := func(model string) string {
		return `{"model":"` + model + `",` + tools + `,"input":[{"role":"user","content":"First"},{"type":"item_reference","id":"` + message.ID + `"},{"type":"item_reference","id":"` + call.ID + `"},` +
			`{"type":"function_call_output","call_id":"` + call.CallID + `","output":"done"}]}`
	}
	if a := r.call("POST", "/v1/responses", second("gemini-2.5-flash"), r.gemini()...); a.StatusCode != 200 {
		t.Fatalf("%d %s", a.StatusCode, a.Text)
	}
	if sent := string(r.up.Seen()[1].Body); !strings.Contains(sent, `{"text":"Hm"},{"functionCall":{`) || !strings.Contains(sent, `"thoughtSignature":"c2ln"`) || !strings.Contains(sent, `"functionResponse"`) {
		t.Errorf("sent %s", sent)
	}
	if a := r.call("POST", "/v1/responses", second("gpt-4o-mini"), r.custom()...); a.StatusCode != 200 {
		t.Fatalf("%d %s", a.StatusCode, a.Text)
	}
	if sent := string(r.up.Seen()[2].Body); strings.Contains(sent, "item_reference") || !strings.Contains(sent, `{"type":"function_call","call_id":"`+call.CallID+`","name":"f","arguments":"{\"a\":1}"}`) {
		t.Errorf("sent %s", sent)
	}

	const foreign = "sk-key-of-another-workspace-00"
	r.dir.add(keys.NewHasher([]byte("pepper of the tests")), foreign, access.WorkspaceService, ident.NewID(), "completions.write")
	for id, key := range map[string]string{call.ID: foreign, "fc_" + strings.Repeat("0", 48): "", call.ID + "0": ""} {
		headers := r.gemini()
		if key != "" {
			headers = append(headers, "x-gateway-api-key: "+key)
		}
		a := r.call("POST", "/v1/responses", strings.ReplaceAll(second("gemini-2.5-flash"), call.ID, id), headers...)
		if a.StatusCode != 400 || !strings.Contains(a.Text, "item_reference") {
			t.Errorf("%s with %q: %d %s", id, key, a.StatusCode, a.Text)
		}
	}
}
