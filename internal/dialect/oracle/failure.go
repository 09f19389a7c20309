package oracle

import (
	"strconv"

	"sluice/internal/dialect/upstreamerror"
	"sluice/internal/kernel/jsonedit"
	"sluice/internal/kernel/llm"
)

// statuses maps the service's error codes to their HTTP statuses.
// Source: https://docs.oracle.com/iaas/Content/API/References/apierrors.htm, read 2026-11.
var statuses = map[string]int{
	"CannotParseRequest": 400, "InvalidParameter": 400, "LimitExceeded": 400, "MissingParameter": 400, "QuotaExceeded": 400,
	"NotAuthenticated": 401, "NotAllowed": 403, "NotAuthorized": 403, "NotAuthorizedOrNotFound": 404, "NotFound": 404,
	"Conflict": 409, "IncorrectState": 409, "RequestEntityTooLarge": 413, "TooManyRequests": 429,
	"InternalServerError": 500, "MethodNotImplemented": 501, "ServiceUnavailable": 503,
}

// failure reads an error in a stream: {"code":"TooManyRequests","message":"…"}. In all
// other events the message is an object.
func failure(data []byte) (llm.Event, bool) {
	text, ok := jsonedit.Find(data, "message")
	if !ok || text[0] != '"' {
		return upstreamerror.ReadEvent(data)
	}
	ev := llm.Event{Kind: llm.EventFault, Name: jsonedit.Text(data, "code"), Usage: upstreamerror.Usage(data)}
	ev.Text, _ = jsonedit.Unquote(text)
	ev.Status = statuses[ev.Name]
	raw, _ := jsonedit.Find(data, "code")
	ev.ID = upstreamerror.CodeText(raw)
	if n, err := strconv.Atoi(ev.ID); err == nil && n >= 400 && n <= 599 {
		ev.Status = n
	}
	return ev, true
}
