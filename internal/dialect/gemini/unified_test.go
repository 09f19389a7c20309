package gemini_test

import (
	"errors"
	"slices"
	"testing"

	"sluice/internal/dialect"
	"sluice/internal/dialect/gemini"
	"sluice/internal/dialect/openai"
	"sluice/internal/kernel/fault"
	"sluice/internal/kernel/llm"
)

// exchange is one call of a unified endpoint: what the caller sends, what the provider
// gets, what it answers, what the caller gets.
type exchange struct {
	name, model   string
	input, out    string
	more          []string // further requests
	dropped       []string
	response      string
	moreResponses []string // to the further requests
	want          string
	usage         llm.Usage
}

func (x *exchange) run(t *testing.T, u dialect.OpenAIEndpoint, ep llm.Endpoint) {
	t.Helper()
	sent, to := &dialect.Request{Endpoint: ep, Body: []byte(x.input)}, &dialect.Target{Endpoint: ep, Model: x.model}
	out, err := u.EncodeRequest(t.Context(), sent, to)
	if err != nil {
		t.Fatal(err)
	}
	if string(out.Body) != x.out {
		t.Errorf("sent %s\nwant %s", out.Body, x.out)
	}
	var more []string
	for _, m := range out.More {
		more = append(more, string(m))
	}
	if !slices.Equal(more, x.more) || !slices.Equal(out.Dropped, x.dropped) {
		t.Errorf("more %q\nlost %q", more, out.Dropped)
	}
	input := &dialect.Incoming{Status: 200, Body: []byte(x.response), Created: 1795176000, Sent: sent, To: to}
	for _, r := range x.moreResponses {
		input.More = append(input.More, []byte(r))
	}
	a, err := u.TranslateResponse(input)
	if err != nil {
		t.Fatal(err)
	}
	if string(a.Body) != x.want {
		t.Errorf("answered %s\nwant %s", a.Body, x.want)
	}
	if a.Usage != x.usage {
		t.Errorf("usage %+v", a.Usage)
	}
}

func runAll(t *testing.T, d *dialect.Dialect, ep llm.Endpoint, list []exchange) {
	t.Helper()
	for i := range list {
		t.Run(list[i].name, func(t *testing.T) { list[i].run(t, d.Unified[ep], ep) })
	}
}

func TestEmbed(t *testing.T) {
	t.Parallel()
	runAll(t, gemini.Dialect(), llm.Embed, []exchange{
		{
			name: "one", model: "gemini-embedding-001", input: `{"model":"x","input":"a \"b\""}`,
			out:      `{"requests":[{"model":"models/gemini-embedding-001","content":{"parts":[{"text":"a \"b\""}]}}]}`,
			response: `{"embeddings":[{"values":[0.5,-1]}]}`,
			want: `{"object":"list","data":[{"object":"embedding","index":0,"embedding":[0.5,-1]}],"model":"gemini-embedding-001",` +
				`"usage":{"prompt_tokens":0,"total_tokens":0}}`,
		},
		{
			name: "several, with settings, in base64", model: "m",
			input:    `{"input":["a","b"],"dimensions":2,"task_type":"RETRIEVAL_QUERY","encoding_format":"base64","user":"u"}`,
			out:      `{"requests":[{"model":"models/m","content":{"parts":[{"text":"a"}]},"taskType":"RETRIEVAL_QUERY","outputDimensionality":2},{"model":"models/m","content":{"parts":[{"text":"b"}]},"taskType":"RETRIEVAL_QUERY","outputDimensionality":2}]}`,
			dropped:  []string{"user"},
			response: `{"embeddings":[{"values":[0.5]},{"values":[1]}],"usageMetadata":{"promptTokenCount":5}}`,
			want: `{"object":"list","data":[{"object":"embedding","index":0,"embedding":"AAAAPw=="},{"object":"embedding","index":1,"embedding":"AACAPw=="}],"model":"m",` +
				`"usage":{"prompt_tokens":5,"total_tokens":5}}`,
			usage: llm.Usage{InputTokens: 5, TotalTokens: 5, Reported: true},
		},
	})
}

func TestVertexEmbed(t *testing.T) {
	t.Parallel()
	runAll(t, gemini.Vertex(), llm.Embed, []exchange{
		{
			name: "texts", model: "text-embedding-005",
			input:    `{"input":["a","b"],"dimensions":2,"task_type":"CLUSTERING","parameters":{"autoTruncate":false}}`,
			out:      `{"instances":[{"content":"a","task_type":"CLUSTERING"},{"content":"b","task_type":"CLUSTERING"}],"parameters":{"autoTruncate":false,"outputDimensionality":2}}`,
			response: `{"predictions":[{"embeddings":{"values":[1],"statistics":{"token_count":3,"truncated":false}}},{"embeddings":{"values":[2],"statistics":{"token_count":4.0}}}],"metadata":{"billableCharacterCount":2}}`,
			want:     `{"object":"list","data":[{"object":"embedding","index":0,"embedding":[1]},{"object":"embedding","index":1,"embedding":[2]}],"model":"text-embedding-005","usage":{"prompt_tokens":7,"total_tokens":7}}`,
			usage:    llm.Usage{InputTokens: 7, TotalTokens: 7, Reported: true},
		},
		{
			name: "one text in each request", model: "gemini-embedding-001", input: `{"input":["a","b"]}`,
			out: `{"instances":[{"content":"a"}]}`, more: []string{`{"instances":[{"content":"b"}]}`},
			response: `{"predictions":[{"embeddings":{"values":[1],"statistics":{"token_count":1}}}]}`, moreResponses: []string{`{"predictions":[{"embeddings":{"values":[2],"statistics":{"token_count":1}}}]}`},
			want:  `{"object":"list","data":[{"object":"embedding","index":0,"embedding":[1]},{"object":"embedding","index":1,"embedding":[2]}],"model":"gemini-embedding-001","usage":{"prompt_tokens":2,"total_tokens":2}}`,
			usage: llm.Usage{InputTokens: 2, TotalTokens: 2, Reported: true},
		},
		{
			name: "pictures and films", model: "multimodalembedding@001",
			input:    `{"input":[{"text":"a","image":{"url":"gs://b/a.png"}},{"image":{"base64":"QQ=="},"video":{"url":"gs://b/a.mp4","start_offset":1,"end_offset":9,"interval":4},"note":1}],"dimensions":128}`,
			out:      `{"instances":[{"text":"a","image":{"gcsUri":"gs://b/a.png"}},{"image":{"bytesBase64Encoded":"QQ=="},"video":{"gcsUri":"gs://b/a.mp4","videoSegmentConfig":{"startOffsetSec":1,"endOffsetSec":9,"intervalSec":4}}}],"parameters":{"dimension":128}}`,
			dropped:  []string{"input[1].note"},
			response: `{"predictions":[{"textEmbedding":[1],"imageEmbedding":[2]},{"imageEmbedding":[3],"videoEmbeddings":[{"startOffsetSec":1,"endOffsetSec":5,"embedding":[4]}]}]}`,
			want:     `{"object":"list","data":[{"object":"embedding","index":0,"embedding":[1],"image_embedding":[2]},{"object":"embedding","index":1,"image_embedding":[3],"video_embeddings":[{"object":"embedding","index":0,"embedding":[4],"start_offset":1,"end_offset":5}]}],"model":"multimodalembedding@001","usage":{"prompt_tokens":0,"total_tokens":0}}`,
		},
		{
			name: "embedContent", model: "gemini-embedding-2-preview", input: `{"input":["a",{"text":"b","audio":{"base64":"QQ==","mime_type":"audio/wav"}}],"dimensions":3}`,
			out: `{"content":{"parts":[{"text":"a"}]},"embedContentConfig":{"outputDimensionality":3}}`,
			more: []string{
				`{"content":{"parts":[{"text":"b"},{"inlineData":{"mimeType":"audio/wav","data":"QQ=="}}]},"embedContentConfig":{"outputDimensionality":3}}`,
			},
			response: `{"embedding":{"values":[1]},"usageMetadata":{"promptTokenCount":2,"totalTokenCount":2}}`, moreResponses: []string{`{"embedding":{"values":[2]}}`},
			want:  `{"object":"list","data":[{"object":"embedding","index":0,"embedding":[1]},{"object":"embedding","index":1,"embedding":[2]}],"model":"gemini-embedding-2-preview","usage":{"prompt_tokens":2,"total_tokens":2}}`,
			usage: llm.Usage{InputTokens: 2, TotalTokens: 2, Reported: true},
		},
	})
}

func TestImagen(t *testing.T) {
	t.Parallel()
	runAll(t, gemini.Vertex(), llm.ImageGenerate, []exchange{
		{
			name: "OpenAI's words", model: "imagen-4", input: `{"prompt":"a cat","n":2,"size":"1792x1024","quality":"hd","response_format":"b64_json","user":"u"}`,
			out: `{"instances":[{"prompt":"a cat"}],"parameters":{"aspectRatio":"16:9","sampleCount":2,"outputOptions":{"compressionQuality":100}}}`, dropped: []string{"user"},
			response: `{"predictions":[{"bytesBase64Encoded":"QQ==","mimeType":"image/png","prompt":"a fine cat"},{"raiFilteredReason":"no"}]}`,
			want:     `{"created":1795176000,"data":[{"b64_json":"QQ==","revised_prompt":"a fine cat"}]}`,
		},
		{
			name: "Google's words", model: "imagen-4",
			input:    `{"prompt":["a","b"],"size":"1024x1024","aspectRatio":"3:4","seed":1,"negative_prompt":"x","personGeneration":"y","safetySetting":"z","addWatermark":false,"quality":80,"mimeType":"image/jpeg","style":"s"}`,
			out:      `{"instances":[{"prompt":"a"},{"prompt":"b"}],"parameters":{"sampleImageStyle":"s","seed":1,"aspectRatio":"3:4","negativePrompt":"x","personGeneration":"y","safetySetting":"z","addWatermark":false,"outputOptions":{"mimeType":"image/jpeg","compressionQuality":80}}}`,
			dropped:  []string{"size"},
			response: `{"predictions":[{"gcsUri":"gs://b/1.png"}]}`,
			want:     `{"created":1795176000,"data":[{"url":"gs://b/1.png"}]}`,
		},
	})
}

func TestRank(t *testing.T) {
	t.Parallel()
	x := exchange{
		model: "semantic-ranker-default-004", input: `{"model":"m","query":"q","documents":["a",{"title":"t","text":"b"}],"top_n":1,"return_documents":true}`,
		out:      `{"model":"semantic-ranker-default-004","query":"q","topN":1,"records":[{"id":"0","content":"a"},{"id":"1","title":"t","content":"b"}],"ignoreRecordDetailsInResponse":true}`,
		response: `{"records":[{"id":"1","score":0.93}]}`,
	}
	sent, to := &dialect.Request{Body: []byte(x.input)}, &dialect.Target{Model: x.model}
	u := gemini.Vertex().Unified[llm.Rerank]
	out, err := u.EncodeRequest(t.Context(), sent, to)
	if err != nil || string(out.Body) != x.out || len(out.Dropped) > 0 {
		t.Fatalf("%v %s", err, out.Body)
	}
	a, err := u.TranslateResponse(&dialect.Incoming{Body: []byte(x.response), Sent: sent, To: to})
	if err != nil {
		t.Fatal(err)
	}
	r := decodeJSON(t, a.Body)
	first := r["results"].([]any)[0].(map[string]any)
	if first["index"] != 1.0 || first["relevance_score"] != 0.93 || first["document"].(map[string]any)["title"] != "t" {
		t.Errorf("answered %s", a.Body)
	}
}

func TestSpeech(t *testing.T) {
	t.Parallel()
	u := gemini.Vertex().Unified[llm.CreateSpeech]
	for _, c := range []struct{ model, input, out, mime string }{
		{
			"gemini-2.5-flash-tts", `{"input":"hello","voice":"Kore","instructions":"softly","response_format":"wav","speed":1.5}`,
			`{"input":{"text":"hello","prompt":"softly"},"voice":{"languageCode":"en-US","name":"Kore","modelName":"gemini-2.5-flash-tts"},"audioConfig":{"audioEncoding":"LINEAR16","speakingRate":1.5}}`, "audio/wav",
		},
		{
			"chirp3-hd", `{"input":"hallo","voice":"Kore","language_code":"de-DE"}`,
			`{"input":{"text":"hallo"},"voice":{"languageCode":"de-DE","name":"de-DE-Chirp3-HD-Kore"},"audioConfig":{"audioEncoding":"MP3"}}`, "audio/mpeg",
		},
		{
			"tts", `{"input":"bonjour","voice":"fr-FR-Neural2-A","response_format":"opus"}`,
			`{"input":{"text":"bonjour"},"voice":{"languageCode":"fr-FR","name":"fr-FR-Neural2-A"},"audioConfig":{"audioEncoding":"OGG_OPUS"}}`, "audio/ogg",
		},
	} {
		sent, to := &dialect.Request{Body: []byte(c.input)}, &dialect.Target{Model: c.model}
		out, err := u.EncodeRequest(t.Context(), sent, to)
		if err != nil || string(out.Body) != c.out || len(out.Dropped) > 0 {
			t.Errorf("%v\nsent %s\nwant %s\nlost %q", err, out.Body, c.out, out.Dropped)
		}
		a, err := u.TranslateResponse(&dialect.Incoming{Body: []byte(`{"audioContent":"UklGRg=="}`), Sent: sent, To: to})
		if err != nil || string(a.Body) != "RIFF" || a.ContentType != c.mime {
			t.Errorf("%v %+v", err, a)
		}
	}
}

func TestModels(t *testing.T) {
	t.Parallel()
	runAll(t, gemini.Dialect(), llm.ListModels, []exchange{{
		name: "google", response: `{"models":[{"name":"models/gemini-2.5-pro","displayName":"Gemini 2.5 Pro","inputTokenLimit":1}]}`,
		want: `{"object":"list","data":[{"id":"gemini-2.5-pro","object":"model","created":0,"owned_by":"google","display_name":"Gemini 2.5 Pro"}]}`,
	}})
	runAll(t, gemini.Vertex(), llm.ListModels, []exchange{{
		name: "vertex", response: `{"publisherModels":[{"name":"publishers/google/models/imagen-4","versionId":"1"}]}`,
		want: `{"object":"list","data":[{"id":"imagen-4","object":"model","created":0,"owned_by":"google"}]}`,
	}})
}

func TestCountTokens(t *testing.T) {
	t.Parallel()
	c, err := openai.Dialect().Clients[llm.ChatComplete].DecodeCall([]byte(`{` + hi + `,"tools":[{"type":"function","function":{"name":"f"}}]}`))
	if err != nil {
		t.Fatal(err)
	}
	u := gemini.Vertex().Unified[llm.MessagesCountTokens]
	out, err := u.EncodeRequest(t.Context(), &dialect.Request{Call: c}, &dialect.Target{Model: "gemini-2.5-pro"})
	if err != nil || string(out.Body) != `{`+hiSent+`,"tools":[{"functionDeclarations":[{"name":"f"}]}]}` {
		t.Errorf("%v %s", err, out.Body)
	}
	for _, model := range []string{"gemini-2.5-pro", "models/gemini-2.5-pro"} {
		out, err = gemini.Dialect().Unified[llm.MessagesCountTokens].EncodeRequest(t.Context(), &dialect.Request{Call: c}, &dialect.Target{Model: model})
		if err != nil || string(out.Body) != `{"generateContentRequest":{"model":"models/gemini-2.5-pro",`+hiSent+`,"tools":[{"functionDeclarations":[{"name":"f"}]}]}}` {
			t.Errorf("%v %s", err, out.Body)
		}
	}
	a, err := u.TranslateResponse(&dialect.Incoming{Body: []byte(`{"totalTokens":31,"totalBillableCharacters":96}`)})
	if err != nil || string(a.Body) != `{"input_tokens":31}` || a.Usage.InputTokens != 31 {
		t.Errorf("%v %+v", err, a)
	}
}

func TestUnifiedRefuses(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		d     *dialect.Dialect
		ep    llm.Endpoint
		model string
		input string
		param string
	}{
		{gemini.Dialect(), llm.Embed, "m", `{"input":[[1,2]]}`, "input[0]"},
		{gemini.Dialect(), llm.Embed, "m", `{}`, "input"},
		{gemini.Vertex(), llm.Embed, "m", `{}`, "input"},
		{gemini.Vertex(), llm.Embed, "m", `{"input":[]}`, "input"},
		{gemini.Vertex(), llm.Embed, "gemini-embedding-001", `{"input":[]}`, "input"},
		{gemini.Vertex(), llm.Embed, "m", `{"input":[1]}`, "input[0]"},
		{gemini.Vertex(), llm.Embed, "gemini-embedding-2", `{"input":[1]}`, "input[0]"},
		{gemini.Vertex(), llm.Embed, "gemini-embedding-2", `{"input":{"image":{}}}`, "input[0].image"},
		{gemini.Vertex(), llm.ImageGenerate, "m", `{}`, "prompt"},
		{gemini.Vertex(), llm.Rerank, "m", `{"query":"q"}`, "documents"},
		{gemini.Vertex(), llm.CreateSpeech, "m", `{"input":"x","response_format":"flac"}`, "response_format"},
	} {
		_, err := c.d.Unified[c.ep].EncodeRequest(t.Context(), &dialect.Request{Body: []byte(c.input)}, &dialect.Target{Model: c.model})
		var f *fault.Error
		if !errors.As(err, &f) || f.Code != fault.InvalidParameter || f.Param != c.param {
			t.Errorf("%s %s: %v", c.ep, c.input, err)
		}
	}
}

func TestUnifiedRefusesAnswers(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		d    *dialect.Dialect
		ep   llm.Endpoint
		body string
	}{
		{gemini.Dialect(), llm.Embed, `{}`},
		{gemini.Dialect(), llm.ListModels, `[]`},
		{gemini.Vertex(), llm.Embed, `<html>`},
		{gemini.Vertex(), llm.ImageGenerate, `{"predictions":[{"raiFilteredReason":"no"}]}`},
		{gemini.Vertex(), llm.ImageGenerate, `<html>`},
		{gemini.Vertex(), llm.Rerank, `{}`},
		{gemini.Vertex(), llm.Rerank, `{"records":[{"id":"x"}]}`},
		{gemini.Vertex(), llm.CreateSpeech, `{"audioContent":"!"}`},
		{gemini.Vertex(), llm.MessagesCountTokens, `{}`},
	} {
		input := &dialect.Incoming{Body: []byte(c.body), Sent: &dialect.Request{Body: []byte(`{}`)}, To: &dialect.Target{}}
		if _, err := c.d.Unified[c.ep].TranslateResponse(input); !fault.Has(err, fault.UpstreamInvalid) {
			t.Errorf("%s %s: %v", c.ep, c.body, err)
		}
	}
}
