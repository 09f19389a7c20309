package sdk

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"io"
	"math"
	"os"
	"strings"
	"testing"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/packages/param"
)

func TestEmbeddings(t *testing.T) {
	t.Parallel()
	c := newClient(t)
	q := openai.EmbeddingNewParams{Model: "text-embedding-3-small", Input: openai.EmbeddingNewParamsInputUnion{OfArrayOfStrings: []string{"the cat sat", "a dog"}}}
	floats, err := c.Embeddings.New(t.Context(), q)
	if err != nil {
		t.Fatal(err)
	}
	if len(floats.Data) != 2 || len(floats.Data[0].Embedding) < 8 {
		t.Fatalf("%d vectors", len(floats.Data))
	}
	upstreamOnly(t) // aimock does not pack
	q.EncodingFormat = openai.EmbeddingNewParamsEncodingFormatBase64
	packed, err := c.Embeddings.New(t.Context(), q)
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range floats.Data {
		got := unpack(t, packed.Data[i].RawJSON())
		if len(got) != len(want.Embedding) || math.Abs(got[0]-want.Embedding[0]) > 1e-6 {
			t.Errorf("vector %d: %d numbers from %v, want %d from %v", i, len(got), got[0], len(want.Embedding), want.Embedding[0])
		}
	}
}

func unpack(t *testing.T, raw string) []float64 {
	t.Helper()
	var e struct{ Embedding string }
	if err := json.Unmarshal([]byte(raw), &e); err != nil {
		t.Fatalf("%.80s: %v", raw, err)
	}
	b, err := base64.StdEncoding.DecodeString(e.Embedding)
	if err != nil {
		t.Fatal(err)
	}
	out := make([]float64, len(b)/4)
	for i := range out {
		out[i] = float64(math.Float32frombits(binary.LittleEndian.Uint32(b[4*i:])))
	}
	return out
}

func sound() io.Reader {
	return openai.File(bytes.NewReader(append([]byte("ID3"), make([]byte, 16000)...)), "hello.mp3", "audio/mpeg")
}

func TestTranscriptions(t *testing.T) {
	t.Parallel()
	c := newClient(t)
	a, err := c.Audio.Transcriptions.New(t.Context(), openai.AudioTranscriptionNewParams{Model: "whisper-1", File: sound(), Temperature: param.NewOpt(0.5)})
	if err != nil {
		t.Fatal(err)
	}
	begins(t, a.Text, "I heard hello.")
	upstreamOnly(t)
	s := c.Audio.Transcriptions.NewStreaming(t.Context(), openai.AudioTranscriptionNewParams{Model: "gpt-4o-transcribe", File: sound()})
	var text, done string
	for s.Next() {
		switch e := s.Current(); e.Type {
		case "transcript.text.delta":
			text += e.Delta
		case "transcript.text.done":
			done = e.Text
		}
	}
	if s.Err() != nil || text != done || !strings.HasPrefix(text, "I heard hello.mp3: 16003 bytes") {
		t.Errorf("%q, then %q: %v", text, done, s.Err())
	}
}

func TestSpeech(t *testing.T) {
	t.Parallel()
	c := newClient(t)
	res, err := c.Audio.Speech.New(t.Context(), openai.AudioSpeechNewParams{Model: "tts-1", Input: "Hello there", Voice: openai.AudioSpeechNewParamsVoiceUnion{OfString: param.NewOpt("alloy")}})
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	b, err := io.ReadAll(res.Body)
	if err != nil || len(b) < 10 {
		t.Errorf("%d bytes: %v", len(b), err)
	}
	if os.Getenv("SLUICE_PEER") == "upstream" && !bytes.HasPrefix(b, []byte("RIFF")) {
		t.Errorf("no sound: %.20q", b)
	}
}

func TestFiles(t *testing.T) {
	t.Parallel()
	c := newClient(t)
	text := `{"custom_id":"1","method":"POST","url":"/v1/chat/completions","body":{}}` + "\n"
	f, err := c.Files.New(t.Context(), openai.FileNewParams{File: openai.File(strings.NewReader(text), "lines.jsonl", "application/jsonl"), Purpose: openai.FilePurposeBatch})
	if err != nil {
		t.Fatal(err)
	}
	found := false
	for page := c.Files.ListAutoPaging(t.Context(), openai.FileListParams{}); page.Next(); {
		found = found || page.Current().ID == f.ID
	}
	if !found {
		t.Errorf("the list has no %s", f.ID)
	}
	res, err := c.Files.Content(t.Context(), f.ID)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	if b, err := io.ReadAll(res.Body); err != nil || string(b) != text {
		t.Errorf("content %q: %v", b, err)
	}
	if d, err := c.Files.Delete(t.Context(), f.ID); err != nil || !d.Deleted {
		t.Errorf("delete: %v", err)
	}
	_, err = c.Files.Get(t.Context(), f.ID)
	refused(t, err, 404)
}
