package openai_test

import (
	"bytes"
	"mime/multipart"
	"net/textproto"
	"strings"
	"testing"

	"sluice/internal/dialect"
	"sluice/internal/dialect/openai"
	"sluice/internal/kernel/fault"
	"sluice/internal/kernel/llm"
	"sluice/internal/kernel/multipartedit"
	"sluice/internal/kernel/wire"
)

func TestCheck(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name  string
		ep    llm.Endpoint
		body  string
		s     dialect.Shaping
		param string // at fault; empty means accepted
	}{
		{"a chat", llm.ChatComplete, `{"model":"m","messages":[],"temperature":99,"new_field":1}`, dialect.Shaping{}, ""},
		{"no model", llm.ChatComplete, `{"messages":[]}`, dialect.Shaping{}, "model"},
		{"a null model", llm.ChatComplete, `{"model":null,"messages":[]}`, dialect.Shaping{}, "model"},
		{"an empty model", llm.ChatComplete, `{"model":"","messages":[]}`, dialect.Shaping{}, "model"},
		{"a list of models", llm.ChatComplete, `{"model":["m"],"messages":[]}`, dialect.Shaping{}, "model"},
		{"a list of models beside the target's", llm.ChatComplete, `{"model":["m"],"messages":[]}`, dialect.Shaping{Model: "m"}, "model"},
		{"an empty model beside the target's", llm.ChatComplete, `{"model":"","messages":[]}`, dialect.Shaping{Model: "m"}, ""},
		{"an empty model and a default", llm.ChatComplete, `{"model":"","messages":[]}`, dialect.Shaping{Default: params("model", `"m"`)}, "model"},
		{"the target's model", llm.ChatComplete, `{"messages":[]}`, dialect.Shaping{Model: "m"}, ""},
		{"a model by override", llm.ChatComplete, `{"messages":[]}`, dialect.Shaping{Override: params("model", `"m"`)}, ""},
		{"a model by default", llm.ChatComplete, `{"messages":[]}`, dialect.Shaping{Default: params("model", `"m"`)}, ""},
		{"a null model by default", llm.ChatComplete, `{"messages":[]}`, dialect.Shaping{Default: params("model", `null`)}, "model"},
		{"no messages", llm.ChatComplete, `{"model":"m","prompt":"x"}`, dialect.Shaping{}, "messages"},
		{"no prompt", llm.Complete, `{"model":"m"}`, dialect.Shaping{}, "prompt"},
		{"no input", llm.Embed, `{"model":"m","input":null}`, dialect.Shaping{}, "input"},
		{"a response to a stored prompt", llm.CreateModelResponse, `{"prompt":{"id":"pmpt_1"}}`, dialect.Shaping{}, ""},
		{"a response to nothing", llm.CreateModelResponse, `{"model":"m"}`, dialect.Shaping{}, "input"},
		{"an image of nothing", llm.ImageGenerate, `{}`, dialect.Shaping{}, "prompt"},
		{"an image without a model", llm.ImageGenerate, `{"prompt":"a cat"}`, dialect.Shaping{}, ""},
		{"a moderation without a model", llm.Moderate, `{"input":"x"}`, dialect.Shaping{}, ""},
		{"a batch", llm.CreateBatch, `{}`, dialect.Shaping{}, ""},
		{"pass-through", llm.Proxy, `{}`, dialect.Shaping{}, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			wantFault(t, openai.Check(c.ep, scan(t, c.body), c.s), c.param)
		})
	}
}

func wantFault(t *testing.T, err error, param string) {
	t.Helper()
	f := fault.From(err)
	switch {
	case param == "" && err != nil:
		t.Errorf("refused: %v", err)
	case param != "" && (err == nil || f.Code != fault.InvalidParameter || f.Param != param || !strings.Contains(f.Public, param)):
		t.Errorf("got %v, want %s naming %s", err, fault.InvalidParameter, param)
	}
}

// part is a field, or a file when its name is not empty.
type part struct{ name, file, value string }

func form(t *testing.T, parts []part) *multipartedit.Form {
	t.Helper()
	var b bytes.Buffer
	w := multipart.NewWriter(&b)
	for _, p := range parts {
		h := textproto.MIMEHeader{"Content-Disposition": {`form-data; name="` + p.name + `"`}}
		if file, kind, ok := strings.Cut(p.file, "|"); p.file != "" {
			h["Content-Disposition"][0] += `; filename="` + file + `"`
			if ok {
				h["Content-Type"] = []string{kind}
			}
		}
		pw, err := w.CreatePart(h)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := pw.Write([]byte(p.value)); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	sp := wire.NewSpool(t.TempDir())
	t.Cleanup(func() {
		if err := sp.Close(); err != nil {
			t.Error(err)
		}
	})
	f, err := multipartedit.Read(&b, w.FormDataContentType(), sp, multipartedit.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func TestCheckForm(t *testing.T) {
	t.Parallel()
	audio, model := part{"file", "speech.MP3|audio/mpeg", "ID3"}, part{"model", "", "whisper-1"}
	with := func(more ...part) []part { return append([]part{audio, model}, more...) }
	file := func(name string) []part { return []part{{"file", name, "ID3"}, model} }
	for _, c := range []struct {
		name  string
		ep    llm.Endpoint
		parts []part
		param string
	}{
		{"the least", llm.CreateTranscription, with(), ""},
		{"everything", llm.CreateTranscription, with(part{"language", "", "de"}, part{"prompt", "", ""}, part{"response_format", "", "verbose_json"}, part{"temperature", "", "0.25"},
			part{"timestamp_granularities[]", "", "word"}, part{"timestamp_granularities[]", "", "segment"}, part{"stream", "", "true"}, part{"include[]", "", "logprobs"}, part{"chunking_strategy", "", "auto"}), ""},
		{"no file", llm.CreateTranscription, []part{model}, "file"},
		{"a file's name", llm.CreateTranscription, []part{{"file", "", "speech.mp3"}, model}, "file"},
		{"an empty file", llm.CreateTranscription, []part{{"file", "a.mp3", ""}, model}, "file"},
		{"two files", llm.CreateTranscription, with(audio), "file"},
		{"a text file", llm.CreateTranscription, file("notes.txt|audio/mpeg"), "file"},
		{"a folder with a dot", llm.CreateTranscription, file("my.music/take|audio/wav"), ""},
		{"a blob without an ending", llm.CreateTranscription, file("blob|audio/webm;codecs=opus"), ""},
		{"bytes without an ending", llm.CreateTranscription, file("blob|application/octet-stream"), ""},
		{"a web page without an ending", llm.CreateTranscription, file("blob|text/html"), "file"},
		{"no model", llm.CreateTranscription, []part{audio}, "model"},
		{"an empty model", llm.CreateTranscription, []part{audio, {"model", "", ""}}, "model"},
		{"a model as a file", llm.CreateTranscription, []part{audio, {"model", "m.txt", "whisper-1"}}, "model"},
		{"a format", llm.CreateTranscription, with(part{"response_format", "", "srt"}), ""},
		{"an unknown format", llm.CreateTranscription, with(part{"response_format", "", "xml"}), "response_format"},
		{"no temperature", llm.CreateTranscription, with(part{"temperature", "", "warm"}), "temperature"},
		{"a high temperature", llm.CreateTranscription, with(part{"temperature", "", "1.01"}), "temperature"},
		{"a low temperature", llm.CreateTranscription, with(part{"temperature", "", "-0.1"}), "temperature"},
		{"a temperature that is no number", llm.CreateTranscription, with(part{"temperature", "", "NaN"}), "temperature"},
		{"a temperature in hexadecimal", llm.CreateTranscription, with(part{"temperature", "", "0x1p-2"}), "temperature"},
		{"temperatures at the ends", llm.CreateTranscription, with(part{"temperature", "", "1"}), ""},
		{"two temperatures", llm.CreateTranscription, with(part{"temperature", "", "0"}, part{"temperature", "", "1"}), "temperature"},
		{"timestamps without verbose_json", llm.CreateTranscription, with(part{"timestamp_granularities[]", "", "word"}), "timestamp_granularities[]"},
		{"timestamps with json", llm.CreateTranscription, with(part{"timestamp_granularities[]", "", "word"}, part{"response_format", "", "json"}), "timestamp_granularities[]"},
		{"unknown timestamps", llm.CreateTranscription, with(part{"timestamp_granularities[]", "", "letter"}, part{"response_format", "", "verbose_json"}), "timestamp_granularities[]"},
		{"a language in words", llm.CreateTranscription, with(part{"language", "", "german"}), "language"},
		{"an additional property", llm.CreateTranscription, with(part{"speed", "", "2"}), "speed"},
		{"a property in capitals", llm.CreateTranscription, with(part{"Prompt", "", "x"}), "Prompt"},
		{"a translation", llm.CreateTranslation, with(part{"prompt", "", "x"}, part{"response_format", "", "vtt"}, part{"temperature", "", "0"}), ""},
		{"a translation with a language", llm.CreateTranslation, with(part{"language", "", "de"}), "language"},
		{"a translation with timestamps", llm.CreateTranslation, with(part{"timestamp_granularities[]", "", "word"}, part{"response_format", "", "verbose_json"}), "timestamp_granularities[]"},
		{"another form", llm.UploadFile, []part{{"purpose", "", "batch"}}, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			wantFault(t, openai.CheckForm(c.ep, form(t, c.parts), dialect.Shaping{}), c.param)
		})
	}
	wantFault(t, openai.CheckForm(llm.CreateTranscription, form(t, []part{audio}), dialect.Shaping{Model: "whisper-1"}), "")
}

func TestShapeForm(t *testing.T) {
	t.Parallel()
	f := form(t, []part{{"file", "a.wav", "RIFF"}, {"model", "", "@prod/whisper-1"}, {"temperature", "", "1"}, {"tags", "", "x"}, {"purpose", "", "user_data"}})
	s := dialect.Shaping{
		Model:    "whisper-1",
		Default:  params("temperature", "0", "language", `"de"`),
		Override: params("timestamp_granularities", `["word","segment"]`, "tags", `["a",1]`, "stream", "true", "chunking_strategy", `{"type":"server_vad"}`, "prompt", "null"),
		Drop:     []string{"user"},
		Rules: &dialect.RequestRules{Default: params("seed", "7"), Drop: []string{"chunking_strategy"}, ModelPrefix: "whisper-",
			Swap: []dialect.Swap{{Path: "purpose", Values: map[string]string{`"user_data"`: `"ocr"`, `"vision"`: `"image"`}}, {Path: "absent", Values: map[string]string{`""`: `"a"`}}}},
	}
	p, err := f.Edit(openai.ShapeForm(llm.CreateTranscription, f, s))
	if err != nil {
		t.Fatal(err)
	}
	var body bytes.Buffer
	if _, err := p.WriteTo(&body); err != nil {
		t.Fatal(err)
	}
	line, _, _ := strings.Cut(body.String(), "\r\n")
	got, err := multipart.NewReader(&body, line[2:]).ReadForm(1 << 20)
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{"model": "1", "temperature": "1", "language": "de", "timestamp_granularities[]": "word|segment", "tags": "a|1", "stream": "true", "seed": "7", "purpose": "ocr"}
	if len(got.Value) != len(want) || len(got.File["file"]) != 1 {
		t.Errorf("fields %v, files %v", got.Value, got.File)
	}
	for name, v := range want {
		if strings.Join(got.Value[name], "|") != v {
			t.Errorf("%s = %q, want %q", name, got.Value[name], v)
		}
	}
}
