package demo

import (
	"fmt"
	"math"
	"strings"
	"time"
)

// segmentWords is the number of words in a segment of a transcript.
const segmentWords = 8

// verbose is the verbose_json response. The specification gives duration as a string; clients
// that need a number parse it.
// Source: spec, Transcription response, verbose_json.
type verbose struct {
	Task     string    `json:"task"`
	Language string    `json:"language"`
	Duration string    `json:"duration"` // seconds, "3.20"
	Text     string    `json:"text"`
	Words    []word    `json:"words,omitempty"`
	Segments []segment `json:"segments,omitempty"`
	Usage    any       `json:"usage"`
}

type word struct {
	Word  string  `json:"word"`
	Start float64 `json:"start"` // seconds
	End   float64 `json:"end"`
}

type segment struct {
	ID          int     `json:"id"`
	Seek        int     `json:"seek"`
	Start       float64 `json:"start"` // seconds
	End         float64 `json:"end"`
	Text        string  `json:"text"`
	Tokens      []int   `json:"tokens"`
	Temperature float64 `json:"temperature"`
	LogProb     float64 `json:"avg_logprob"`
	Compression float64 `json:"compression_ratio"`
	NoSpeech    float64 `json:"no_speech_prob"`
}

func (t transcript) verbose() verbose {
	v := verbose{Task: t.task, Language: t.language, Duration: fmt.Sprintf("%.2f", t.seconds), Text: t.text, Usage: t.usage()}
	if t.words {
		v.Words = t.timedWords()
	}
	if t.segments {
		v.Segments = t.timedSegments()
	}
	return v
}

// timedWords distributes the words evenly over the audio.
func (t transcript) timedWords() []word {
	texts := strings.Fields(t.text)
	each := t.seconds / float64(len(texts))
	out := make([]word, len(texts))
	for i, text := range texts {
		out[i] = word{Word: text, Start: hundredths(float64(i) * each), End: hundredths(float64(i+1) * each)}
	}
	return out
}

// timedSegments joins the words, segmentWords at a time. The token ids are the
// words' lengths.
func (t transcript) timedSegments() []segment {
	words := t.timedWords()
	var out []segment
	for len(words) > 0 {
		n := min(segmentWords, len(words))
		s := segment{ID: len(out), Seek: int(words[0].Start * 100), Start: words[0].Start, End: words[n-1].End, LogProb: -0.25, Compression: 1.5, NoSpeech: 0.01}
		for _, w := range words[:n] {
			s.Text += " " + w.Word
			s.Tokens = append(s.Tokens, len(w.Word))
		}
		out, words = append(out, s), words[n:]
	}
	return out
}

// srt returns the transcript as SubRip subtitles.
func (t transcript) srt() string {
	var b strings.Builder
	for i, s := range t.timedSegments() {
		fmt.Fprintf(&b, "%d\n%s --> %s\n%s\n\n", i+1, stamp(s.Start, ","), stamp(s.End, ","), s.Text[1:])
	}
	return b.String()
}

// vtt returns the transcript as WebVTT subtitles.
func (t transcript) vtt() string {
	var b strings.Builder
	b.WriteString("WEBVTT\n\n")
	for _, s := range t.timedSegments() {
		fmt.Fprintf(&b, "%s --> %s\n%s\n\n", stamp(s.Start, "."), stamp(s.End, "."), s.Text[1:])
	}
	return b.String()
}

// stamp returns a subtitle time, "00:01:02.345" with the separator of the format.
func stamp(seconds float64, mark string) string {
	ms := time.Duration(math.Round(seconds * 1000))
	return fmt.Sprintf("%02d:%02d:%02d%s%03d", ms/3600000, ms/60000%60, ms/1000%60, mark, ms%1000)
}

func hundredths(x float64) float64 { return math.Round(x*100) / 100 }
