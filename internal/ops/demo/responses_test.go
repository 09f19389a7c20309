package demo_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"sluice/internal/ops/demo"
)

type response struct {
	ID, Object, Status, Model string
	Incomplete                *struct{ Reason string } `json:"incomplete_details"`
	Output                    []item
	Store                     bool
	Usage                     *struct {
		Input  int64 `json:"input_tokens"`
		Output int64 `json:"output_tokens"`
		Total  int64 `json:"total_tokens"`
	}
}

type item struct {
	ID, Type, Status, Role string
	Content                []struct{ Type, Text string }
	CallID                 string `json:"call_id"`
	Name, Arguments        string
}

func TestResponses(t *testing.T) {
	t.Parallel()
	p := start(t, demo.Options{})
	cases := []struct {
		name, body, want string
		input, out       int64
	}{
		{"text", `{"model":"m","input":"hello there","instructions":"be kind"}`, `You said: "hello there". I got 2 messages for model m.`, 4, 11},
		{"items", `{"model":"m","input":[{"role":"user","content":[{"type":"input_text","text":"hi"}]},{"type":"item_reference","id":"x"}]}`, `You said: "hi". I got 1 message for model m.`, 1, 10},
		{"nothing to read", `{"model":"m","input":[{"type":"item_reference","id":"x"}]}`, `You said: "". I got 1 message for model m.`, 0, 10},
		{"JSON", `{"model":"m","input":"hi","text":{"format":{"type":"json_schema","name":"x","schema":{"type":"object","properties":{"a":{"type":"string"}}}}}}`, `{"a":"hi"}`, 1, 1},
		{"tool's result", `{"model":"m","input":[{"role":"user","content":"get_time"},{"type":"function_call_output","call_id":"c","output":"noon"}]}`, `The tool said: noon`, 2, 4},
		{"call", `{"model":"m","input":"get_time now","tools":[{"type":"function","name":"get_time","parameters":{"type":"object","properties":{"zone":{"type":"string"}}}}]}`, `get_time({"zone":"get_time now"})`, 2, 3},
		{"chosen call", `{"model":"m","input":"now","tool_choice":{"type":"function","name":"b"},"tools":[{"type":"function","name":"a"},{"type":"function","name":"b"}]}`, `b({})`, 1, 2},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			p := provider{t, p.url}
			var r response
			p.post("/v1/responses", c.body, &r)
			if got := contentText(r); got != c.want || r.Status != "completed" || r.Object != "response" || r.Model != "m" || !r.Store {
				t.Errorf("got %s\nwant %s\n%+v", got, c.want, r)
			}
			if r.Usage.Input != c.input || r.Usage.Output != c.out || r.Usage.Total != c.input+c.out {
				t.Errorf("usage %+v", r.Usage)
			}
			var stored response
			p.get("/v1/responses/"+r.ID, &stored)
			if asJSON(stored) != asJSON(r) {
				t.Errorf("stored %+v", stored)
			}
			streamedResponse(p, c.body, r)
		})
	}
}

func contentText(r response) string {
	var b strings.Builder
	for _, it := range r.Output {
		if it.Type == "function_call" {
			b.WriteString(it.Name + "(" + it.Arguments + ")")
		}
		for _, c := range it.Content {
			b.WriteString(c.Text)
		}
	}
	return b.String()
}

// streamedResponse asks again with stream: events are numbered, the pieces make
// up the text, and the last event has the whole answer.
func streamedResponse(p provider, body string, want response) {
	p.t.Helper()
	var deltas strings.Builder
	events := p.events("/v1/responses", `{"stream":true,`+body[1:])
	types := map[string]int{}
	var last struct {
		Type     string
		Response response
	}
	for i, data := range events {
		var e struct {
			Type, Delta string
			Seq         int `json:"sequence_number"`
		}
		if err := json.Unmarshal([]byte(data), &e); err != nil || e.Seq != i {
			p.t.Fatalf("%v: event %d is %s", err, i, data)
		}
		types[e.Type]++
		deltas.WriteString(e.Delta)
		_ = json.Unmarshal([]byte(data), &last)
	}
	last.Response.ID = want.ID // each is stored under its own
	if last.Type != "response.completed" || asJSON(last.Response) != asJSON(want) {
		p.t.Errorf("streamed %+v\nwhole %+v", last, want)
	}
	if complete := contentText(want); deltas.String() != complete && want.Output[0].Name+"("+deltas.String()+")" != complete {
		p.t.Errorf("pieces %q of %q", deltas.String(), complete)
	}
	for _, once := range []string{"response.created", "response.in_progress", "response.output_item.added", "response.output_item.done"} {
		if types[once] != 1 {
			p.t.Errorf("%d events %s", types[once], once)
		}
	}
}

func TestResponseStates(t *testing.T) {
	t.Parallel()
	p := start(t, demo.Options{})
	var r response
	p.post("/v1/responses", `{"model":"m","input":"a b c","max_output_tokens":2,"store":false,"temperature":0.5,"metadata":{"k":"v"}}`, &r)
	if r.Status != "incomplete" || r.Incomplete.Reason != "max_output_tokens" || r.Usage.Output != 2 || r.Store {
		t.Errorf("%+v", r)
	}
	res, got := p.call(http.MethodGet, "/v1/responses/"+r.ID, "", nil)
	wantRefusal(t, res, got, 404, "id")
	if events := p.events("/v1/responses", `{"model":"m","input":"a b c","max_output_tokens":2,"stream":true}`); !strings.Contains(events[len(events)-1], `"type":"response.incomplete"`) {
		t.Errorf("last event %s", events[len(events)-1])
	}

	p.post("/v1/responses", `{"model":"m","input":"first"}`, &r)
	var next response
	p.post("/v1/responses", `{"model":"m","previous_response_id":"`+r.ID+`","input":[{"id":"msg_9","role":"user","content":"x"},{"id":"msg_10","type":"item_reference"}]}`, &next)
	var items list[map[string]any]
	p.get("/v1/responses/"+next.ID+"/input_items", &items)
	if len(items.Data) != 2 || items.Data[0]["content"] != "x" || *items.FirstID != "msg_9" || *items.LastID != "msg_10" || items.HasMore {
		t.Errorf("%+v", items)
	}
	var gone struct{ Deleted bool }
	p.into(http.MethodDelete, "/v1/responses/"+r.ID, "", nil, &gone)
	res, got = p.call(http.MethodGet, "/v1/responses/"+r.ID, "", nil)
	wantRefusal(t, res, got, 404, "id")
	if !gone.Deleted {
		t.Error("not deleted")
	}
}
