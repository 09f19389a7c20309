package bodies

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"time"
	"unicode/utf8"

	"sluice/internal/domain/record"
)

// document is an object for one record, for people and programs outside the gateway.
type document struct {
	ID          string    `json:"id"`
	OrgID       string    `json:"organisation_id"`
	WorkspaceID string    `json:"workspace_id"`
	CreatedAt   time.Time `json:"created_at"`

	Request        *content `json:"request,omitempty"`
	Response       *content `json:"response,omitempty"`
	ClientRequest  *content `json:"client_request,omitempty"`
	ClientResponse *content `json:"client_response,omitempty"`
	Reshaped       *content `json:"reshaped_request,omitempty"`
}

// content is a body. One of the three fields contains its original bytes.
type content struct {
	Type      string          `json:"content_type,omitempty"`
	Encoding  string          `json:"content_encoding,omitempty"`
	Truncated bool            `json:"truncated,omitempty"`
	Size      int64           `json:"size,omitempty"`
	Head      string          `json:"headers,omitempty"`
	JSON      json.RawMessage `json:"body,omitempty"`
	Text      *string         `json:"body_text,omitempty"`
	Binary    []byte          `json:"body_base64,omitempty"`
}

// bodyFields returns the bodies of a document in the order of an attempt's bodies.
func (d *document) bodyFields() [5]**content {
	return [...]**content{&d.Request, &d.Response, &d.ClientRequest, &d.ClientResponse, &d.Reshaped}
}

// documentOf returns the encoded document of an attempt.
func documentOf(a *record.Attempt) ([]byte, error) {
	d := document{ID: a.ID, OrgID: a.OrgID, WorkspaceID: a.WorkspaceID, CreatedAt: a.Started.UTC()}
	to := d.bodyFields()
	for i, b := range a.Bodies() {
		if len(b.Bytes) > 0 || len(b.Head) > 0 {
			*to[i] = contentOf(b)
		}
	}
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(d); err != nil {
		return nil, fmt.Errorf("encode bodies: %w", err)
	}
	return out.Bytes(), nil
}

func contentOf(b *record.Body) *content {
	c := &content{Type: b.Type, Encoding: b.Encoding, Truncated: b.Truncated, Size: b.Size, Head: string(b.Head)}
	switch text := string(b.Bytes); {
	case len(b.Bytes) == 0:
	case unchanged(b.Bytes):
		c.JSON = b.Bytes
	case utf8.Valid(b.Bytes):
		c.Text = &text
	default:
		c.Binary = b.Bytes
	}
	return c
}

// unchanged reports whether bytes are JSON that a document preserves exactly: the encoder removes
// white space.
func unchanged(b []byte) bool {
	var compact bytes.Buffer
	return json.Compact(&compact, b) == nil && bytes.Equal(compact.Bytes(), b)
}

// bytes returns the bytes that contentOf received.
func (c *content) bytes() []byte {
	switch {
	case c == nil:
		return nil
	case c.JSON != nil:
		return c.JSON
	case c.Text != nil:
		return []byte(*c.Text)
	}
	return c.Binary
}

// addSingle starts to store an object for one record.
func (s *Objects) addSingle(ctx context.Context, a *record.Attempt) (Ref, error) {
	data, err := documentOf(a)
	if err != nil {
		return Ref{}, err
	}
	key := s.o.singleKey(a)
	s.uploads.put(ctx, &s.o, key, data)
	return Ref{Node: s.o.Node, Key: key, File: Single, Request: uint32(len(a.Request.Bytes)), Response: uint32(len(a.Response.Bytes))}, nil
}

// readSingle reads an object for one record.
func (s *Objects) readSingle(ctx context.Context, ref Ref) (set Set, err error) {
	data, err := s.o.Bucket.Get(ctx, ref.Key, 0, documentMax)
	if err != nil {
		return set, fmt.Errorf("read bodies of %s: %w", ref.Key, err)
	}
	var d document
	if err := json.Unmarshal(data, &d); err != nil {
		return set, fmt.Errorf("read bodies of %s: %w", ref.Key, err)
	}
	var a record.Attempt
	from := d.bodyFields()
	for i, b := range a.Bodies() {
		if c := *from[i]; c != nil {
			b.Bytes = c.bytes()
			if c.Head != "" {
				b.Head = []byte(c.Head)
			}
		}
	}
	return FromAttempt(&a), nil
}

// documentMax is more than the size of any document: five bodies of the largest LOG_BODY_MAX_KB,
// each byte of which may become six.
const documentMax = 512 << 20
