package demo

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"time"

	"sluice/internal/kernel/ident"
)

// decode reads a JSON request into v and returns its seed, 24 hex digits that
// depend on the body's bytes alone.
func decode(w http.ResponseWriter, r *http.Request, v any) (seed string, err error) {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxJSON))
	if err != nil {
		return "", err
	}
	if err := json.Unmarshal(body, v); err != nil {
		return "", &refusal{Status: http.StatusBadRequest, Message: "We could not parse the JSON body of your request: " + err.Error()}
	}
	return seedOf(body), nil
}

func seedOf(body []byte) string {
	sum := sha256.Sum256(body)
	return hex.EncodeToString(sum[:12])
}

// serverState contains what the APIs share: the clock, the pause between stream events, and the
// number of the last stored object.
type serverState struct {
	clock  ident.Clock
	gap    time.Duration
	number atomic.Int64
}

// numbered returns a new id for a stored object, for example "file-demo00000007".
func (rt *serverState) numbered(prefix string) string {
	return fmt.Sprintf("%sdemo%08d", prefix, rt.number.Add(1))
}

// now returns the time of the "created" fields in Unix seconds.
func (rt *serverState) now() int64 { return rt.clock.Now().Unix() }

// content is a text as in OpenAI's requests: a string, or a list of parts of which the text parts
// count.
type content string

// UnmarshalJSON accepts both forms; null and anything else count as an empty text.
func (c *content) UnmarshalJSON(b []byte) error {
	var s string
	if json.Unmarshal(b, &s) == nil {
		*c = content(s)
		return nil
	}
	var parts []struct {
		Text string `json:"text"`
	}
	if json.Unmarshal(b, &parts) == nil {
		var texts []string
		for _, p := range parts {
			if p.Text != "" {
				texts = append(texts, p.Text)
			}
		}
		*c = content(strings.Join(texts, " "))
	}
	return nil
}

// texts is an input that may be one string or a list. Lists of token ids count
// as one text whose words are the numbers.
type texts []string

// UnmarshalJSON accepts a string, or a list of strings, of parts, or of token ids.
func (t *texts) UnmarshalJSON(b []byte) error {
	var one string
	if json.Unmarshal(b, &one) == nil {
		*t = texts{one}
		return nil
	}
	var ids []int
	if json.Unmarshal(b, &ids) == nil {
		*t = texts{strings.Trim(fmt.Sprint(ids), "[]")}
		return nil
	}
	var list []json.RawMessage
	if err := json.Unmarshal(b, &list); err != nil {
		return fmt.Errorf("input is neither a string nor a list")
	}
	out := make(texts, len(list))
	for i, raw := range list {
		out[i] = textOf(raw)
	}
	*t = out
	return nil
}

func textOf(raw json.RawMessage) string {
	var s string
	if json.Unmarshal(raw, &s) == nil {
		return s
	}
	var part struct {
		Text string `json:"text"`
	}
	if json.Unmarshal(raw, &part) == nil {
		return part.Text
	}
	var ids []int
	_ = json.Unmarshal(raw, &ids) // anything else is an empty text
	return strings.Trim(fmt.Sprint(ids), "[]")
}
