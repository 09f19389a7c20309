package gemini_test

import (
	"strings"
	"testing"

	"sluice/internal/dialect"
	"sluice/internal/dialect/dialecttest"
	"sluice/internal/dialect/gemini"
	"sluice/internal/kernel/fault"
	"sluice/internal/kernel/llm"
)

func upstream() dialect.Upstream { return gemini.Dialect().Upstreams[llm.ChatComplete] }

func decode(t *testing.T, body string) *llm.Response {
	t.Helper()
	r, err := upstream().DecodeResponse(&dialect.Incoming{Status: 200, Body: []byte(body)})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func same(t *testing.T, got, want *llm.Response) {
	t.Helper()
	if diff := dialecttest.DiffResponses(got, want); len(diff) > 0 {
		t.Errorf("got and want:\n%s", strings.Join(diff, "\n"))
	}
}

func TestDecodeReply(t *testing.T) {
	t.Parallel()
	const body = `{"candidates":[{"content":{"role":"model","parts":[{"text":"I ","thought":true},{"text":"think","thought":true},` +
		`{"text":"It is "},{"text":"warm","thoughtSignature":"c2ln"},{"text":"."},{"functionCall":{"name":"f","args":{"a": 1.0},"id":"x1"},"thoughtSignature":"Y2Fs"},` +
		`{"inlineData":{"mimeType":"image/png","data":"QQ=="}},{"inlineData":{"mimeType":"audio/L16;codec=pcm;rate=24000","data":"Qg=="}},{"executableCode":{"language":"PYTHON","code":"1"}}]},` +
		`"finishReason":"STOP","index":0,"safetyRatings":[{"category":"C"}],"groundingMetadata":{"webSearchQueries":["q"]},"tokenCount":9},` +
		`{"content":{"parts":[{"text":"b"}]},"finishReason":"MAX_TOKENS","finishMessage":"too long","index":1}],` +
		`"usageMetadata":{"promptTokenCount":10,"toolUsePromptTokenCount":2,"candidatesTokenCount":5,"thoughtsTokenCount":7,"totalTokenCount":24,"cachedContentTokenCount":4,"cacheTokensDetails":[{"modality":"TEXT","tokenCount":1},{"modality":"AUDIO","tokenCount":3}],` +
		`"promptTokensDetails":[{"modality":"TEXT","tokenCount":7},{"modality":"AUDIO","tokenCount":3}],"candidatesTokensDetails":[{"modality":"AUDIO","tokenCount":1},{"modality":"IMAGE","tokenCount":2}]},` +
		`"modelVersion":"gemini-2.5-pro","responseId":"r1","createTime":"2026-11-20T10:00:00.123456Z"}`
	same(t, decode(t, body), &llm.Response{
		ID: "r1", Model: "gemini-2.5-pro", Created: 1795168800,
		Choices: []llm.Choice{
			{
				Finish: llm.FinishToolCalls, Raw: "STOP",
				Parts: []llm.Part{
					{Kind: llm.ReasoningPart, Text: "I think"},
					{Text: "It is warm", Signature: "c2ln"},
					{Text: "."},
					{Kind: llm.CallPart, Signature: "Y2Fs", Call: &llm.ToolCall{ID: "x1__thought__Y2Fs", Name: "f", Arguments: `{"a": 1.0}`}},
					{Kind: llm.ImagePart, Media: &llm.Media{MIME: "image/png", Data: "QQ=="}},
					{Kind: llm.AudioPart, Media: &llm.Media{MIME: "audio/L16;codec=pcm;rate=24000", Data: "Qg==", Format: "pcm16"}},
					{Kind: llm.OpaquePart, Shape: "gemini", Raw: []byte(`{"executableCode":{"language":"PYTHON","code":"1"}}`)},
				},
				Extra: []llm.Param{{Name: "safetyRatings", Raw: []byte(`[{"category":"C"}]`)}, {Name: "groundingMetadata", Raw: []byte(`{"webSearchQueries":["q"]}`)}},
			},
			{
				Index: 1, Finish: llm.FinishLength, Raw: "MAX_TOKENS", Parts: []llm.Part{{Text: "b"}},
				Extra: []llm.Param{{Name: "finish_message", Raw: []byte(`"too long"`)}},
			},
		},
		Usage: llm.Usage{
			InputTokens: 12, OutputTokens: 12, TotalTokens: 24, CachedTokens: 4, ReasoningTokens: 7, InputAudioTokens: 3, CachedAudioTokens: 3, OutputAudioTokens: 1,
			OutputImageTokens: 2, Reported: true,
		},
	})
}

func TestDecodeReplyBlocked(t *testing.T) {
	t.Parallel()
	same(t, decode(t, `{"promptFeedback":{"blockReason":"SAFETY"},"usageMetadata":{"promptTokenCount":3,"totalTokenCount":3}}`), &llm.Response{
		Choices: []llm.Choice{{Finish: llm.FinishFilter, Raw: "SAFETY"}},
		Extra:   []llm.Param{{Name: "promptFeedback", Raw: []byte(`{"blockReason":"SAFETY"}`)}},
		Usage:   llm.Usage{InputTokens: 3, TotalTokens: 3, Reported: true},
	})
}

func TestDecodeReplyLogprobs(t *testing.T) {
	t.Parallel()
	r := decode(t, `{"candidates":[{"content":{"parts":[{"text":"é"}]},"finishReason":"STOP","logprobsResult":{"chosenCandidates":[{"token":"é","tokenId":1,"logProbability":-0.5},{"token":"x"}],"topCandidates":[{"candidates":[{"token":"é","logProbability":-0.5}]}]}}]}`)
	const want = `{"content":[{"token":"é","logprob":-0.5,"bytes":[195,169],"top_logprobs":[{"token":"é","logprob":-0.5,"bytes":[195,169]}]},{"token":"x","logprob":0,"bytes":[120],"top_logprobs":[]}]}`
	if got := string(r.Choices[0].Logprobs); got != want {
		t.Errorf("got %s", got)
	}
}

// A call without an id gets one of its own.
func TestDecodeReplyMakesIDs(t *testing.T) {
	t.Parallel()
	r := decode(t, `{"candidates":[{"content":{"parts":[{"functionCall":{"name":"f"}},{"functionCall":{"name":"f","args":{}}}]},"finishReason":"STOP"}]}`)
	a, b := r.Choices[0].Parts[0].Call, r.Choices[0].Parts[1].Call
	if !strings.HasPrefix(a.ID, "call_") || len(a.ID) < 20 || a.ID == b.ID || a.Arguments != "{}" {
		t.Errorf("calls %+v %+v", a, b)
	}
}

func TestDecodeReplyFinishes(t *testing.T) {
	t.Parallel()
	for reason, want := range map[string]llm.Finish{
		"": llm.FinishNone, "STOP": llm.FinishStop, "RECITATION": llm.FinishStop, "OTHER": llm.FinishStop,
		"NEW_ONE": llm.FinishStop, "MAX_TOKENS": llm.FinishLength, "CONTINUATION": llm.FinishLength, "SAFETY": llm.FinishFilter,
		"SPII": llm.FinishFilter, "IMAGE_PROHIBITED_CONTENT": llm.FinishFilter, "NO_IMAGE": llm.FinishFilter,
	} {
		if c := decode(t, `{"candidates":[{"finishReason":"`+reason+`"}]}`).Choices[0]; c.Finish != want || c.Raw != reason {
			t.Errorf("%s became %d %s", reason, c.Finish, c.Raw)
		}
	}
}

func TestDecodeReplyRefuses(t *testing.T) {
	t.Parallel()
	for _, body := range []string{``, `{}`, `[]`, `<html>`, `{"candidates":[]}`, `{"candidates":[{"content":{"parts":[{"text":"a"}]}`, `{"usageMetadata":{"totalTokenCount":1}}`} {
		if _, err := upstream().DecodeResponse(&dialect.Incoming{Body: []byte(body)}); !fault.Has(err, fault.UpstreamInvalid) {
			t.Errorf("%s: %v", body, err)
		}
	}
}
