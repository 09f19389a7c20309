package sdk

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
	"github.com/openai/openai-go/v3/responses"
)

// recorded serves a stream that the gateway wrote for responses of providers that have
// none of their own.
func recorded(t *testing.T, name string) openai.Client {
	t.Helper()
	stream, err := os.ReadFile(filepath.Join("..", "..", "..", "internal", "dialect", "responses", "testdata", name+".sse"))
	if err != nil {
		t.Fatal(err)
	}
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("content-type", "text/event-stream; charset=utf-8")
		_, _ = w.Write(stream)
	}))
	t.Cleanup(s.Close)
	return openai.NewClient(option.WithBaseURL(s.URL), option.WithAPIKey("sk-none"), option.WithMaxRetries(0))
}

// gather reads a stream twice over: event by event, as it says itself at its end.
func gather(t *testing.T, name string) (pieces responses.ResponseAccumulatorSnapshot, final responses.Response, err error) {
	t.Helper()
	c := recorded(t, name)
	s := c.Responses.NewStreaming(t.Context(), question())
	var a responses.ResponseAccumulator
	for s.Next() {
		e := s.Current()
		switch e.Type {
		case "response.completed", "response.incomplete", "response.failed":
			final, pieces = e.Response, a.Snapshot()
		}
		var copied responses.ResponsesServerEventUnion
		if err := json.Unmarshal([]byte(e.RawJSON()), &copied); err != nil {
			t.Fatalf("%v in %s", err, e.RawJSON())
		}
		if err == nil {
			err = a.AddEvent(copied)
		}
	}
	if s.Err() != nil {
		t.Fatal(s.Err())
	}
	return pieces, final, err
}

// The client's accumulator puts the pieces of a stream together to what its end says.
func TestAccumulate(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"answer", "refusal", "cut"} {
		pieces, final, err := gather(t, name)
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if pieces.OutputText() != final.OutputText() || len(pieces.Output) != len(final.Output) {
			t.Errorf("%s: %q in %d items, want %q in %d", name, pieces.OutputText(), len(pieces.Output), final.OutputText(), len(final.Output))
			continue
		}
		for i, got := range pieces.Output {
			want := final.Output[i]
			if got.ItemID != want.ID || got.Type != want.Type || got.CallID != want.CallID || got.Name != want.Name || got.Arguments != want.Arguments.OfString || got.Input != want.Input {
				t.Errorf("%s: item %d is %+v, want %s", name, i, got, want.RawJSON())
			}
		}
	}
}

// An error in a stream is one to the client, and what was said stays.
func TestAccumulateFault(t *testing.T) {
	t.Parallel()
	pieces, final, err := gather(t, "fault")
	if err == nil {
		t.Error("no error")
	}
	if final.Status != "failed" || final.Error.Message != "Overloaded" || pieces.OutputText() != "Once upon a" {
		t.Errorf("%s with %q after %q", final.Status, final.Error.Message, pieces.OutputText())
	}
}

// Every member that the client's types require is in a response.
func TestRequiredMembers(t *testing.T) {
	t.Parallel()
	_, final, _ := gather(t, "answer")
	f := final.JSON
	for name, raw := range map[string]string{
		"id": f.ID.Raw(), "created_at": f.CreatedAt.Raw(), "error": f.Error.Raw(), "incomplete_details": f.IncompleteDetails.Raw(),
		"instructions": f.Instructions.Raw(), "metadata": f.Metadata.Raw(), "model": f.Model.Raw(), "object": f.Object.Raw(), "output": f.Output.Raw(),
		"parallel_tool_calls": f.ParallelToolCalls.Raw(), "temperature": f.Temperature.Raw(), "tool_choice": f.ToolChoice.Raw(), "tools": f.Tools.Raw(),
		"top_p": f.TopP.Raw(), "usage": f.Usage.Raw(), "text": f.Text.Raw(), "status": f.Status.Raw(), "reasoning": f.Reasoning.Raw(),
	} {
		if raw == "" {
			t.Errorf("%s is missing", name)
		}
	}
	if len(final.Tools) != 2 || final.Usage.InputTokensDetails.CachedTokens != 20 {
		t.Errorf("%d tools, usage %+v", len(final.Tools), final.Usage)
	}
}
