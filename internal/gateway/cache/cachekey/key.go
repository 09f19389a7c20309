// Package cachekey computes the key of a cached response: a SHA-256 over everything that
// decides who may receive the response and what it contains. Two calls with equal keys may share
// one response. Start with Compute. The tables of what does not count are in ignored.go.
//
// The package does not look up anything, and does not decide whether a call may be cached.
package cachekey

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"slices"
	"strings"
	"sync"

	"sluice/internal/kernel/llm"
	"sluice/internal/kernel/wire"
)

// Key is the key of a cached response. It is a hash, so it shows nothing of the prompt.
type Key [sha256.Size]byte

// String returns the key as 64 hexadecimal digits.
func (k Key) String() string { return hex.EncodeToString(k[:]) }

// Parse reads the 64 hexadecimal digits of String. It returns false for any other text.
func Parse(s string) (k Key, ok bool) {
	if len(s) != 2*len(k) {
		return k, false
	}
	_, err := hex.Decode(k[:], []byte(s))
	return k, err == nil
}

// Input is what a response depends on. Compute only reads it.
type Input struct {
	Organisation string // id; always counts
	Workspace    string // id; always counts
	Provider     string // "openai"
	Host         string // base URL of the upstream, with the query if its spec has one: "https://api.openai.com/v1"
	// Scope is the identity of the credential, for example the id of the integration. For a
	// credential that the caller sent, it is a keyed hash. It is never the credential itself.
	Scope    string
	Endpoint llm.Endpoint // of the caller's route; keys of two surfaces never meet
	Model    string       // name at the provider; also in Body on most surfaces, but not where it is part of the URL

	// Body is the caller's body after the parameters of the target were applied. A JSON object is
	// hashed in its canonical form. Any other body is hashed as it is.
	Body []byte

	// Metadata is the metadata of the request, of which "_user" and the trace fields do not count.
	Metadata map[string]string
	// Header is the header that the provider receives, without the credential. Per-call lines do
	// not count.
	Header wire.Header
	// Namespace replaces Metadata and Header if it is not empty. It never leaves the workspace.
	Namespace string

	// Guardrails are the ids and versions of the guardrails that apply, in the order in which
	// they run: "gr-pii@7".
	Guardrails []string

	// Vary names what counts although it is ignored by default: a member of the body ("user",
	// "metadata.user_id"), a field of the metadata ("trace_id") or a header ("x-request-id").
	Vary []string
}

// domain separates these hashes from all others, and one version of the rules from the next.
const domain = "sluice cache key v1"

// The parts of a key. Each is hashed with its tag and its length, so no byte can move from one
// part to another.
const (
	partTenant byte = iota + 1
	partUpstream
	partBodyJSON
	partBodyBytes
	partNamespace
	partMetadata
	partHeader
	partGuardrails
)

// Compute returns the key of a call. It is deterministic in every process, and reads the body
// twice. Safe for concurrent use.
func Compute(in *Input) Key {
	s := scratches.Get().(*scratch)
	defer s.release()
	s.buf = append(s.buf[:0], domain...)
	s.list(partTenant, in.Organisation, in.Workspace)
	s.list(partUpstream, in.Provider, in.Host, in.Scope, string(in.Endpoint), in.Model)
	s.list(partGuardrails, in.Guardrails...)
	if in.Namespace != "" {
		s.list(partNamespace, in.Namespace)
	} else {
		s.metadata(in)
		s.header(in)
	}
	s.body(in)
	return sha256.Sum256(s.buf)
}

// maxPooled is the largest buffer, in bytes, that is reused.
const maxPooled = 1 << 20

// scratch is the memory of one computation.
type scratch struct {
	buf    []byte // what is hashed
	canon  canonicalizer
	names  []string
	fields []wire.Field
}

var scratches = sync.Pool{New: func() any { return new(scratch) }}

// release returns the memory to the pool, without references to the call.
func (s *scratch) release() {
	clear(s.names)
	clear(s.fields)
	s.names, s.fields = s.names[:0], s.fields[:0]
	s.canon.reset()
	if cap(s.buf) <= maxPooled {
		scratches.Put(s)
	}
}

// list appends a tag, the number of texts, and each text with its length.
func (s *scratch) list(tag byte, texts ...string) {
	s.begin(tag, len(texts))
	for _, t := range texts {
		s.text(t)
	}
}

func (s *scratch) begin(tag byte, count int) {
	s.buf = binary.AppendUvarint(append(s.buf, tag), uint64(count))
}

func (s *scratch) text(t string) {
	s.buf = append(binary.AppendUvarint(s.buf, uint64(len(t))), t...)
}

// metadata appends the fields that count, sorted by name.
func (s *scratch) metadata(in *Input) {
	for name := range in.Metadata {
		if name != userField && (!ignoredFields[name] || slices.Contains(in.Vary, name)) {
			s.names = append(s.names, name)
		}
	}
	slices.Sort(s.names)
	s.begin(partMetadata, len(s.names))
	for _, name := range s.names {
		s.text(name)
		s.text(in.Metadata[name])
	}
}

// header appends the lines that count, sorted by name. Lines of one name retain their order.
func (s *scratch) header(in *Input) {
	for _, f := range in.Header {
		if countsHeader(f.Name, in.Vary) {
			s.fields = append(s.fields, f)
		}
	}
	slices.SortStableFunc(s.fields, func(a, b wire.Field) int { return strings.Compare(a.Name, b.Name) })
	s.begin(partHeader, len(s.fields))
	for _, f := range s.fields {
		s.text(f.Name)
		s.text(f.Value)
	}
}

// body appends the canonical form of a JSON object, or else the body itself. Nothing follows it,
// so it needs no length.
func (s *scratch) body(in *Input) {
	start := len(s.buf)
	var ok bool
	if s.buf, ok = s.canon.append(append(s.buf, partBodyJSON), in.Body, in.Vary); !ok {
		s.buf = append(append(s.buf[:start], partBodyBytes), in.Body...)
	}
}
