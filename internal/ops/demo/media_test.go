package demo_test

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"image/png"
	"io"
	"math"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"testing"

	"sluice/internal/ops/demo"
)

func TestEmbeddings(t *testing.T) {
	t.Parallel()
	p := start(t, demo.Options{})
	var r struct {
		Object, Model string
		Data          []struct {
			Object    string
			Index     int
			Embedding []float32
		}
		Usage map[string]int64
	}
	p.post("/v1/embeddings", `{"model":"demo-embedding","input":["the cat sat","The CAT slept","stock prices fell"]}`, &r)
	if r.Object != "list" || r.Model != "demo-embedding" || len(r.Data) != 3 || r.Data[2].Index != 2 || r.Data[0].Object != "embedding" || len(r.Data[0].Embedding) != 1536 {
		t.Fatalf("%+v", r)
	}
	if len(r.Usage) != 2 || r.Usage["prompt_tokens"] != 9 || r.Usage["total_tokens"] != 9 {
		t.Errorf("usage %v", r.Usage)
	}
	if near, far := cosine(r.Data[0].Embedding, r.Data[1].Embedding), cosine(r.Data[0].Embedding, r.Data[2].Embedding); near < 0.5 || far > 0.3 {
		t.Errorf("texts that share words: %.2f, others: %.2f", near, far)
	}
	for _, d := range r.Data {
		if n := cosine(d.Embedding, d.Embedding); math.Abs(n-1) > 1e-5 {
			t.Errorf("length %f", n)
		}
	}

	var encoded struct{ Data []struct{ Embedding string } }
	p.post("/v1/embeddings", `{"model":"m","input":"the cat sat","dimensions":8,"encoding_format":"base64"}`, &encoded)
	raw, err := base64.StdEncoding.DecodeString(encoded.Data[0].Embedding)
	want := demo.Vector("the cat sat", 8)
	if err != nil || len(raw) != 32 {
		t.Fatalf("%v, %d bytes", err, len(raw))
	}
	for i, w := range want {
		if got := math.Float32frombits(binary.LittleEndian.Uint32(raw[4*i:])); got != w {
			t.Errorf("number %d: %g, want %g", i, got, w)
		}
	}
	if v := demo.Vector(" ", 3); v[0] != 1 || v[1] != 0 {
		t.Errorf("vector of nothing: %v", v)
	}
}

func cosine(a, b []float32) float64 {
	var dot float64
	for i := range a {
		dot += float64(a[i]) * float64(b[i])
	}
	return dot
}

// speech is a WAV file of the provider's own, with so many words.
func speech(p provider, words int) []byte {
	p.t.Helper()
	res, got := p.call(http.MethodPost, "/v1/audio/speech", "application/json", strings.NewReader(`{"model":"demo-speech","voice":"alloy","input":"`+strings.TrimSpace(strings.Repeat("word ", words))+`"}`))
	if res.StatusCode != 200 || res.Header.Get("Content-Type") != "audio/wav" {
		p.t.Fatalf("%s %s", res.Status, res.Header)
	}
	return []byte(got)
}

func TestSpeech(t *testing.T) {
	t.Parallel()
	p := start(t, demo.Options{})
	wav := speech(p, 5)
	if len(wav) != 44+5*1600 || string(wav[:4]) != "RIFF" || string(wav[8:16]) != "WAVEfmt " || string(wav[36:40]) != "data" ||
		binary.LittleEndian.Uint32(wav[4:]) != uint32(len(wav)-8) || binary.LittleEndian.Uint32(wav[40:]) != uint32(len(wav)-44) {
		t.Errorf("head %q of %d bytes", wav[:44], len(wav))
	}
	if long := speech(p, 500); len(long) != 44+50*1600 {
		t.Errorf("%d bytes for many words", len(long))
	}
	const body = `{"model":"m","voice":"v","input":"a b c d e f g h i j k l",`
	res, pcm := p.call(http.MethodPost, "/v1/audio/speech", "application/json", strings.NewReader(body+`"response_format":"pcm"}`))
	if res.Header.Get("Content-Type") != "audio/pcm" || len(pcm) != 12*1600 {
		t.Errorf("%s, %d bytes", res.Header, len(pcm))
	}
	var streamed []byte
	events := p.events("/v1/audio/speech", body+`"response_format":"pcm","stream_format":"sse"}`)
	for _, e := range events {
		var d struct{ Audio []byte }
		_ = json.Unmarshal([]byte(e), &d)
		streamed = append(streamed, d.Audio...)
	}
	if len(events) != 3 || string(streamed) != pcm || !strings.Contains(events[2], `"usage":{"input_tokens":12,"output_tokens":12,"total_tokens":24}`) {
		t.Errorf("%d events, %d bytes, last %s", len(events), len(streamed), events[len(events)-1])
	}
}

func TestTranscription(t *testing.T) {
	t.Parallel()
	p := start(t, demo.Options{})
	wav := speech(p, 10) // one second
	const text = `I heard a.wav: 16044 bytes, 1.00 seconds, spoken in de.`
	for _, c := range []struct {
		format, contentType, want string
	}{
		{"json", "application/json", `{"text":"` + text + `","usage":{"input_token_details":{"audio_tokens":10,"text_tokens":0},"input_tokens":10,"output_tokens":10,"total_tokens":20,"type":"tokens"}}` + "\n"},
		{"text", "text/plain; charset=utf-8", text + "\n"},
		{"srt", "text/plain; charset=utf-8", "1\n00:00:00,000 --> 00:00:00,800\nI heard a.wav: 16044 bytes, 1.00 seconds, spoken\n\n2\n00:00:00,800 --> 00:00:01,000\nin de.\n\n"},
		{"vtt", "text/vtt; charset=utf-8", "WEBVTT\n\n00:00:00.000 --> 00:00:00.800\nI heard a.wav: 16044 bytes, 1.00 seconds, spoken\n\n00:00:00.800 --> 00:00:01.000\nin de.\n\n"},
	} {
		res, got := p.form("/v1/audio/transcriptions", "file", "a.wav", wav, "model", "demo-transcribe", "language", "de", "response_format", c.format)
		if res.Header.Get("Content-Type") != c.contentType || got != c.want {
			t.Errorf("%s: %s\n%s", c.format, res.Header.Get("Content-Type"), got)
		}
	}
	_, got := p.form("/v1/audio/transcriptions", "file", "a.mp3", make([]byte, 32000), "model", "m", "prompt", "be brief")
	if want := `I heard a.mp3: 32000 bytes, 2.00 seconds, spoken in en. The prompt was \"be brief\".`; !strings.Contains(got, want) {
		t.Errorf("of another format: %s", got)
	}
	res, got := p.form("/v1/audio/transcriptions", "file", "a.wav", wav, "model", "m", "response_format", "pdf")
	wantRefusal(t, res, got, 400, "response_format")
	res, got = p.form("/v1/audio/transcriptions", "", "", nil, "model", "m", "file", "a.wav")
	wantRefusal(t, res, got, 400, "file")
	res, got = p.form("/v1/audio/translations", "file", "a.wav", wav)
	wantRefusal(t, res, got, 400, "model")
	res, got = p.form("/v1/audio/transcriptions", "file", "a.wav", wav, "model", strings.Repeat("m", 65<<10))
	wantRefusal(t, res, got, 400, "model")
}

// The verbose answer is the specification's: a duration in text, and the times
// that were asked for.
func TestVerboseTranscription(t *testing.T) {
	t.Parallel()
	p := start(t, demo.Options{})
	wav := speech(p, 10)
	type span struct{ Start, End float64 }
	type transcript struct {
		Language, Duration, Text string
		Words                    []struct {
			Word string
			span
		}
		Segments []struct {
			ID, Seek *int
			span
			Text        string
			Tokens      []int
			Temperature *float64
			LogProb     *float64 `json:"avg_logprob"`
			Compression *float64 `json:"compression_ratio"`
			NoSpeech    *float64 `json:"no_speech_prob"`
		}
		Usage struct {
			Type    string
			Seconds int
		}
	}
	for name, grains := range map[string][]string{"neither": nil, "word": {"word"}, "segment": {"segment"}, "both": {"word", "segment"}} {
		fields := []string{"model", "whisper-1", "response_format", "verbose_json", "stream", "true"}
		for _, g := range grains {
			fields = append(fields, "timestamp_granularities[]", g)
		}
		_, got := p.form("/v1/audio/transcriptions", "file", "a.wav", wav, fields...)
		var a transcript
		if err := json.Unmarshal([]byte(got), &a); err != nil {
			t.Fatalf("%s: %v in %s", name, err, got)
		}
		if a.Duration != "1.00" || a.Language != "en" || a.Text == "" || a.Usage.Type != "duration" || a.Usage.Seconds != 1 {
			t.Errorf("%s: %s", name, got)
		}
		if (len(a.Words) == 10) != strings.Contains("word both", name) || (len(a.Segments) == 2) != (name != "word") {
			t.Errorf("%s: %d words, %d segments", name, len(a.Words), len(a.Segments))
		}
		for _, s := range a.Segments {
			if s.ID == nil || s.Seek == nil || s.Temperature == nil || s.LogProb == nil || s.Compression == nil || s.NoSpeech == nil || len(s.Tokens) == 0 || s.End <= s.Start || s.Text == "" {
				t.Errorf("%s: segment without a field: %s", name, got)
			}
		}
	}
}

func TestStreamedTranscription(t *testing.T) {
	t.Parallel()
	p := start(t, demo.Options{})
	res, got := p.form("/v1/audio/transcriptions", "file", "a.wav", speech(p, 10), "model", "demo-transcribe", "stream", "true")
	events := split(t, res, got)
	var text strings.Builder
	for _, e := range events[:len(events)-1] {
		var d struct{ Type, Delta string }
		if err := json.Unmarshal([]byte(e), &d); err != nil || d.Type != "transcript.text.delta" {
			t.Fatalf("%v: %s", err, e)
		}
		text.WriteString(d.Delta)
	}
	var done struct {
		Type, Text string
		Usage      struct {
			Total int64 `json:"total_tokens"`
		}
	}
	if err := json.Unmarshal([]byte(events[len(events)-1]), &done); err != nil || done.Type != "transcript.text.done" || done.Text != text.String() || done.Usage.Total != 20 {
		t.Errorf("%v: %+v, pieces %q", err, done, text.String())
	}
	_, got = p.form("/v1/audio/translations", "file", "a.wav", speech(p, 10), "model", "m", "language", "de", "response_format", "text")
	if !strings.HasSuffix(got, "spoken in en.\n") {
		t.Errorf("translation: %q", got)
	}
}

func TestImages(t *testing.T) {
	t.Parallel()
	p := start(t, demo.Options{})
	var r struct {
		Created int64
		Data    []struct {
			B64 []byte `json:"b64_json"`
			URL string
		}
		Usage struct {
			Input  int64 `json:"input_tokens"`
			Output int64 `json:"output_tokens"`
			Total  int64 `json:"total_tokens"`
		}
	}
	p.post("/v1/images/generations", `{"model":"demo-image","prompt":"a red house","n":2}`, &r)
	if r.Created != fixedUnix || len(r.Data) != 2 || bytes.Equal(r.Data[0].B64, r.Data[1].B64) || r.Usage.Input != 3 || r.Usage.Output != 200 || r.Usage.Total != 203 {
		t.Errorf("%+v", r)
	}
	for _, body := range []string{`{"model":"dall-e-3","prompt":"a red house"}`, `{"prompt":"a red house","response_format":"url"}`} {
		var linked = r
		linked.Data = nil
		p.post("/v1/images/generations", body, &linked)
		res, file := p.call(http.MethodGet, strings.TrimPrefix(linked.Data[0].URL, p.url), "", nil)
		if res.Header.Get("Content-Type") != "image/png" || file != string(r.Data[0].B64) {
			t.Errorf("%s: %s, %d bytes", linked.Data[0].URL, res.Status, len(file))
		}
	}
	if img, err := png.Decode(bytes.NewReader(r.Data[0].B64)); err != nil || img.Bounds().Dx() != 16 {
		t.Errorf("picture: %v", err)
	}
	res, got := p.form("/v1/images/edits", "image", "in.png", r.Data[0].B64, "model", "demo-image", "prompt", "a red house", "n", "1")
	if res.StatusCode != 200 || !strings.Contains(got, `"input_tokens":4`) || !strings.Contains(got, `"image_tokens":1`) {
		t.Errorf("%s %s", res.Status, got)
	}
	res, got = p.form("/v1/images/edits", "", "", nil, "prompt", "x")
	wantRefusal(t, res, got, 400, "image")
	res, got = p.form("/v1/images/edits", "image", "in.png", nil, "prompt", "x", "n", "many")
	wantRefusal(t, res, got, 400, "n")
}

func TestModerations(t *testing.T) {
	t.Parallel()
	p := start(t, demo.Options{})
	var r struct {
		ID, Model string
		Results   []struct {
			Flagged    bool
			Categories map[string]bool
			Scores     map[string]float64  `json:"category_scores"`
			Inputs     map[string][]string `json:"category_applied_input_types"`
		}
	}
	p.post("/v1/moderations", `{"input":["I will Kill you!",{"type":"text","text":"a friendly word"}]}`, &r)
	if !strings.HasPrefix(r.ID, "modr-") || r.Model == "" || len(r.Results) != 2 {
		t.Fatalf("%+v", r)
	}
	bad, good := r.Results[0], r.Results[1]
	if !bad.Flagged || !bad.Categories["violence"] || bad.Scores["violence"] != 0.9 || good.Flagged || good.Categories["violence"] || len(good.Categories) != 13 || len(good.Scores) != 13 || len(good.Inputs) != 13 {
		t.Errorf("%+v", r.Results)
	}
}

func TestRerank(t *testing.T) {
	t.Parallel()
	p := start(t, demo.Options{})
	var r struct {
		ID, Model string
		Results   []struct {
			Index    int
			Score    float64 `json:"relevance_score"`
			Document *struct{ Text string }
		}
		Usage struct {
			Total int64 `json:"total_tokens"`
		}
		Meta struct {
			Billed struct {
				Units int `json:"search_units"`
			} `json:"billed_units"`
		}
	}
	p.post("/v1/rerank", `{"model":"m","query":"red house","documents":["a dog",{"text":"the RED house"},"a house"],"top_n":2,"return_documents":true}`, &r)
	if len(r.Results) != 2 || r.Results[0].Index != 1 || r.Results[0].Score != 1 || r.Results[1].Index != 2 || r.Results[1].Score != 0.5 || r.Results[0].Document.Text != "the RED house" {
		t.Errorf("%+v", r)
	}
	if r.Usage.Total != 9 || r.Meta.Billed.Units != 1 || r.Model != "m" || r.ID == "" {
		t.Errorf("%+v", r)
	}
	r.Results = nil
	p.post("/v1/rerank", `{"model":"m","query":"x","documents":["a","b"]}`, &r)
	if len(r.Results) != 2 || r.Results[0].Index != 0 || r.Results[0].Document != nil {
		t.Errorf("%+v", r)
	}
}

// Sound of any size passes through without being kept. Not parallel: it measures
// the memory of the whole program.
func TestLongAudio(t *testing.T) {
	pr, pw := io.Pipe()
	go func() {
		_, _ = io.WriteString(pw, "--b\r\nContent-Disposition: form-data; name=\"model\"\r\n\r\nm\r\n--b\r\nContent-Disposition: form-data; name=\"file\"; filename=\"a.mp3\"\r\n\r\n")
		block := make([]byte, 1<<20)
		for range 25 {
			_, _ = pw.Write(block)
		}
		_, _ = io.WriteString(pw, "\r\n--b--\r\n")
		_ = pw.Close()
	}()
	r, _ := http.NewRequest(http.MethodPost, "/v1/audio/transcriptions", pr)
	r.Header.Set("Content-Type", "multipart/form-data; boundary=b")
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	w := httptest.NewRecorder()
	demo.Handler().ServeHTTP(w, r)
	runtime.ReadMemStats(&after)
	if w.Code != 200 || !strings.Contains(w.Body.String(), "26214400 bytes") {
		t.Errorf("%d %s", w.Code, w.Body)
	}
	if used := after.TotalAlloc - before.TotalAlloc; used > 8<<20 {
		t.Errorf("%d bytes allocated for 25 MiB of sound", used)
	}
}

// A picture that is streamed is seen as it comes to be, and at last whole, as it would have
// come at once.
func TestImageStreams(t *testing.T) {
	t.Parallel()
	p := start(t, demo.Options{})
	var generated struct {
		Data []struct {
			B64 []byte `json:"b64_json"`
		}
	}
	p.post("/v1/images/generations", `{"model":"demo-image","prompt":"a red house","n":2}`, &generated)
	_, edited := p.form("/v1/images/edits", "image", "in.png", generated.Data[0].B64, "prompt", "a red house")
	res, got := p.form("/v1/images/edits", "image", "in.png", generated.Data[0].B64, "prompt", "a red house", "n", "2", "stream", "true", "partial_images", "1")
	if !strings.Contains(edited, base64.StdEncoding.EncodeToString(generated.Data[0].B64)) {
		t.Errorf("edited %s", edited)
	}
	for kind, events := range map[string][]string{
		"image_generation": p.events("/v1/images/generations", `{"model":"demo-image","prompt":"a red house","n":2,"stream":true,"partial_images":1}`),
		"image_edit":       split(t, res, got),
	} {
		if len(events) != 4 {
			t.Fatalf("%s: %q", kind, events)
		}
		for i, text := range events {
			var e struct {
				Type    string
				B64     []byte `json:"b64_json"`
				Partial *int   `json:"partial_image_index"`
				Usage   struct {
					Out int `json:"output_tokens"`
				}
			}
			if err := json.Unmarshal([]byte(text), &e); err != nil || !bytes.Equal(e.B64, generated.Data[i/2].B64) {
				t.Errorf("%s: %v %s", kind, err, text)
			}
			partial := i%2 == 0
			if partial != (e.Type == kind+".partial_image") || partial == (e.Type == kind+".completed") || partial != (e.Partial != nil) || partial == (e.Usage.Out == 200) {
				t.Errorf("%s: event %d is %s", kind, i, text)
			}
		}
	}
}
