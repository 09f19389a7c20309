package gateway_test

import (
	"encoding/json"
	"os"
	"strings"
	"testing"

	"sluice/internal/domain/record"
	"sluice/internal/test/upstream"
)

// wrongLabels are content types that say nothing true of a JSON object or an event stream.
// The empty one stands for none at all.
var wrongLabels = []string{"", "text/plain; charset=utf-8", "text/html", "application/octet-stream", "text/event-stream", "application/xml", "audio/mpeg"}

// labelled is a reply with a label, or without one where it is empty.
func labelled(label, body string) upstream.Response {
	r := upstream.Text(200, label, body)
	if label == "" {
		r.Header = nil
	}
	return r
}

// unifiedCall is a call of one unified route and a correct answer to it.
type unifiedCall struct {
	provider, method, path, body, response string
	form                                   []string
}

var unifiedCalls = map[string]unifiedCall{
	"chat":              {method: "POST", path: "/chat/completions", body: hello, response: `{"id":"c","object":"chat.completion","choices":[{"index":0,"message":{"role":"assistant","content":"Hi"},"finish_reason":"stop"}],"usage":{"prompt_tokens":3,"completion_tokens":1,"total_tokens":4}}`},
	"completions":       {method: "POST", path: "/completions", body: `{"model":"m","prompt":"x"}`, response: `{"id":"c","object":"text_completion","choices":[{"index":0,"text":"Hi","finish_reason":"stop"}]}`},
	"embeddings":        {method: "POST", path: "/embeddings", body: `{"model":"m","input":"x"}`, response: `{"object":"list","data":[{"object":"embedding","index":0,"embedding":[0.5]}]}`},
	"messages":          {provider: "anthropic", method: "POST", path: "/messages", body: `{"model":"claude-sonnet-5","max_tokens":9,"messages":[{"role":"user","content":"x"}]}`, response: claudeResponse},
	"messages as chat":  {method: "POST", path: "/messages", body: `{"model":"m","max_tokens":9,"messages":[{"role":"user","content":"x"}]}`, response: `{"id":"c","choices":[{"index":0,"message":{"role":"assistant","content":"Hello"},"finish_reason":"stop"}]}`},
	"count":             {provider: "anthropic", method: "POST", path: "/messages/count_tokens", body: `{"model":"claude-sonnet-5","messages":[{"role":"user","content":"x"}]}`, response: `{"input_tokens":4}`},
	"responses":         {method: "POST", path: "/responses", body: `{"model":"m","input":"x"}`, response: responded},
	"get response":      {method: "GET", path: "/responses/resp_1", response: responded},
	"delete response":   {method: "DELETE", path: "/responses/resp_1", response: `{"id":"resp_1","object":"response.deleted","deleted":true}`},
	"input items":       {method: "GET", path: "/responses/resp_1/input_items", response: `{"object":"list","data":[]}`},
	"response tokens":   {method: "POST", path: "/responses/input_tokens", body: `{"model":"m","input":"x"}`, response: `{"object":"response.input_tokens","input_tokens":4}`},
	"images":            {method: "POST", path: "/images/generations", body: `{"model":"gpt-image-1","prompt":"x"}`, response: `{"created":1,"data":[{"b64_json":"aGk="}]}`},
	"image edits":       {method: "POST", path: "/images/edits", form: []string{"model", "gpt-image-1", "prompt", "x", "@image", "a.png:png"}, response: `{"created":1,"data":[{"b64_json":"aGk="}]}`},
	"transcriptions":    {method: "POST", path: "/audio/transcriptions", form: []string{"model", "whisper-1", "@file", "a.mp3:sound"}, response: `{"text":"Hi"}`},
	"translations":      {method: "POST", path: "/audio/translations", form: []string{"model", "whisper-1", "@file", "a.mp3:sound"}, response: `{"text":"Hi"}`},
	"rerank":            {provider: "jina", method: "POST", path: "/rerank", body: `{"model":"jina-reranker-v2-base-multilingual","query":"x","documents":["a"]}`, response: `{"model":"jina-reranker-v2-base-multilingual","results":[{"index":0,"relevance_score":0.5}],"usage":{"total_tokens":3}}`},
	"moderations":       {method: "POST", path: "/moderations", body: `{"model":"omni-moderation-latest","input":"x"}`, response: `{"id":"m","model":"omni-moderation-latest","results":[{"flagged":false}]}`},
	"ocr":               {provider: "mistral-ai", method: "POST", path: "/ocr", body: `{"model":"mistral-ocr-latest","document":{"type":"document_url","document_url":"https://example.com/a.pdf"}}`, response: `{"pages":[],"model":"mistral-ocr-latest","usage_info":{"pages_processed":1}}`},
	"upload":            {method: "POST", path: "/files", form: []string{"purpose", "batch", "@file", "a.jsonl:{}"}, response: `{"id":"file-1","object":"file"}`},
	"files":             {method: "GET", path: "/files", response: `{"object":"list","data":[]}`},
	"file":              {method: "GET", path: "/files/file-1", response: `{"id":"file-1","object":"file"}`},
	"delete file":       {method: "DELETE", path: "/files/file-1", response: `{"id":"file-1","object":"file","deleted":true}`},
	"create batch":      {method: "POST", path: "/batches", body: `{"input_file_id":"file-1","endpoint":"/v1/chat/completions","completion_window":"24h"}`, response: `{"id":"b","object":"batch"}`},
	"batches":           {method: "GET", path: "/batches", response: `{"object":"list","data":[]}`},
	"batch":             {method: "GET", path: "/batches/b", response: `{"id":"b","object":"batch"}`},
	"cancel batch":      {method: "POST", path: "/batches/b/cancel", body: `{}`, response: `{"id":"b","object":"batch"}`},
	"create fine-tune":  {method: "POST", path: "/fine_tuning/jobs", body: `{"model":"gpt-4o-mini","training_file":"file-1"}`, response: `{"id":"f","object":"fine_tuning.job"}`},
	"fine-tunes":        {method: "GET", path: "/fine_tuning/jobs", response: `{"object":"list","data":[]}`},
	"fine-tune":         {method: "GET", path: "/fine_tuning/jobs/f", response: `{"id":"f","object":"fine_tuning.job"}`},
	"cancel fine-tune":  {method: "POST", path: "/fine_tuning/jobs/f/cancel", body: `{}`, response: `{"id":"f","object":"fine_tuning.job"}`},
	"models":            {method: "GET", path: "/models", response: `{"object":"list","data":[{"id":"m","object":"model"}]}`},
	"model":             {method: "GET", path: "/models/m", response: `{"id":"m","object":"model"}`},
	"Anthropic's files": {provider: "anthropic", method: "GET", path: "/files", response: `{"data":[],"has_more":false}`},
}

// ask makes the call of a case; change is what is added to a JSON body in front.
func (r *rig) ask(c unifiedCall, change string) callResult {
	r.t.Helper()
	id := c.provider
	if id == "" {
		id = "openai"
	}
	to := []string{"x-gateway-provider: " + id, "authorization: Bearer k", "x-gateway-custom-host: " + r.up.URL() + "/v1"}
	if c.provider == "anthropic" && strings.HasPrefix(c.path, "/files") {
		to = append(to, "anthropic-version: 2023-06-01")
	}
	body := c.body
	if change != "" {
		body = strings.Replace(body, "{", "{"+change+",", 1)
	}
	if c.form != nil {
		var kind string
		body, kind = form(r.t, c.form...)
		to = append(to, "content-type: "+kind)
	}
	return r.call(c.method, "/v1"+c.path, body, to...)
}

// A JSON object is an answer on every unified route, whatever its label says, and the client
// gets the right label.
func TestAnswersAreJudgedByTheirBytes(t *testing.T) {
	t.Parallel()
	for name, c := range unifiedCalls {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t)
			right := r.judged(c, "application/json", c.response)
			if right.StatusCode != 200 {
				t.Fatalf("with the right label: %d %s", right.StatusCode, right.Text)
			}
			if a := r.judged(c, "application/json", "\ufeff"+c.response); unstamped(a.Text) != unstamped(right.Text) {
				t.Errorf("behind a byte order mark: %d %s", a.StatusCode, a.Text)
			}
			for _, label := range wrongLabels {
				for _, lead := range []string{"", "\r\n ", "\ufeff"} {
					a := r.judged(c, label, lead+c.response)
					if a.StatusCode != 200 || a.Header.Get("content-type") != "application/json" || unstamped(a.Text) != unstamped(right.Text) {
						t.Errorf("labelled %q behind %q: %d %q %s", label, lead, a.StatusCode, a.Header.Get("content-type"), a.Text)
					}
				}
				if a := r.judged(c, label, "<!DOCTYPE html>\n<html><body>Sign in</body></html>"); !isPageRefusal(a) {
					t.Errorf("a web page labelled %q: %d %s", label, a.StatusCode, a.Text)
				}
			}
		})
	}
}

// judged is the answer to a call whose upstream says reply under a label.
func (r *rig) judged(c unifiedCall, label, response string) callResult {
	r.up.Script(upstream.Always(labelled(label, response)))
	return r.ask(c, "")
}

// unstamped is an answer without what differs from call to call.
func unstamped(body string) string {
	var m map[string]any
	if json.Unmarshal([]byte(body), &m) != nil {
		return body
	}
	for _, name := range []string{"id", "created", "created_at"} {
		delete(m, name)
	}
	b, err := json.Marshal(m)
	if err != nil {
		return body
	}
	return string(b)
}

const chatEvents = "data: {\"id\":\"c\",\"object\":\"chat.completion.chunk\",\"choices\":[{\"index\":0,\"delta\":{\"content\":\"Hello\"},\"finish_reason\":null}]}\n\n" +
	"data: {\"id\":\"c\",\"object\":\"chat.completion.chunk\",\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n"

const claudeEvents = "event: message_start\ndata: {\"type\":\"message_start\",\"message\":{\"id\":\"msg_1\",\"type\":\"message\",\"role\":\"assistant\",\"model\":\"claude-sonnet-5\",\"content\":[],\"usage\":{\"input_tokens\":3,\"output_tokens\":1}}}\n\n" +
	"event: content_block_start\ndata: {\"type\":\"content_block_start\",\"index\":0,\"content_block\":{\"type\":\"text\",\"text\":\"\"}}\n\n" +
	"event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"text_delta\",\"text\":\"Hello\"}}\n\n" +
	"event: content_block_stop\ndata: {\"type\":\"content_block_stop\",\"index\":0}\n\n" +
	"event: message_delta\ndata: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"end_turn\"},\"usage\":{\"output_tokens\":2}}\n\nevent: message_stop\ndata: {\"type\":\"message_stop\"}\n\n"

const imageEvents = "event: image_generation.completed\ndata: {\"type\":\"image_generation.completed\",\"b64_json\":\"aGVsbG8=\",\"Hello\":1,\"usage\":{\"input_tokens\":1,\"output_tokens\":1,\"total_tokens\":2}}\n\n"

// An event stream is one after a request for it, whatever its label says; the client gets the
// right label, and what it used is counted.
func TestStreamsAreJudgedByTheirBytes(t *testing.T) {
	t.Parallel()
	const chat, messages = `{"model":"m","messages":[{"role":"user","content":"x"}]}`, `{"model":"claude-sonnet-5","max_tokens":9,"messages":[{"role":"user","content":"x"}]}`
	for name, c := range map[string]struct {
		unifiedCall
		events string
	}{
		"chat":             {unifiedCall{method: "POST", path: "/chat/completions", body: chat}, chatEvents},
		"chat, comments":   {unifiedCall{method: "POST", path: "/chat/completions", body: chat}, ": working on it\n\n" + chatEvents},
		"completions":      {unifiedCall{method: "POST", path: "/completions", body: `{"model":"m","prompt":"x"}`}, strings.ReplaceAll(chatEvents, `"delta":{"content":"Hello"}`, `"text":"Hello"`)},
		"messages":         {unifiedCall{provider: "anthropic", method: "POST", path: "/messages", body: messages}, claudeEvents},
		"messages as chat": {unifiedCall{method: "POST", path: "/messages", body: messages}, chatEvents},
		"chat as messages": {unifiedCall{provider: "anthropic", method: "POST", path: "/chat/completions", body: messages}, claudeEvents},
		"responses": {unifiedCall{provider: "groq", method: "POST", path: "/responses", body: `{"model":"m","input":"x"}`},
			"event: response.created\ndata: {\"type\":\"response.created\",\"response\":{\"id\":\"resp_1\",\"status\":\"in_progress\"}}\n\nevent: response.output_text.delta\ndata: {\"type\":\"response.output_text.delta\",\"delta\":\"Hello\"}\n\nevent: response.completed\ndata: {\"type\":\"response.completed\",\"response\":" + responded + "}\n\n"},
		"images": {unifiedCall{method: "POST", path: "/images/generations", body: `{"model":"gpt-image-1","prompt":"x"}`}, imageEvents},
		"image edits": {unifiedCall{method: "POST", path: "/images/edits", form: []string{"model", "gpt-image-1", "prompt", "x", "stream", "true", "@image", "a.png:png"}},
			imageEvents},
		"transcriptions": {unifiedCall{method: "POST", path: "/audio/transcriptions", form: []string{"model", "gpt-4o-transcribe", "stream", "true", "@file", "a.mp3:sound"}},
			"data: {\"type\":\"transcript.text.delta\",\"delta\":\"Hello\"}\n\ndata: {\"type\":\"transcript.text.done\",\"text\":\"Hello\"}\n\ndata: [DONE]\n\n"},
		"speech": {unifiedCall{method: "POST", path: "/audio/speech", body: `{"model":"gpt-4o-mini-tts","input":"x","voice":"alloy","stream_format":"sse"}`},
			"data: {\"type\":\"speech.audio.delta\",\"audio\":\"Hello\"}\n\ndata: {\"type\":\"speech.audio.done\"}\n\n"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			change := `"stream":true`
			if c.body == "" || c.path == "/audio/speech" {
				change = ""
			}
			r, calls := newRig(t), 0
			for _, label := range []string{"", "text/plain", "text/html; charset=utf-8", "application/json", "application/octet-stream", "binary/octet-stream"} {
				for _, lead := range []string{"", "\n"} {
					r.up.Script(upstream.Always(labelled(label, lead+c.events)))
					a := r.ask(c.unifiedCall, change)
					if a.StatusCode != 200 || !strings.HasPrefix(a.Header.Get("content-type"), "text/event-stream") || !strings.Contains(a.Text, "Hello") || a.Err != nil {
						t.Errorf("labelled %q: %d %q %s (%v)", label, a.StatusCode, a.Header.Get("content-type"), a.Text, a.Err)
					}
					calls++
					if row := r.journal.some(t, calls)[calls-1]; row.Outcome != record.OK {
						t.Errorf("labelled %q it is on record as %s: %s", label, row.Outcome, row.Error)
					}
				}
			}
		})
	}
}

// A request for a stream that is answered whole, or with a web page, under the label of a
// stream is judged by its bytes, too.
func TestNoStreamUnderItsLabel(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]unifiedCall{
		"chat": unifiedCalls["chat"], "completions": unifiedCalls["completions"], "messages": unifiedCalls["messages"],
		"messages as chat": unifiedCalls["messages as chat"], "responses": unifiedCalls["responses"], "images": unifiedCalls["images"],
	} {
		r := newRig(t)
		for _, label := range wrongLabels {
			r.up.Script(upstream.Always(labelled(label, c.response)))
			a := r.ask(c, `"stream":true`)
			kind := a.Header.Get("content-type")
			if a.StatusCode != 200 || json.Valid([]byte(a.Text)) != (kind == "application/json") || strings.HasPrefix(a.Text, "event: ") != (kind == "text/event-stream") {
				t.Errorf("%s labelled %q: %d %q %s", name, label, a.StatusCode, kind, a.Text)
			}
			r.up.Script(upstream.Always(labelled(label, "<html>Sign in</html>")))
			if a := r.ask(c, `"stream":true`); !isPageRefusal(a) {
				t.Errorf("%s, a web page labelled %q: %d %s", name, label, a.StatusCode, a.Text)
			}
		}
	}
}

// What a recording says is text where text was asked for, whatever its label says.
func TestTranscriptsAreText(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	for _, path := range []string{"/audio/transcriptions", "/audio/translations"} {
		for format, text := range map[string]string{
			"text": "data: the word that he said\n", "srt": "1\n00:00:00,000 --> 00:00:01,000\nHello\n", "vtt": "WEBVTT\n\n00:00.000 --> 00:01.000\n<b>Hello</b>\n",
		} {
			for label, want := range map[string]string{
				"": "text/plain; charset=utf-8", "text/html; charset=utf-8": "text/plain; charset=utf-8", "application/json": "text/plain; charset=utf-8",
				"application/octet-stream": "text/plain; charset=utf-8", "text/event-stream": "text/plain; charset=utf-8", "audio/mpeg": "text/plain; charset=utf-8",
				"text/plain": "text/plain", "text/vtt": "text/vtt", "application/x-subrip": "application/x-subrip",
			} {
				c := unifiedCall{method: "POST", path: path, form: []string{"model", "whisper-1", "response_format", format, "@file", "a.mp3:sound"}}
				a := r.judged(c, label, text)
				if a.StatusCode != 200 || a.Text != text || a.Header.Get("content-type") != want {
					t.Errorf("%s of %s labelled %q: %d %q %s", format, path, label, a.StatusCode, a.Header.Get("content-type"), a.Text)
				}
				if a := r.judged(c, label, "  <!-- gone --><HTML lang=en>"); a.StatusCode != 502 {
					t.Errorf("a web page labelled %q for %s: %d %s", label, format, a.StatusCode, a.Text)
				}
				if a := r.judged(c, label, ""); a.StatusCode != 200 || a.Text != "" || a.Header.Get("content-type") != want {
					t.Errorf("a silent recording labelled %q for %s: %d %q %s", label, format, a.StatusCode, a.Header.Get("content-type"), a.Text)
				}
				if a := r.judged(c, label, `{ and so it began`); a.StatusCode != 200 || a.Text != `{ and so it began` {
					t.Errorf("a text like JSON labelled %q for %s: %d %s", label, format, a.StatusCode, a.Text)
				}
			}
		}
	}
}

// Sound is sound, whatever its label says.
func TestSpeechIsSound(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	for name, c := range map[string]struct{ format, bytes, want string }{
		"mp3":        {"", "ID3\x04\x00\x00\x00", "audio/mpeg"},
		"bare mp3":   {"mp3", "\xff\xfb\x90\x00", "audio/mpeg"},
		"aac":        {"aac", "\xff\xf1\x50\x80", "audio/aac"},
		"wav":        {"wav", "RIFF\x24\x00\x00\x00WAVEfmt ", "audio/wav"},
		"opus":       {"opus", "OggS\x00\x02", "audio/ogg"},
		"flac":       {"flac", "fLaC\x00\x00\x00\x22", "audio/flac"},
		"pcm":        {"pcm", "\x00\x01\x02\x03", "application/octet-stream"},
		"not as bid": {"mp3", "RIFF\x24\x00\x00\x00WAVEfmt ", "audio/wav"},
	} {
		body := `{"model":"tts-1","input":"x","voice":"alloy"}`
		if c.format != "" {
			body = strings.Replace(body, "{", `{"response_format":"`+c.format+`",`, 1)
		}
		for _, label := range []string{"", "text/plain", "text/html", "application/json", "text/event-stream", "application/octet-stream"} {
			a := r.judged(unifiedCall{method: "POST", path: "/audio/speech", body: body}, label, c.bytes)
			if a.StatusCode != 200 || a.Text != c.bytes || a.Header.Get("content-type") != c.want {
				t.Errorf("%s labelled %q: %d %q %q", name, label, a.StatusCode, a.Header.Get("content-type"), a.Text)
			}
			if a := r.judged(unifiedCall{method: "POST", path: "/audio/speech", body: body}, label, "<html><head>"); a.StatusCode != 502 {
				t.Errorf("a web page labelled %q: %d %s", label, a.StatusCode, a.Text)
			}
		}
	}
}

// A file is what was uploaded: it is neither held nor changed, whatever it looks like; only a
// web page that says so is none.
func TestFilesComeAsTheyAre(t *testing.T) {
	t.Parallel()
	lines := `{"custom_id":"1","response":{"status_code":200}}` + "\n" + `{"custom_id":"2","error":{"code":429}}` + "\n"
	r := newRig(t)
	r.up.Handle("/v1/batches/b", upstream.Always(upstream.JSON(200, []byte(`{"id":"b","output_file_id":"file-1"}`))))
	for label, want := range map[string]string{"": "", "application/json": "application/json", "application/jsonl": "application/jsonl", "text/plain": "text/plain", "text/html": "application/octet-stream", "text/event-stream": "text/event-stream"} {
		for _, body := range []string{lines, lines[:strings.Index(lines, "\n")], `{"error":{"message":"x","code":429}}`, "[1]", "data: x\n\n"} {
			r.up.Handle("/v1/files/file-1/content", upstream.Always(labelled(label, body)))
			a := r.call("GET", "/v1/files/file-1/content", "", r.custom()...)
			if a.StatusCode != 200 || a.Text != body || a.Header.Get("content-type") != want {
				t.Errorf("labelled %q: %d %q %s", label, a.StatusCode, a.Header.Get("content-type"), a.Text)
			}
			if a := r.call("GET", "/v1/batches/b/output", "", r.custom()...); a.StatusCode != 200 || a.Text != body {
				t.Errorf("the output of a batch labelled %q: %d %s", label, a.StatusCode, a.Text)
			}
		}
	}
	r.up.Handle("/v1/files/file-1/content", upstream.Always(labelled("text/html", "<html>Sign in</html>")))
	if a := r.call("GET", "/v1/files/file-1/content", "", r.custom()...); a.StatusCode != 502 {
		t.Errorf("a web page: %d %s", a.StatusCode, a.Text)
	}
}

// On pass-through nothing is sniffed, relabelled or refused.
func TestPassThroughKeepsLabels(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	for _, label := range append([]string{"application/json"}, wrongLabels...) {
		for _, body := range []string{`{"a":1}`, "data: x\n\n", "<html>Sign in</html>", "\ufeff{}", "text"} {
			r.up.Script(upstream.Always(labelled(label, body)))
			a := r.call("POST", "/v1/other", `{"stream":true}`, r.custom()...)
			if a.StatusCode != 200 || a.Text != body || a.Header.Get("content-type") != label {
				t.Errorf("%q labelled %q: %d %q %q", body, label, a.StatusCode, a.Header.Get("content-type"), a.Text)
			}
		}
	}
}

// Each dialect's answers and streams are translated, whatever their label says, and what they
// used is counted.
func TestDialectsAreJudgedByTheirBytes(t *testing.T) {
	t.Parallel()
	s := surfaces["chat"]
	for _, p := range speakers {
		t.Run(p.id, func(t *testing.T) {
			t.Parallel()
			r, calls := newRig(t), 0
			for _, label := range []string{"", "text/plain", "text/html", "application/json", "application/octet-stream"} {
				buffered, stream := labelled(label, p.response), events(p.events...)
				if stream.Header = buffered.Header; label == "" {
					stream.Header = nil
				}
				r.up.Script(upstream.InTurn(buffered, buffered, stream))
				first := r.call("POST", s.path, s.body, r.as(p)...)
				bufferedResult := r.call("POST", s.path, strings.Replace(s.body, "{", `{"stream":true,`, 1), r.as(p)...)
				streamResult := r.call("POST", s.path, strings.Replace(s.body, "{", `{"stream":true,`, 1), r.as(p)...)
				for _, want := range s.buffered {
					if first.StatusCode != 200 || !strings.Contains(first.Text, want) {
						t.Errorf("labelled %q: %d without %s: %q", label, first.StatusCode, want, first.Text)
					}
				}
				if bufferedResult.StatusCode != 200 || !strings.Contains(bufferedResult.Text, "Hello") {
					t.Errorf("labelled %q and asked for a stream: %d %q", label, bufferedResult.StatusCode, bufferedResult.Text)
				}
				if streamResult.StatusCode != 200 || !strings.HasSuffix(streamResult.Text, s.end) || !strings.Contains(streamResult.Text, `"lo"`) {
					t.Errorf("a stream labelled %q: %d %q", label, streamResult.StatusCode, streamResult.Text)
				}
				calls += 3
				for i, row := range r.journal.some(t, calls)[calls-3:] {
					if u := &row.Usage; u.InputTokens != 4 || u.OutputTokens != 2 || !u.Reported || row.Outcome != record.OK {
						t.Errorf("labelled %q, record %d: %s %+v", label, i, row.Outcome, u)
					}
				}
			}
		})
	}
}

// A stream in Amazon's frames is one, whatever its label says.
func TestFramesAreJudgedByTheirBytes(t *testing.T) {
	t.Parallel()
	frames, err := os.ReadFile("../dialect/bedrock/testdata/converse.bin")
	if err != nil {
		t.Fatal(err)
	}
	r := newRig(t)
	for _, label := range []string{"application/vnd.amazon.eventstream", "", "application/octet-stream", "text/event-stream", "application/json"} {
		r.up.Script(upstream.Always(labelled(label, string(frames))))
		a := r.call("POST", "/v1/chat/completions", `{"model":"anthropic.claude-3-5-sonnet-20240620-v1:0","stream":true,"messages":[{"role":"user","content":"x"}]}`,
			"x-gateway-provider: bedrock", "x-gateway-aws-region: eu-central-1", "x-gateway-aws-access-key-id: AKIDEXAMPLE", "x-gateway-aws-secret-access-key: secret", "x-gateway-custom-host: "+r.up.URL())
		if a.StatusCode != 200 || !strings.HasPrefix(a.Header.Get("content-type"), "text/event-stream") || !strings.HasSuffix(a.Text, "data: [DONE]\n\n") {
			t.Errorf("labelled %q: %d %q %s", label, a.StatusCode, a.Header.Get("content-type"), a.Text)
		}
	}
}
