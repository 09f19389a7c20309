package tokens_test

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"image"
	"image/png"
	"strings"
	"testing"

	"sluice/internal/kernel/llm"
	"sluice/internal/limits/tokens"
)

// canvas is a picture of that size, all of one colour.
func canvas(t testing.TB, w, h int) string {
	t.Helper()
	var b bytes.Buffer
	if err := png.Encode(&b, image.NewGray(image.Rect(0, 0, w, h))); err != nil {
		t.Fatal(err)
	}
	return base64.StdEncoding.EncodeToString(b.Bytes())
}

func showing(p llm.Media, kind llm.PartKind) *llm.Call {
	return &llm.Call{Messages: []llm.Message{{Role: llm.RoleUser, Parts: []llm.Part{{Kind: kind, Media: &p}}}}}
}

// empty is what the message around a medium costs.
func empty(model string) int64 {
	return counter.Call(&llm.Call{Messages: []llm.Message{{Role: llm.RoleUser}}}, model).Tokens
}

// The vendors' own examples, and what OpenAI was seen to bill.
func TestPictures(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		model  string
		w, h   int
		detail string
		want   int64
	}{
		{"gpt-4o", 1024, 1024, "high", 765}, {"gpt-4o", 2048, 4096, "high", 1105}, {"gpt-4o", 4096, 8192, "low", 85},
		{"gpt-4o", 128, 64, "", 255}, {"gpt-4.1", 2049, 513, "auto", 1445}, {"gpt-4.1", 2050, 513, "auto", 765},
		{"gpt-4o-mini", 128, 64, "low", 2833}, {"gpt-4o-mini", 128, 64, "high", 8500}, {"o3", 128, 64, "high", 225},
		{"gpt-5", 1024, 1024, "", 630}, {"gpt-4.1-mini", 128, 64, "", 13}, {"gpt-4.1-nano", 128, 64, "", 20},
		{"gpt-4.1-mini", 1800, 2400, "", 2353}, // 1,452 squares
		{"claude-sonnet-4-5", 200, 200, "", 54}, {"claude-sonnet-4-5", 1000, 1000, "", 1334}, {"claude-sonnet-4-5", 4000, 4000, "", 1600},
		{"claude-opus-4-7", 4000, 4000, "", 4784},
		{"gemini-2.5-flash", 300, 300, "", 258}, {"gemini-2.5-flash", 960, 540, "", 516}, {"gemini-3-pro-preview", 960, 540, "", 1120},
		{"gemini-3-pro-preview", 960, 540, "low", 280}, {"qwen2.5-vl-72b", 280, 280, "", 100}, {"llama-3.2-90b-vision", 600, 500, "", 3202},
	} {
		call := showing(llm.Media{MIME: "image/png", Data: canvas(t, c.w, c.h), Detail: c.detail}, llm.ImagePart)
		got := counter.Call(call, c.model)
		if got.Tokens-empty(c.model) != c.want || got.Unseen != 0 {
			t.Errorf("%s %dx%d %s: %+v, want %d", c.model, c.w, c.h, c.detail, got, c.want)
		}
		if maxTokens := tokens.MaxCallTokens(call, c.model); maxTokens < got.Tokens {
			t.Errorf("%s: bound %d below %d", c.model, maxTokens, got.Tokens)
		}
	}
}

func TestSizesOfWebP(t *testing.T) {
	t.Parallel()
	lossy := "RIFF\x00\x00\x00\x00WEBPVP8 \x00\x00\x00\x00\x00\x00\x00\x9d\x01\x2a\xc8\x00\xc8\x00\x00\x00"
	lossless := "RIFF\x00\x00\x00\x00WEBPVP8L\x00\x00\x00\x00\x2f\xc7\xc0\x31\x00" + strings.Repeat("\x00", 8)
	extended := "RIFF\x00\x00\x00\x00WEBPVP8X\x00\x00\x00\x00\x00\x00\x00\x00\xc7\x00\x00\xc7\x00\x00"
	for name, b := range map[string]string{"lossy": lossy, "lossless": lossless, "extended": extended} {
		call := showing(llm.Media{Data: base64.StdEncoding.EncodeToString([]byte(b))}, llm.ImagePart)
		if got := counter.Call(call, "claude-sonnet-4-5").Tokens - empty("claude-sonnet-4-5"); got != 54 {
			t.Errorf("%s: %d, want 54 for 200 by 200", name, got)
		}
	}
}

// recording is a WAVE file of ten seconds, 8,000 samples of a byte each, with that in front
// of its format, and that as the bytes of a second in its head.
func recording(before string, byteRate uint32) []byte {
	b := []byte("RIFF\x00\x00\x00\x00WAVE" + before + "fmt \x10\x00\x00\x00\x01\x00\x01\x00")
	b = binary.LittleEndian.AppendUint32(b, 8000)
	b = binary.LittleEndian.AppendUint32(b, byteRate)
	b = append(b, "\x01\x00\x08\x00data\x80\x38\x01\x00"...)
	return append(b, make([]byte, 10*8000)...)
}

// mp3 is a file with that in front of its first frame, and that as its beginning.
func mp3(before, frame string, size int) []byte {
	return append([]byte(before+frame), make([]byte, size-len(frame))...)
}

// flac is a file of so many samples, 16,000 of two bytes a second.
func flac(samples, size int) []byte {
	b := append([]byte("fLaC\x00\x00\x00\x22"), make([]byte, 10)...)
	b = binary.BigEndian.AppendUint64(b, 16_000<<44|15<<36|uint64(samples))
	return append(b, make([]byte, size-len(b))...)
}

// A recording lasts as long as its head says, wherever in it that stands, and no shorter than
// its samples take; one whose head says nothing, as long as its bytes take at 128 kbit/s.
func TestRecordingsLast(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		file     []byte
		from, to int64
	}{
		"told":              {recording("", 8000), 10_000, 10_010},
		"behind a note":     {recording("LIST\x05\x00\x00\x00hello\x00", 8000), 10_000, 10_010},
		"wrongly told":      {recording("", 1<<31), 10_000, 10_010},
		"in a second":       {recording("", 1), 106_000, 107_000}, // no recording has fewer than 750 bytes
		"a note of its own": {recording("LIST\xff\xff\xff\xff", 8000), 5_000, 5_010},
		"MP3":               {mp3("", "\xff\xfb\x50\xc0", 80_000), 10_000, 10_010}, // 64 kbit/s
		"MP3, tagged":       {mp3("ID3\x04\x00\x00\x00\x00\x01\x02"+strings.Repeat("x", 130), "\xff\xfb\x50\xc0", 80_000), 10_000, 10_050},
		"MP3 of version 2":  {mp3("", "\xff\xf3\x40\xc0", 40_000), 10_000, 10_010},                                                                    // 32 kbit/s
		"MP3 that varies":   {mp3("", "\xff\xfb\x90\xc0"+strings.Repeat("\x00", 17)+"Xing\x00\x00\x00\x01\x00\x00\x01\x7f", 50_000), 10_000, 10_010},  // 383 frames
		"MP3 of one frame":  {mp3("", "\xff\xfb\x90\xc0"+strings.Repeat("\x00", 17)+"Xing\x00\x00\x00\x01\x00\x00\x00\x01", 400_000), 10_000, 10_010}, // it says so
		"MP3, free rate":    {mp3("", "\xff\xfb\x00\xc0", 32_000), 2_000, 2_010},
		"AAC":               {mp3("", "\xff\xf1\x50\x80", 32_000), 2_000, 2_010},
		"FLAC":              {flac(160_000, 300_000), 10_000, 10_010},
		"FLAC of one":       {flac(1, 320_000), 10_000, 10_010}, // as it says
		"FLAC, not told":    {flac(0, 32_000), 2_000, 2_010},
		"nothing":           {nil, 0, 0},
		"unknown":           {make([]byte, 32_000), 2_000, 2_000},
	} {
		head := c.file[:min(len(c.file), tokens.AudioHeadBytes)]
		if got := tokens.AudioMillis(head, int64(len(c.file))); got < c.from || got > c.to {
			t.Errorf("%s: %d ms, want %d to %d", name, got, c.from, c.to)
		}
	}
}

func TestOtherMedia(t *testing.T) {
	t.Parallel()
	wave := recording("", 8000)
	pdf := []byte("%PDF-1.4\n1 0 obj<</Type /Pages /Count 2>>\n2 0 obj<</Type/Page>>\n3 0 obj<</Type /Page /Parent 1 0 R>>" + strings.Repeat(" ", 4096))
	encode := base64.StdEncoding.EncodeToString
	for name, c := range map[string]struct {
		kind   llm.PartKind
		media  llm.Media
		model  string
		want   int64
		unseen int
	}{
		"sound, told":      {llm.AudioPart, llm.Media{MIME: "audio/wav", Data: encode(wave)}, "gemini-2.5-flash", 11 * 32, 0},
		"sound, OpenAI":    {llm.AudioPart, llm.Media{Data: encode(wave)}, "gpt-4o-audio-preview", 11 * 10, 0},
		"sound, reckoned":  {llm.FilePart, llm.Media{MIME: "audio/mp3", Data: encode(make([]byte, 32_000))}, "gemini-2.5-flash", 2 * 32, 0},
		"film":             {llm.FilePart, llm.Media{MIME: "video/mp4", Data: encode(make([]byte, 250_000))}, "gemini-2.5-flash", 2 * 295, 0},
		"pages":            {llm.FilePart, llm.Media{MIME: "application/pdf", Data: encode(pdf)}, "gemini-2.5-flash", 2 * 258, 0},
		"pages, hidden":    {llm.FilePart, llm.Media{MIME: "application/pdf", Data: encode(make([]byte, 70<<10))}, "gemini-2.5-flash", 3 * 258, 0},
		"pages, far away":  {llm.FilePart, llm.Media{FileID: "file-1"}, "gemini-2.5-flash", 10 * 258, 1},
		"picture far away": {llm.ImagePart, llm.Media{URL: "https://example.com/a.png"}, "gpt-4o", 765, 1},
		"the same, small":  {llm.ImagePart, llm.Media{URL: "https://example.com/a.png", Detail: "low"}, "gpt-4o", 85, 1},
		"no picture":       {llm.ImagePart, llm.Media{Data: encode([]byte("not really a picture"))}, "gpt-4o", 1445, 0},
		"text":             {llm.FilePart, llm.Media{MIME: "text/plain", Data: "Hello there", Plain: true}, "gpt-4o", 2, 0},
	} {
		call := showing(c.media, c.kind)
		got := counter.Call(call, c.model)
		if got.Tokens-empty(c.model) != c.want || got.Unseen != c.unseen {
			t.Errorf("%s: %+v, want %d", name, got, c.want)
		}
		if maxTokens := tokens.MaxCallTokens(call, c.model); maxTokens < got.Tokens {
			t.Errorf("%s: bound %d below %d", name, maxTokens, got.Tokens)
		}
	}
}

// A medium in a raw body costs what it does in a call, on every surface.
func TestMediaInBodies(t *testing.T) {
	t.Parallel()
	data := canvas(t, 1024, 1024)
	url := "data:image/png;base64," + data
	for ep, part := range map[llm.Endpoint]string{
		llm.ChatComplete:        fmt.Sprintf(`{"messages":[{"role":"user","content":[{"type":"image_url","image_url":{"url":%q,"detail":"high"}}]}]}`, url),
		llm.Messages:            fmt.Sprintf(`{"messages":[{"role":"user","content":[{"type":"image","source":{"type":"base64","media_type":"image/png","data":%q}}]}]}`, data),
		llm.CreateModelResponse: fmt.Sprintf(`{"input":[{"role":"user","content":[{"type":"input_image","image_url":%q}]}]}`, url),
	} {
		if got := counter.Request(ep, []byte(part), "gpt-4o"); got.Tokens != 765+7 || got.Unseen != 0 {
			t.Errorf("%s: %+v", ep, got)
		}
		if maxTokens := tokens.MaxRequestTokens(ep, []byte(part), "gpt-4o"); maxTokens > 2000 {
			t.Errorf("%s: the bound counts base64 as text: %d", ep, maxTokens)
		}
	}
}
