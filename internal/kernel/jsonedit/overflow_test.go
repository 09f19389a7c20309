package jsonedit_test

import (
	"encoding/json"
	"strings"
	"testing"

	"sluice/internal/kernel/fault"
	"sluice/internal/kernel/jsonedit"
)

// A number that readers of JSON disagree about is found with its path.
func TestOverflow(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		`{"a":1e999}`:                                   "a",
		` {"a":1,"b":[0,{"c":-1E+400}]}`:                "b[1].c",
		`{"tools":[{"parameters":{"maximum":1e1000}}]}`: "tools[0].parameters.maximum",
		`{"a":` + strings.Repeat("9", 310) + `}`:        "a",
		`{"a":` + strings.Repeat("9", 200) + `e200}`:    "a",
		`{"a":0.1e309,"b":"1e999"}`:                     "",
		`{"a":1e-999,"b":1.7976931348623157e308,"c":` + strings.Repeat("0.", 1) + strings.Repeat("1", 400) + `}`: "",
		`{"a":1.8e308}`:    "a",
		`{"\u0061":1e309}`: "a",
	} {
		var d jsonedit.Doc
		if err := jsonedit.Scan([]byte(text), &d); err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		if got, found := d.Overflow(); got != want || found != (want != "") {
			t.Errorf("%.60s: %q, %v, want %q", text, got, found, want)
		}
		if got, _ := jsonedit.FindOverflow([]byte(text)); got != want {
			t.Errorf("%.60s: %q, want %q", text, got, want)
		}
		var v any
		if err := json.Unmarshal([]byte(text), &v); (err != nil) != (want != "") {
			t.Errorf("%.60s: encoding/json says %v", text, err)
		}
		if jsonedit.Readable([]byte(text)) != (want == "") {
			t.Errorf("%.60s: readable", text)
		}
	}
}

// Only halves of pairs are repaired, and the text says the same in all else.
func TestAppendRepaired(t *testing.T) {
	t.Parallel()
	for raw, want := range map[string]string{
		`{"a":"\ud83d"}`:               `{"a":"\ufffd"}`,
		`{"a":"\uDE00x"}`:              `{"a":"\ufffdx"}`,
		`{"a":"\ud83d\ude00"}`:         `{"a":"\ud83d\ude00"}`,
		`{"a":"\ud83d\ud83d\ude00"}`:   `{"a":"\ufffd\ud83d\ude00"}`,
		`{"\ud83d":1}`:                 `{"\ufffd":1}`,
		`{"a":"\\ud83d"}`:              `{"a":"\\ud83d"}`,
		`{"a":"\\\ud83d"}`:             `{"a":"\\\ufffd"}`,
		`{"a":"\ufffd\u00e9\n","b":1}`: `{"a":"\ufffd\u00e9\n","b":1}`,
		`[]`:                           `[]`,
		`"\ud83d`:                      `"\ufffd`,
		`\`:                            `\`,
	} {
		if got := string(jsonedit.AppendRepaired(nil, []byte(raw))); got != want {
			t.Errorf("%s: %s, want %s", raw, got, want)
		}
	}
}

// Fields of access and cost are refused twice in the objects that hold them, too.
func TestRepeatedWithin(t *testing.T) {
	t.Parallel()
	for text, param := range map[string]string{
		`{"generationConfig":{"maxOutputTokens":1,"maxOutputTokens":9}}`:         "generationConfig.maxOutputTokens",
		`{"inferenceConfig":{"maxTokens":1,"\u006daxTokens":9}}`:                 "inferenceConfig.maxTokens",
		`{"reasoning":{"effort":"low","effort":"high"}}`:                         "reasoning.effort",
		`{"thinking":{"type":"enabled","budget_tokens":1,"budget_tokens":2}}`:    "thinking.budget_tokens",
		`{"generationConfig":{},"generationConfig":{}}`:                          "generationConfig",
		`{"max_output_tokens":1,"Max_output_tokens":2}`:                          "max_output_tokens",
		`{"thinking":{"type":"enabled"},"reasoning":{"effort":"low"},"x":{}}`:    "",
		`{"options":{"num_predict":1,"other":2,"other":3},"generationConfig":1}`: "",
	} {
		var d jsonedit.Doc
		err := jsonedit.Scan([]byte(text), &d)
		if (err != nil) != (param != "") || err != nil && (fault.From(err).Param != param || !fault.Has(err, fault.InvalidRequest)) {
			t.Errorf("%s: %v, want %q", text, err, param)
		}
	}
}
