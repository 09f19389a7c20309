package demo

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
)

// refusal is an error response with OpenAI's error body. An empty Type means
// "invalid_request_error"; empty Param and Code are written as null.
type refusal struct {
	Status  int
	Message string
	Type    string
	Param   string
	Code    string
}

func (r *refusal) Error() string { return r.Message }

// badParam returns a 400 that names the field.
func badParam(param, format string, args ...any) *refusal {
	return &refusal{Status: http.StatusBadRequest, Message: fmt.Sprintf(format, args...), Param: param}
}

// missing returns the 404 of a stored object: missing("File", "file-1").
func missing(kind, id string) *refusal {
	return &refusal{Status: http.StatusNotFound, Message: fmt.Sprintf("No such %s object: %s", kind, id), Param: "id"}
}

func unknown(_ http.ResponseWriter, r *http.Request) error {
	return &refusal{Status: http.StatusNotFound, Message: fmt.Sprintf("Invalid URL (%s %s)", r.Method, r.URL.Path), Code: "unknown_url"}
}

// refuse writes err; an error that is not a refusal is a body that could not be read.
func refuse(w http.ResponseWriter, err error) {
	var f *refusal
	if !errors.As(err, &f) {
		f = unreadable(err)
	}
	detail := map[string]any{"message": f.Message, "type": orElse(f.Type, "invalid_request_error"), "param": nil, "code": nil}
	if f.Param != "" {
		detail["param"] = f.Param
	}
	if f.Code != "" {
		detail["code"] = f.Code
	}
	writeJSON(w, f.Status, map[string]any{"error": detail})
}

func unreadable(err error) *refusal {
	var large *http.MaxBytesError
	if errors.As(err, &large) {
		return &refusal{Status: http.StatusRequestEntityTooLarge, Message: fmt.Sprintf("The body is larger than %d bytes.", large.Limit)}
	}
	return &refusal{Status: http.StatusBadRequest, Message: "Cannot read the body: " + err.Error()}
}

func writeJSON(w http.ResponseWriter, status int, v any) {
	b, err := json.Marshal(v)
	if err != nil { // wire structs of strings and finite numbers: cannot happen
		status, b = http.StatusInternalServerError, []byte(`{"error":{"message":"internal error","type":"server_error","param":null,"code":null}}`)
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(append(b, '\n')) // the client may have disconnected
}

func orElse(s, other string) string {
	if s == "" {
		return other
	}
	return s
}
