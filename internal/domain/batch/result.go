package batch

import (
	"encoding/json"

	"sluice/internal/kernel/jsonedit"
)

// Response is the response to a line.
type Response struct {
	Status    int
	RequestID string
	Body      []byte // JSON, or text of a provider that does not respond with JSON
}

// OK reports whether the response belongs into the output file.
func (r *Response) OK() bool { return r != nil && r.Status >= 200 && r.Status < 300 }

// LineError is the error of a line without a response.
type LineError struct {
	Code    string `json:"code"`
	Message string `json:"message"`
}

// LineResult is the result of a line: a response or an error.
type LineResult struct {
	Number   int64 // of the line, from 0
	CustomID string
	Response *Response
	Error    *LineError
}

// Append appends the result as a line of a result file:
//
//	{"id":"batch_req_…","custom_id":"1","response":{"status_code":200,"request_id":"…","body":{…}},"error":null}
func (r *LineResult) Append(dst []byte, id string) []byte {
	dst = append(append(dst, `{"id":`...), jsonedit.Quote(id)...)
	dst = append(append(dst, `,"custom_id":`...), jsonedit.Quote(r.CustomID)...)
	dst = append(dst, `,"response":`...)
	if r.Response == nil {
		dst = append(dst, "null"...)
	} else {
		dst = r.Response.append(dst)
	}
	dst = append(dst, `,"error":`...)
	if r.Error == nil {
		return append(dst, "null}\n"...)
	}
	text, err := json.Marshal(r.Error)
	if err != nil { // two strings can always be written
		text = []byte("null")
	}
	return append(append(dst, text...), "}\n"...)
}

func (r *Response) append(dst []byte) []byte {
	head, err := json.Marshal(struct {
		Status    int    `json:"status_code"`
		RequestID string `json:"request_id"`
	}{r.Status, r.RequestID})
	if err != nil { // a number and a string can always be written
		head = []byte(`{"status_code":0}`)
	}
	dst = append(append(dst, head[:len(head)-1]...), `,"body":`...)
	return append(append(dst, jsonOf(r.Body)...), '}')
}

// jsonOf returns a body as JSON on one line: a text that is not JSON becomes a string.
func jsonOf(body []byte) []byte {
	if len(body) == 0 {
		return []byte("null")
	}
	if json.Valid(body) {
		return compact(body)
	}
	return jsonedit.Quote(string(body))
}

// ReadResult reads a line of a provider's result file, which has OpenAI's format. Number is not set.
func ReadResult(line []byte) LineResult {
	r := LineResult{CustomID: jsonedit.Text(line, "custom_id")}
	if resp, ok := jsonedit.Find(line, "response"); ok && !jsonedit.IsNull(resp) {
		body, _ := jsonedit.Find(resp, "body")
		r.Response = &Response{RequestID: jsonedit.Text(resp, "request_id"), Body: body}
		if status, ok := jsonedit.Find(resp, "status_code"); ok {
			_ = json.Unmarshal(status, &r.Response.Status) // an invalid number remains 0, which is not a success
		}
		return r
	}
	r.Error = &LineError{Code: "provider_error", Message: "the provider reported an error without a text"}
	if e, ok := jsonedit.Find(line, "error"); ok && !jsonedit.IsNull(e) {
		if code := jsonedit.Text(e, "code"); code != "" {
			r.Error.Code = code
		}
		if text := jsonedit.Text(e, "message"); text != "" {
			r.Error.Message = text
		}
	}
	return r
}
