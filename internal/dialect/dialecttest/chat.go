package dialecttest

import (
	"slices"
	"strings"
	"testing"

	"sluice/internal/dialect"
	"sluice/internal/kernel/fault"
	"sluice/internal/kernel/llm"
)

// Chat proves what becomes of chat completions at a provider, and of its answers.
type Chat struct {
	Client   dialect.Client   // of chat completions
	Upstream dialect.Upstream // under test
	To       *dialect.Target
}

// ToolConversation is a list of messages with a tool call and its result.
const ToolConversation = `{"role":"user","content":"x"},{"role":"assistant","tool_calls":[{"id":"a","type":"function","function":{"name":"f","arguments":"{}"}}]},{"role":"tool","tool_call_id":"a","content":"1"}`

// Encode puts a request of chat completions; its fields beside the messages, when the
// messages are not given.
func (p Chat) Encode(t *testing.T, fields string) (*dialect.Outgoing, error) {
	t.Helper()
	if !strings.Contains(fields, `"messages"`) {
		fields = `"messages":[{"role":"user","content":"x"}],` + fields
	}
	c, err := p.Client.DecodeCall([]byte("{" + fields + "}"))
	if err != nil {
		t.Fatal(err)
	}
	to := *p.To
	to.Stream = c.Stream
	return p.Upstream.EncodeCall(t.Context(), c, &to)
}

// Request proves what is sent for the fields, and what is named as lost.
func (p Chat) Request(t *testing.T, name, fields, want string, dropped []string) {
	t.Helper()
	out, err := p.Encode(t, fields)
	if err != nil {
		t.Errorf("%s: %v", name, err)
		return
	}
	if string(out.Body) != want || !slices.Equal(out.Dropped, dropped) {
		t.Errorf("%s: sent\n%s\nwant\n%s\nlost %q, want %q", name, out.Body, want, out.Dropped, dropped)
	}
}

// Refusals proves which place is refused of lists of messages.
func (p Chat) Refusals(t *testing.T, messages map[string]string) {
	t.Helper()
	for list, param := range messages {
		if _, err := p.Encode(t, `"messages":[`+list+`]`); fault.From(err).Param != param || !fault.Has(err, fault.InvalidParameter) {
			t.Errorf("%s: %v", list, err)
		}
	}
}

// Response proves what a provider's answer is read as.
func (p Chat) Response(t *testing.T, name, body string, want *llm.Response) {
	t.Helper()
	r, err := p.Upstream.DecodeResponse(&dialect.Incoming{Body: []byte(body), To: p.To})
	if err != nil {
		t.Errorf("%s: %v", name, err)
		return
	}
	for _, d := range DiffResponses(want, r) {
		t.Errorf("%s: %s", name, d)
	}
}
