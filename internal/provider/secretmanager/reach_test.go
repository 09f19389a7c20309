package secretmanager

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"testing"

	"github.com/Azure/azure-sdk-for-go/sdk/azidentity"
	"github.com/aws/smithy-go"
	smithyhttp "github.com/aws/smithy-go/transport/http"

	"sluice/internal/kernel/fault"
)

// Where one signs in to a manager may be in trouble like the manager itself.
func TestUnreachableSignIns(t *testing.T) {
	t.Parallel()
	signIn := func(cause error) error {
		return fmt.Errorf("sign in to the secret manager: %w", fault.New(fault.Unauthenticated, "no token").WithCause(cause))
	}
	azure := func(status int) error {
		return signIn(&azidentity.AuthenticationFailedError{RawResponse: &http.Response{StatusCode: status}})
	}
	amazon := func(status int, code string) error {
		return signIn(&smithy.OperationError{Err: &smithyhttp.ResponseError{
			Response: &smithyhttp.Response{Response: &http.Response{StatusCode: status}}, Err: &smithy.GenericAPIError{Code: code},
		}})
	}
	for _, c := range []struct {
		name string
		err  error
		want bool
	}{
		{"Entra refuses", azure(401), false},
		{"Entra knows no such secret", azure(400), false},
		{"Entra fails", azure(503), true},
		{"Entra has no time", azure(429), true},
		{"Entra does not answer", signIn(&azidentity.AuthenticationFailedError{}), true},
		{"STS refuses", amazon(403, "AccessDenied"), false},
		{"STS fails", amazon(500, "InternalFailure"), true},
		{"STS has no time", amazon(400, "Throttling"), true},
		{"STS does not answer", signIn(&smithyhttp.RequestSendError{Err: errors.New("dial")}), true},
		{"Vault refuses", fmt.Errorf("sign in: %w", &statusError{status: 400}), false},
		{"Vault is on standby", &statusError{status: 307}, true},
		{"Vault fails", fmt.Errorf("sign in: %w", &statusError{status: 502}), true},
		{"the time of the fetch is over", fmt.Errorf("sign in to the secret manager: %w", context.DeadlineExceeded), true},
		{"a field is missing", fault.New(fault.InvalidRequest, "aws_role_arn"), false},
		{"our own fault", errors.New("panic while reading secret"), false},
	} {
		if got := unreachable(c.err); got != c.want {
			t.Errorf("%s: %v", c.name, got)
		}
	}
}
