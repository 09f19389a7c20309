package routing_test

import (
	"fmt"
	"regexp"
	"testing"

	"sluice/internal/domain/routing"
)

func showHook(h *routing.Hook) string {
	s := fmt.Sprintf("%s %s", h.Type, h.ID)
	for _, f := range []struct {
		name    string
		enabled bool
	}{{"deny", h.Deny}, {"async", h.Async}, {"sync", h.Sync}, {"sequential", h.Sequential}, {"soft", h.SoftDeny200}, {"saved", h.Saved()}} {
		if f.enabled {
			s += " " + f.name
		}
	}
	if h.VersionID != "" {
		s += " version=" + h.VersionID
	}
	for _, c := range h.Checks {
		s += fmt.Sprintf(" [%s %s %v]", c.ID, c.Parameters, c.Enabled)
	}
	if h.OnSuccess != nil {
		s += fmt.Sprintf(" success=%v*%v %s", h.OnSuccess.Value, h.OnSuccess.Weight, h.OnSuccess.Metadata)
	}
	if h.OnFail != nil {
		s += fmt.Sprintf(" fail=%v*%v %s", h.OnFail.Value, h.OnFail.Weight, h.OnFail.Metadata)
	}
	return s
}

func TestHooks(t *testing.T) {
	t.Parallel()
	cases := []struct {
		name, doc     string
		before, after []string
	}{
		{"full form", `{"before_request_hooks":[{"id":"g1","type":"guardrail","deny":true,"sequential":true,"checks":[{"id":"default.wordCount","parameters":{"maxWords": 5}},{"id":"acme.scan","is_enabled":false}]}]}`,
			[]string{`guardrail g1 deny sequential [default.wordCount {"maxWords": 5} true] [acme.scan {} false]`}, nil},
		{"camel case", `{"afterRequestHooks":[{"id":"g1","softDeny200":true,"guardrailVersionId":"v1","onFail":{"feedback":{"value":-5,"weight":0.5,"metadata":{"userId": "x"}}},"onSuccess":{"feedback":{"value":5}}}]}`,
			nil, []string{`guardrail g1 soft saved version=v1 success=5*1  fail=-5*0.5 {"userId": "x"}`}},
		{"saved by slug", `{"input_guardrails":["pg-pii-1a2b3c"],"output_mutators":["pg-mask-1a2b3c"]}`,
			[]string{`guardrail pg-pii-1a2b3c saved`}, []string{`mutator pg-mask-1a2b3c saved`}},
		{"saved by id in an object", `{"input_guardrails":[{"id":"pg-pii-1a2b3c","deny":true}]}`,
			[]string{`guardrail pg-pii-1a2b3c deny saved`}, nil},
		{"shorthand", `{"input_guardrails":[{"id":"mine","deny":true,"async":false,"wordCount":{"maxWords":5},"acme.scan":{},"second":{"id":"regexMatch","rule":"x","is_enabled":false}}]}`,
			[]string{`guardrail mine deny sync [default.wordCount {"maxWords":5} true] [acme.scan {} true] [default.regexMatch {"rule":"x"} false]`}, nil},
		{"one level, all spellings", `{"input_mutators":["m"],"input_guardrails":["g"],"before_request_hooks":[{"id":"h"}]}`,
			[]string{`guardrail h saved`, `guardrail g saved`, `mutator m saved`}, nil},
		{"saved, not asynchronous", `{"input_guardrails":[{"id":"x","async":false}],"after_request_hooks":[{"id":"y","async":null}]}`, []string{`guardrail x sync saved`}, []string{`guardrail y saved`}},
		{"no feedback", `{"input_guardrails":[{"id":"x","on_fail":{},"on_success":null}]}`, []string{`guardrail x saved`}, nil},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			target := parse(t, c.doc).Root.Target
			compare(t, "before", target.Before, c.before)
			compare(t, "after", target.After, c.after)
		})
	}
}

func compare(t *testing.T, phase string, got []routing.Hook, want []string) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%s: %d hooks, want %d", phase, len(got), len(want))
	}
	for i := range got {
		if s := showHook(&got[i]); s != want[i] {
			t.Errorf("%s\ngot  %s\nwant %s", phase, s, want[i])
		}
	}
}

func TestShorthandNamesItself(t *testing.T) {
	t.Parallel()
	const doc = `{"input_guardrails":[{"wordCount":{}},{"wordCount":{}}],"output_guardrails":[{"pii":{}}]}`
	first, again := parse(t, doc).Root.Target, parse(t, doc).Root.Target
	ids := []string{first.Before[0].ID, first.Before[1].ID, first.After[0].ID}
	if ids[0] == ids[1] || ids[0] != again.Before[0].ID || ids[2] != again.After[0].ID {
		t.Errorf("ids %q, then %q", ids, again.Before[0].ID)
	}
	for i, form := range []string{`^input_guardrail_[a-z0-9]{3}$`, `^input_guardrail_[a-z0-9]{3}$`, `^output_guardrail_[a-z0-9]{3}$`} {
		if !regexp.MustCompile(form).MatchString(ids[i]) {
			t.Errorf("id %q", ids[i])
		}
	}
}
