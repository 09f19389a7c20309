package fault

import (
	"strconv"
	"time"
)

// googleBody is {"error":{"code":400,"message":…,"status":"INVALID_ARGUMENT"}}, with details for
// a code that is not the table's and for how long to wait.
// Source: https://cloud.google.com/apis/design/errors and https://google.aip.dev/193, read 2026-11.
func (e *Error) googleBody() any {
	object := map[string]any{"code": e.HTTPStatus(), "message": e.Text(), "status": e.googleStatus()}
	var details []map[string]any
	if e.Wire != "" {
		details = append(details, map[string]any{"@type": "type.googleapis.com/google.rpc.ErrorInfo", "reason": e.Wire, "domain": "sluice"})
	}
	if e.Retry > 0 {
		details = append(details, map[string]any{"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": strconv.Itoa(int((e.Retry+time.Second-1)/time.Second)) + "s"})
	}
	if details != nil {
		object["details"] = details
	}
	return map[string]any{"error": e.withRetryable(object)}
}

// googleStatus is the name that Google's clients know the status by.
// Source: https://cloud.google.com/apis/design/errors, read 2026-11.
func (e *Error) googleStatus() string {
	switch s := e.HTTPStatus(); {
	case s == 401:
		return "UNAUTHENTICATED"
	case s == 403:
		return "PERMISSION_DENIED"
	case s == 404:
		return "NOT_FOUND"
	case s == 408, s == 504:
		return "DEADLINE_EXCEEDED"
	case s == 409:
		return "ABORTED"
	case s == 402, s == 412:
		return "FAILED_PRECONDITION"
	case s == 429:
		return "RESOURCE_EXHAUSTED"
	case s == 499:
		return "CANCELLED"
	case s == 501:
		return "UNIMPLEMENTED"
	case s == 502, s == 503:
		return "UNAVAILABLE"
	case s >= 500:
		return "INTERNAL"
	}
	return "INVALID_ARGUMENT"
}

// AmazonType is the type that Amazon's clients read from the header x-amzn-ErrorType:
// "ValidationException".
// Source: https://docs.aws.amazon.com/bedrock/latest/APIReference/CommonErrors.html and
// API_runtime_Converse.html there, read 2026-11.
func (e *Error) AmazonType() string {
	switch s := e.HTTPStatus(); {
	case s == 401:
		return "UnrecognizedClientException"
	case s == 403:
		return "AccessDeniedException"
	case s == 404:
		return "ResourceNotFoundException"
	case s == 408, s == 504:
		return "ModelTimeoutException"
	case s == 409:
		return "ConflictException"
	case s == 402, s == 412:
		return "ServiceQuotaExceededException"
	case s == 429:
		return "ThrottlingException"
	case s == 503:
		return "ServiceUnavailableException"
	case s >= 500:
		return "InternalServerException"
	}
	return "ValidationException"
}
