package fields_test

import (
	"fmt"
	"strings"
	"testing"

	"sluice/internal/dialect/fields"
	"sluice/internal/dialect/toolcalls"
	"sluice/internal/kernel/fault"
	"sluice/internal/kernel/llm"
)

// types are known members of each type.
var types = fields.Types{
	"string": {Kinds: fields.IsString}, "integer": {Kinds: fields.IsInteger}, "number": {Kinds: fields.IsNumber}, "bool": {Kinds: fields.IsBool},
	"list": {Kinds: fields.IsList}, "object": {Kinds: fields.IsObject}, "schema": {Kinds: fields.IsSchema},
	"strings": {Kinds: fields.IsString | fields.IsList, Each: fields.IsString}, "numbers": {Kinds: fields.IsObject, Each: fields.IsNumber},
	"inside": {Kinds: fields.IsObject, Members: fields.Members{"on": fields.IsBool}},
}

// values are one of each type, and what else may be accepted of them.
var values = map[string]string{
	`"x"`: "string strings", `12`: "integer number", `-12`: "integer number", `12.0`: "number", `1e3`: "number", `true`: "bool", `false`: "bool",
	`[]`: "list strings", `["a"]`: "list strings", `[1]`: "list", `{}`: "object schema numbers inside", `{"a":1}`: "object schema numbers inside", `{"a":"b"}`: "object schema inside",
	`{"on":true}`: "object schema inside", `{"on":1}`: "object schema numbers", `{"on":null}`: "object schema numbers inside",
	`null`: "string integer number bool list object schema strings numbers inside",
}

// A value is accepted where its type is wanted, and nowhere else.
func TestTypes(t *testing.T) {
	t.Parallel()
	for raw, fits := range values {
		for name := range types {
			err := types.Check(name, []byte(raw))
			wantFit := strings.Contains(" "+fits+" ", " "+name+" ")
			if f := fault.From(err); (err == nil) != wantFit || err != nil && (f.Code != fault.InvalidParameter || !strings.HasPrefix(f.Param, name)) {
				t.Errorf("%s as %s: %v", raw, name, err)
			}
		}
	}
	if err := types.Check("unknown", []byte("7")); err != nil {
		t.Error(err)
	}
}

// Refusals name the place and all that may stand there.
func TestTypesSay(t *testing.T) {
	t.Parallel()
	for _, c := range [...]struct{ path, raw, message string }{
		{"strings", "7", "strings must be a string or a list of strings"},
		{"strings", `["a",7]`, "strings[1] must be a string"},
		{"integer", "1.5", "integer must be an integer"},
		{"inside", `{"on":"yes"}`, "inside.on must be true or false"},
		{"schema", `[]`, "schema must be a JSON schema, an object"},
	} {
		if f := fault.From(types.Check(c.path, []byte(c.raw))); f == nil || f.Public != c.message {
			t.Errorf("%s: %v, want %q", c.raw, f, c.message)
		}
	}
}

// What is accepted costs no memory.
func TestTypesAllocateNothing(t *testing.T) {
	for path, text := range map[string]string{"integer": "12", "strings": `["a","b"]`, "numbers": `{"a":1}`, "inside": `{"on":true}`} {
		raw := []byte(text)
		if got := testing.AllocsPerRun(10, func() { _ = types.Check(path, raw) }); got != 0 {
			t.Errorf("%s: %.0f allocations", path, got)
		}
	}
}

// Names of tools are told apart however many there are.
func TestCheckTools(t *testing.T) {
	t.Parallel()
	for _, n := range []int{2, 31, 32, 33, 200} {
		c := &llm.Call{Surface: llm.ChatComplete}
		for i := range n {
			c.Tools = append(c.Tools, llm.Tool{Type: llm.Function, Name: fmt.Sprintf("f%d", i), Index: i})
		}
		if err := toolcalls.CheckTools(c); err != nil {
			t.Errorf("%d tools: %v", n, err)
		}
		c.Tools[n-1].Name = "f0"
		if f := fault.From(toolcalls.CheckTools(c)); f == nil || f.Param != fmt.Sprintf("tools[%d].function.name", n-1) {
			t.Errorf("%d tools: %v", n, f)
		}
	}
}
