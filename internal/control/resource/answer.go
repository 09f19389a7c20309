package resource

import (
	"bytes"
	"context"
	"encoding/json"
	"log/slog"
	"net/http"
	"strconv"
	"strings"
	"sync"

	"sluice/internal/kernel/fault"
)

// Problem is one error in a request: the path of a field and what the field must be.
// Source: contract/identity-and-governance.yaml, errors.
type Problem struct {
	Path    string `json:"path" doc:"Path of the field, for example conditions[0].key"`
	Message string `json:"message" doc:"Problem with the field"`
}

// fault.Error contains each problem as one line of its details, in the format that the config
// language also uses.
const (
	pathMark    = "path: "
	messageMark = ", message: "
)

func (p Problem) line() string { return pathMark + p.Path + messageMark + p.Message }

func parseProblem(line string) Problem {
	path, message, ok := strings.Cut(strings.TrimPrefix(line, pathMark), messageMark)
	if !ok {
		return Problem{Message: line}
	}
	return Problem{path, message}
}

// Failure is the response body of every rejected call.
type Failure struct {
	Success bool          `json:"success" doc:"Always false"`
	Data    FailureDetail `json:"data"`
}

// FailureDetail states what was rejected and why.
type FailureDetail struct {
	Message   string    `json:"message"`
	ErrorCode string    `json:"errorCode" doc:"AB01 to AB08"`
	Errors    []Problem `json:"errors,omitempty" nullable:"false"`
}

// Empty is the response of an operation without a result: {}.
type Empty struct{}

// HeaderRequestID is the response header that contains the request id. The log contains the same
// id.
const HeaderRequestID = "X-Gateway-Request-Id"

// bufferPool contains the buffers that responses are encoded into. A page of a list has about 30
// KB, which a new buffer would reach only by doubling several times.
var bufferPool = sync.Pool{New: func() any { return new(bytes.Buffer) }}

// maxPooledBytes is the largest capacity that a pooled buffer may have. Larger buffers are
// dropped.
const maxPooledBytes = 1 << 20

func putBuffer(buf *bytes.Buffer) {
	if buf.Cap() <= maxPooledBytes {
		buf.Reset()
		bufferPool.Put(buf)
	}
}

// respond writes the response of a call, or the error.
func (e *Engine) respond(ctx context.Context, w http.ResponseWriter, c *Call, response any, err error) {
	c.outcome(ctx, err)
	c.warningHeader(w.Header())
	if s, ok := response.(Stream); ok && err == nil {
		e.stream(ctx, w, c, s)
		return
	}
	if f, ok := response.(*File); ok && err == nil {
		e.file(w, c, f)
		return
	}
	status := http.StatusOK
	if err != nil {
		f := fault.From(err)
		status, response = f.HTTPStatus(), any(failureOf(f))
		if c.op.Refuse != nil {
			response = c.op.Refuse(f)
		}
		if f.Retry > 0 {
			w.Header().Set("Retry-After", strconv.Itoa(seconds(f.Retry)))
		}
		if status >= http.StatusInternalServerError && f.Code != fault.NotSupported {
			e.Log.LogAttrs(ctx, slog.LevelError, "admin request failed",
				slog.String("request_id", c.RequestID), slog.String("operation", c.op.ID), slog.String("error", err.Error()))
		}
	} else if response == nil {
		response = Empty{}
	}
	body := bufferPool.Get().(*bytes.Buffer)
	defer putBuffer(body)
	enc := json.NewEncoder(body)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(response); err != nil {
		e.Log.LogAttrs(ctx, slog.LevelError, "cannot encode response", slog.String("operation", c.op.ID), slog.String("error", err.Error()))
		status = http.StatusInternalServerError
	}
	h := w.Header()
	for name, values := range c.header {
		h[name] = values
	}
	h.Set("Content-Type", "application/json")
	h.Set("Content-Length", strconv.Itoa(body.Len())) // the client has received the whole response before the call ends
	h.Set("Cache-Control", "no-store")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set(HeaderRequestID, c.RequestID)
	if c.etag != "" && status == http.StatusOK {
		h.Set("ETag", c.etag)
	}
	w.WriteHeader(status)
	_, _ = w.Write(body.Bytes()) // the client may have disconnected
}

// failureOf returns the response body of an error.
func failureOf(f *fault.Error) Failure {
	var b Failure
	f2 := *f
	f2.Details = nil // there they are lines; here they are paths and messages
	if err := json.Unmarshal(f2.Body(fault.Admin), &b); err != nil {
		return Failure{Data: FailureDetail{Message: f.Text()}}
	}
	if len(f.Details) > 0 {
		b.Data.Errors = make([]Problem, len(f.Details))
		for i, line := range f.Details {
			b.Data.Errors[i] = parseProblem(line)
		}
	}
	return b
}
