package spans

import (
	"net/http"
	"strings"

	"google.golang.org/genproto/googleapis/rpc/status"
	"google.golang.org/protobuf/proto"

	"sluice/internal/kernel/fault"
)

// refuse writes an error response in the format of the message. For protobuf it is a
// google.rpc.Status, whose code OTLP leaves open over HTTP. Clients of JSON find the message of
// such a Status in the error body that all other clients get.
// Source: https://opentelemetry.io/docs/specs/otlp/#failures-1.
func (v *Receiver) refuse(w http.ResponseWriter, r *http.Request, f *fault.Error) {
	h, body := v.Refusal(f)
	for _, line := range h {
		w.Header().Set(line.Name, line.Value)
	}
	if mediaType(r) == typeProtobuf {
		w.Header().Set("Content-Type", typeProtobuf)
		body, _ = proto.Marshal(&status.Status{Message: errorMessage(f)}) // one string: cannot fail
	}
	w.Header().Set("X-Content-Type-Options", "nosniff")
	w.WriteHeader(f.HTTPStatus())
	_, _ = w.Write(body) // the client may have disconnected
}

// errorMessage returns an error as one line: the reason, and the field.
func errorMessage(f *fault.Error) string {
	text := f.Text()
	if f.Param != "" {
		text += " (" + f.Param + ")"
	}
	return strings.ToValidUTF8(text, "\uFFFD")
}
