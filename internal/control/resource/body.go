package resource

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"io"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/validation"

	"sluice/internal/kernel/fault"
)

// Limits of a body.
const (
	maxBody     = 1 << 20 // bytes, unless the operation sets another limit
	maxDepth    = 64      // nested objects and lists
	maxProblems = 20      // reported in one error

	// Parsing a body takes about 20 times its size in memory. Small bodies are parsed immediately.
	// The other bodies that are parsed at the same time have at most maxParsingBytes together;
	// further calls wait instead of using all memory.
	smallBody       = 64 << 10
	maxParsingBytes = 32 << 20
)

// schema is the schema that the body of an operation must match.
type schema struct {
	registry huma.Registry
	root     *huma.Schema
	shown    *huma.Schema // what a read shows at the path of an update; nil if there is no such read
}

// readBody parses the body into its fields. An operation without a body ignores what is sent.
func (c *Call) readBody(ctx context.Context, s *schema) error {
	if s == nil {
		return nil
	}
	maxBytes := cmp.Or(c.op.MaxBytes, maxBody)
	raw, err := io.ReadAll(io.LimitReader(c.r.Body, int64(maxBytes)+1))
	if err != nil {
		return fault.New(fault.InvalidRequest, "the body is incomplete").WithCause(err)
	}
	if len(raw) > maxBytes {
		return fault.Newf(fault.TooLarge, "the body is larger than %d bytes", maxBytes)
	}
	raw = bytes.TrimSpace(raw)
	switch {
	case len(raw) > 0:
	case c.op.Optional:
		raw = []byte("{}")
	default:
		return fault.New(fault.InvalidRequest, "the body is missing")
	}
	if n := int64(len(raw)); n > smallBody {
		if err := c.engine.bodies.Acquire(ctx, n); err != nil {
			return fault.Wrap(fault.ClientGone, err)
		}
		c.held = n
	}
	defer c.engine.countBody(c, len(raw))
	if err := wellFormed(raw); err != nil {
		return err
	}
	if c.op.Many > 0 { // traffic entries, whose texts are often cut inside a character
		return c.readItems(raw)
	}
	if loneSurrogate(raw) {
		return fault.New(fault.InvalidRequest, "the body contains half of a surrogate pair, such as \\ud800, which is not a character")
	}
	if err := json.Unmarshal(raw, &c.Sent); err != nil || c.Sent == nil {
		return fault.New(fault.InvalidRequest, "the body must be a JSON object")
	}
	return nil
}

// releaseBody releases the memory budget of the body, so that another one can be parsed.
func (c *Call) releaseBody() {
	c.engine.bodies.Release(c.held)
	c.held = 0
}

// wellFormed rejects bodies that JSON decoders read differently: duplicate names, more than one
// value, deep nesting.
func wellFormed(raw []byte) error {
	if !utf8.Valid(raw) {
		return fault.New(fault.InvalidRequest, "the body is not valid UTF-8")
	}
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	if err := value(d, 0); err != nil {
		var f *fault.Error
		if errors.As(err, &f) {
			return f
		}
		return fault.New(fault.InvalidRequest, "the body is not valid JSON").WithCause(err)
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return fault.New(fault.InvalidRequest, "the body has data after its JSON value")
	}
	return nil
}

func value(d *json.Decoder, depth int) error {
	if depth > maxDepth {
		return fault.Newf(fault.InvalidRequest, "the body is nested deeper than %d levels", maxDepth)
	}
	t, err := d.Token()
	if err != nil {
		return err
	}
	open, nested := t.(json.Delim)
	if !nested {
		return nil
	}
	seen := make(map[string]bool)
	for d.More() {
		if open == '{' {
			name, err := d.Token()
			if err != nil {
				return err
			}
			if n, _ := name.(string); seen[n] {
				return fault.New(fault.InvalidRequest, "duplicate field").WithParam(n)
			} else {
				seen[n] = true
			}
		}
		if err := value(d, depth+1); err != nil {
			return err
		}
	}
	_, err = d.Token()
	return err
}

// checkBody validates the body against its schema and lists every error by path. No message
// quotes a value.
func (c *Call) checkBody(s *schema) error {
	if s == nil {
		return nil
	}
	problems := c.problems(s)
	if len(problems) == 0 {
		return nil
	}
	slices.SortFunc(problems, func(a, b Problem) int { return strings.Compare(a.Path, b.Path) })
	problems = problems[:min(len(problems), maxProblems)]
	lines := make([]string, len(problems))
	for i, p := range problems {
		lines[i] = p.line()
	}
	first := problems[0]
	return fault.Newf(fault.InvalidRequest, "%s: %s", first.Path, first.Message).WithParam(first.Path).WithDetails(lines...)
}

// check returns the errors in the fields that the schema has.
func (s *schema) check(sent Sent) []Problem {
	var problems []Problem
	fields := make(map[string]any, len(sent))
	for name, raw := range sent {
		field, known := s.root.Properties[name]
		if !known {
			continue
		}
		var v any
		_ = json.Unmarshal(raw, &v) // already parsed as JSON
		fields[name] = v
		problems = append(problems, s.wrongCaseFields(field, v, name)...)
		if problem := checkName(name, v); problem != "" {
			problems = append(problems, Problem{name, problem})
		}
	}
	var found huma.ValidateResult
	huma.Validate(s.registry, s.root, huma.NewPathBuffer(nil, 0), huma.ModeWriteToServer, fields, &found)
	for _, err := range found.Errors {
		problems = append(problems, problemOf(err))
	}
	return problems
}

// fits reports whether a field of the schema may have a value.
func (s *schema) fits(field *huma.Schema, v any) bool {
	var found huma.ValidateResult
	huma.Validate(s.registry, field, huma.NewPathBuffer(nil, 0), huma.ModeWriteToServer, v, &found)
	return len(found.Errors) == 0
}

// open reports whether the schema accepts fields that it does not describe.
func (s *schema) open() bool { return s.root.AdditionalProperties == true }

const unknownField = "unknown field"

// problemOf converts an error of the validation library to a Problem with our texts.
func problemOf(err error) Problem {
	var d *huma.ErrorDetail
	if !errors.As(err, &d) {
		return Problem{"body", "not valid"}
	}
	p := Problem{strings.TrimPrefix(d.Location, "."), plainNumber(d.Message)}
	switch d.Message {
	case validation.MsgUnexpectedProperty:
		p.Message = unknownField
	case validation.MsgExpectedMatchExactlyOneSchema:
		p.Message = "does not match exactly one accepted form"
	}
	if name, ok := strings.CutSuffix(strings.TrimPrefix(d.Message, "expected required property "), " to be present"); ok {
		p.Path, p.Message = strings.TrimPrefix(p.Path+"."+name, "."), "required"
	}
	return p
}

// plainNumber writes the number at the end of a message without an exponent.
func plainNumber(message string) string {
	i := strings.LastIndexByte(message, ' ') + 1
	if n, err := strconv.ParseFloat(message[i:], 64); err == nil {
		return message[:i] + strconv.FormatFloat(n, 'f', -1, 64)
	}
	return message
}
