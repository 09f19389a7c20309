package triton_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	"sluice/internal/dialect"
	"sluice/internal/dialect/triton"
	"sluice/internal/kernel/fault"
	"sluice/internal/kernel/llm"
)

func TestComplete(t *testing.T) {
	t.Parallel()
	u := triton.Dialect().Unified[llm.Complete]
	for _, c := range []struct {
		body, want string
		dropped    []string
	}{
		{`{"model":"x","prompt":"once"}`, `{"text_input":"once","max_tokens":100,"temperature":0.7,"top_p":0.7,"top_k":50}`, nil},
		{`{"prompt":"once","max_tokens":5,"temperature":0,"top_p":1,"top_k":1,"stop":"a","bad_words":["b"],"seed":1}`, `{"text_input":"once","max_tokens":5,"temperature":0,"top_p":1,"top_k":1,"stop_words":["a"],"bad_words":["b"]}`, []string{"seed"}},
	} {
		out, err := u.EncodeRequest(context.Background(), &dialect.Request{Body: []byte(c.body)}, &dialect.Target{})
		if err != nil || string(out.Body) != c.want || !slices.Equal(out.Dropped, c.dropped) {
			t.Errorf("sent\n%s\nwant\n%s\nlost %q, %v", out.Body, c.want, out.Dropped, err)
		}
	}
	if _, err := u.EncodeRequest(context.Background(), &dialect.Request{Body: []byte(`{}`)}, &dialect.Target{}); fault.From(err).Param != "prompt" {
		t.Errorf("no prompt: %v", err)
	}
	for _, stream := range []bool{false, true} {
		a, err := u.TranslateResponse(&dialect.Incoming{Body: []byte(`{"model_name":"ensemble","model_version":"1","text_output":" upon"}`), To: &dialect.Target{Model: "m", Stream: stream}})
		if err != nil || !strings.Contains(string(a.Body), `"model":"ensemble"`) || !strings.Contains(string(a.Body), `"text":" upon"`) || strings.HasSuffix(string(a.Body), "[DONE]\n\n") != stream {
			t.Errorf("%s, %v", a.Body, err)
		}
	}
	if _, err := u.TranslateResponse(&dialect.Incoming{Body: []byte(`{"error":"x"}`), To: &dialect.Target{}}); !fault.Has(err, fault.UpstreamInvalid) {
		t.Errorf("no text: %v", err)
	}
}
