package secretmanager

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strings"

	"github.com/Azure/azure-sdk-for-go/sdk/azidentity"
	"github.com/aws/aws-sdk-go-v2/aws/retry"

	"sluice/internal/kernel/fault"
)

// unreachable reports whether a fetch failed because the manager, or where one signs in to
// it, could not be reached or had no time: no answer, 5xx, 429, or 307, with which a node
// of Vault on standby names the one that serves. Every other answer means that the
// secret is not, or no longer, for the gateway, or not to be used.
func unreachable(err error) bool {
	if status, answered := statusOf(err); answered {
		return status >= http.StatusInternalServerError || status == http.StatusTooManyRequests || status == http.StatusTemporaryRedirect
	}
	var call *transportError
	return errors.As(err, &call) || errors.Is(err, context.DeadlineExceeded) || errors.Is(err, context.Canceled) ||
		fault.Has(err, fault.Unauthenticated) // a sign-in that nobody answered
}

// statusOf is the status of the response that an error is about. AWS returns 400 where it has
// no time; here that is 429.
func statusOf(err error) (status int, answered bool) {
	var statusErr *statusError
	var azure *azidentity.AuthenticationFailedError
	var amazon interface{ HTTPStatusCode() int }
	switch {
	case errors.As(err, &statusErr):
		status = statusErr.status
		if statusErr.busy {
			status = http.StatusTooManyRequests
		}
	case errors.As(err, &azure) && azure.RawResponse != nil:
		status = azure.RawResponse.StatusCode
	case errors.As(err, &amazon):
		status = amazon.HTTPStatusCode()
		var code interface{ ErrorCode() string }
		if errors.As(err, &code) && throttles(code.ErrorCode()) {
			status = http.StatusTooManyRequests
		}
	}
	return status, status != 0
}

// busy reports whether AWS throttled the call: {"__type":"ThrottlingException"}, its
// namespace and a # before the name in some services.
func busy(status int, body []byte) bool {
	var failure struct {
		Type string `json:"__type"`
	}
	if status != http.StatusBadRequest || json.Unmarshal(body, &failure) != nil {
		return false
	}
	return throttles(failure.Type[strings.LastIndexByte(failure.Type, '#')+1:])
}

func throttles(code string) bool {
	_, found := retry.DefaultThrottleErrorCodes[code]
	return found
}
