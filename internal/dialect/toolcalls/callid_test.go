package toolcalls_test

import (
	"encoding/json"
	"strings"
	"testing"

	"sluice/internal/dialect/toolcalls"
)

// Calls keep their results when their ids are replaced, and nothing else changes.
func TestShortIDs(t *testing.T) {
	t.Parallel()
	long := `[{"role":"user","content":"\"tool_call_id\": \"x\"","id":"mine"},{"role":"assistant","content":null,"tool_calls":[` +
		`{"id":"call_PTLP8xhu3uwZk4l3nlnrrJha","type":"function","function":{"name":"f","arguments":"{\"id\":\"y\"}"}},` +
		`{"id":"a1B2c3D4e","type":"function","function":{"name":"f","arguments":"{}"}}]},` +
		`{"role":"tool","tool_call_id":"call_PTLP8xhu3uwZk4l3nlnrrJha","content":"1"},{"role":"tool","tool_call_id":"a1B2c3D4e","content":"2"}]`
	got := toolcalls.ShortIDs([]byte(long), 9)
	type message struct {
		Role, Content, ID string
		CallID            string `json:"tool_call_id"`
		Calls             []struct {
			ID       string
			Function struct{ Arguments string }
		} `json:"tool_calls"`
	}
	var m, was []message
	if err := json.Unmarshal(got, &m); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal([]byte(long), &was); err != nil {
		t.Fatal(err)
	}
	id := m[1].Calls[0].ID
	if len(id) != 9 || strings.Trim(id, toolcalls.IDLetters) != "" || id != m[2].CallID || m[1].Calls[1].ID != "a1B2c3D4e" || m[3].CallID != "a1B2c3D4e" {
		t.Errorf("%s", got)
	}
	if m[0].Content != was[0].Content || m[0].ID != "mine" || m[1].Calls[0].Function.Arguments != `{"id":"y"}` || m[2].Content != "1" {
		t.Errorf("%s", got)
	}
	if again := toolcalls.ShortIDs(got, 9); again != nil {
		t.Errorf("changed once more: %s", again)
	}
}
