// Package fault holds the errors that callers may see: one type, one table of
// codes (codes.json) with their HTTP statuses, and the bodies they are rendered
// to. Everything else in the program returns plain wrapped errors; what reaches
// an edge without a *Error is answered as code internal with a generic text.
package fault

import (
	"errors"
	"fmt"
	"strings"
	"time"
)

// Error is a refusal or failure with a public face and a private cause.
//
// Public is for the caller: it names the field and the cure, never a secret or
// a host of ours. Cause is for the log and never leaves the process. An Error is
// not changed after it was returned; use the With methods, which copy.
type Error struct {
	Code      Code          // row of the table, for example fault.InvalidConfig
	Public    string        // text for the caller; empty means the table's text
	Param     string        // the field at fault, for example "temperature"; may be empty
	Type      string        // wire "type"; empty means the table's
	Wire      string        // wire "code"; empty means the table's
	Details   []string      // further lines, for example "targets[0].retry: …, message: …"
	Retry     time.Duration // how long to wait before trying again; 0 means not stated
	Retryable Retryable     // whether trying again can help
	Status    int           // HTTP status; 0 means the table's
	Reason    string        // why a provider cannot be reached: "dns", "refused", "tls", "timeout", "network"; may be empty
	Cause     error         // private; may be nil
}

// Retryable is whether the same request, sent again, can succeed. Bodies have it
// as "retryable"; what official clients make of it by themselves is in the header
// x-should-retry.
type Retryable uint8

// Values of Retryable. With the zero value, the response does not state it.
const (
	AgainUnsaid Retryable = iota
	AgainHelps            // after Retry, where that is stated
	AgainNever            // not before somebody changes something
)

// New returns an Error with a public text. An empty text stands for the table's.
func New(code Code, public string) *Error { return &Error{Code: code, Public: public} }

// Newf is New with a format. Never pass secrets or upstream hosts as arguments.
func Newf(code Code, format string, args ...any) *Error {
	return &Error{Code: code, Public: fmt.Sprintf(format, args...)}
}

// Wrap returns an Error with the table's public text and a private cause.
func Wrap(code Code, cause error) *Error { return &Error{Code: code, Cause: cause} }

// Clip shortens a value from a caller to 80 bytes, so that an error message may quote it.
func Clip(s string) string {
	if len(s) > 80 {
		return s[:80] + "…"
	}
	return s
}

// WithParam returns a copy that names the field at fault, for example "messages[2].role".
func (e *Error) WithParam(param string) *Error { c := *e; c.Param = param; return &c }

// WithCause returns a copy with a private cause.
func (e *Error) WithCause(cause error) *Error { c := *e; c.Cause = cause; return &c }

// WithDetails returns a copy with further public lines.
func (e *Error) WithDetails(lines ...string) *Error { c := *e; c.Details = lines; return &c }

// WithRetry returns a copy that states how long the caller must wait.
func (e *Error) WithRetry(d time.Duration) *Error { c := *e; c.Retry = d; return &c }

// WithAgain returns a copy that states whether a retry can help.
func (e *Error) WithAgain(a Retryable) *Error { c := *e; c.Retryable = a; return &c }

// WithReason returns a copy that states why a provider cannot be reached.
func (e *Error) WithReason(reason string) *Error { c := *e; c.Reason = reason; return &c }

// WithType returns a copy with another wire type and wire code, for refusals
// whose words the contract fixes, for example "api_key_rate_limit_error".
func (e *Error) WithType(typ, wire string) *Error { c := *e; c.Type, c.Wire = typ, wire; return &c }

// Error is the text for the log: code, public text and cause.
func (e *Error) Error() string {
	var b strings.Builder
	b.WriteString(string(e.Code))
	b.WriteString(": ")
	b.WriteString(e.Text())
	for _, d := range e.Details {
		b.WriteString("; ")
		b.WriteString(d)
	}
	if e.Cause != nil {
		b.WriteString(": ")
		b.WriteString(e.Cause.Error())
	}
	return b.String()
}

// Unwrap gives errors.Is and errors.As the private cause.
func (e *Error) Unwrap() error { return e.Cause }

// Is makes errors.Is(err, fault.New(fault.NotFound, "")) compare by code alone.
func (e *Error) Is(target error) bool {
	t, ok := target.(*Error)
	return ok && t.Code == e.Code
}

// Text is the public text, the table's when none was given.
func (e *Error) Text() string {
	if e.Public != "" {
		return e.Public
	}
	return e.Code.row().Text
}

// HTTPStatus is the status to answer with, 400 to 599.
func (e *Error) HTTPStatus() int {
	if e.Status != 0 {
		return e.Status
	}
	return e.Code.row().Status
}

// Exception reports whether the failure is the gateway's own inside a target, so
// that the answer carries x-gateway-gateway-exception: true.
// Source: contract/dataplane.md part 2.
func (e *Error) Exception() bool { return e.Code.row().Exception }

// From finds the *Error in err, or wraps err as Internal. From(nil) is nil.
func From(err error) *Error {
	if err == nil {
		return nil
	}
	var f *Error
	if errors.As(err, &f) {
		return f
	}
	return Wrap(Internal, err)
}

// Has reports whether err carries code.
func Has(err error, code Code) bool {
	var f *Error
	return errors.As(err, &f) && f.Code == code
}
