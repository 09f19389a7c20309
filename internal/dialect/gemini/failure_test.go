package gemini

import (
	"strings"
	"testing"

	"sluice/internal/dialect"
	"sluice/internal/kernel/fault"
	"sluice/internal/kernel/llm"
)

// A turn that ended in a call that nobody can read, or for want of a thought's signature, is an
// error and no empty turn of success, whole and streamed.
func TestFailedTurnsAreErrors(t *testing.T) {
	t.Parallel()
	for reason, status := range map[string]int{
		"MALFORMED_FUNCTION_CALL": 502, "UNEXPECTED_TOOL_CALL": 502, "TOO_MANY_TOOL_CALLS": 502, "MALFORMED_RESPONSE": 502, "MISSING_THOUGHT_SIGNATURE": 400,
	} {
		body := `{"candidates":[{"content":{"role":"model"},"finishReason":"` + reason + `","finishMessage":"Malformed function call: print(","index":0}],"usageMetadata":{"promptTokenCount":4,"totalTokenCount":4}}`
		_, err := generate{}.DecodeResponse(&dialect.Incoming{Body: []byte(body)})
		f := fault.From(err)
		if err == nil || f.HTTPStatus() != status || !strings.HasSuffix(f.Text(), reason+": Malformed function call: print(") || f.Wire != reason {
			t.Errorf("%s whole: %v", reason, err)
		}
		var last llm.Event
		var used int64
		d := generate{}.NewDecoder(&dialect.Incoming{})
		note := func(ev *llm.Event) {
			if last = *ev; ev.Kind == llm.EventUsage {
				used = ev.Usage.InputTokens
			}
		}
		if err := d.Feed([]byte("data: "+body+"\n\n"), note); err != nil {
			t.Fatal(err)
		}
		if err := d.Close(note); err != nil || last.Kind != llm.EventFault || last.Status != status || last.Name != reason || used != 4 {
			t.Errorf("%s streamed: %v, %d tokens, %+v", reason, err, used, last)
		}
	}
}

// A candidate of use is not lost because another failed.
func TestOneGoodCandidateIsAnAnswer(t *testing.T) {
	t.Parallel()
	const body = `{"candidates":[{"finishReason":"MALFORMED_FUNCTION_CALL","index":0},{"content":{"parts":[{"text":"Hi"}]},"finishReason":"STOP","index":1}]}`
	r, err := generate{}.DecodeResponse(&dialect.Incoming{Body: []byte(body)})
	if err != nil || len(r.Choices) != 2 || r.Choices[0].Finish != llm.FinishStop {
		t.Errorf("whole: %v", err)
	}
	var last llm.Event
	d := generate{}.NewDecoder(&dialect.Incoming{})
	note := func(ev *llm.Event) { last = *ev }
	if err := d.Feed([]byte("data: "+body+"\n\n"), note); err != nil {
		t.Fatal(err)
	}
	if err := d.Close(note); err != nil || last.Kind != llm.EventEnd {
		t.Errorf("streamed: %v, %+v", err, last)
	}
}
