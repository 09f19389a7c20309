package fault_test

import (
	"encoding/json"
	"testing"

	"sluice/internal/kernel/fault"
)

func TestStatusesHaveTheNamesOfVendors(t *testing.T) {
	t.Parallel()
	for status, want := range map[int][2]string{
		400: {"INVALID_ARGUMENT", "ValidationException"},
		401: {"UNAUTHENTICATED", "UnrecognizedClientException"},
		403: {"PERMISSION_DENIED", "AccessDeniedException"},
		404: {"NOT_FOUND", "ResourceNotFoundException"},
		405: {"INVALID_ARGUMENT", "ValidationException"},
		408: {"DEADLINE_EXCEEDED", "ModelTimeoutException"},
		409: {"ABORTED", "ConflictException"},
		412: {"FAILED_PRECONDITION", "ServiceQuotaExceededException"},
		413: {"INVALID_ARGUMENT", "ValidationException"},
		429: {"RESOURCE_EXHAUSTED", "ThrottlingException"},
		500: {"INTERNAL", "InternalServerException"},
		501: {"UNIMPLEMENTED", "InternalServerException"},
		502: {"UNAVAILABLE", "InternalServerException"},
		503: {"UNAVAILABLE", "ServiceUnavailableException"},
		504: {"DEADLINE_EXCEEDED", "ModelTimeoutException"},
	} {
		e := fault.New(fault.Internal, "no")
		e.Status = status
		var body struct {
			Error struct {
				Code   int
				Status string
			}
		}
		if err := json.Unmarshal(e.Body(fault.Google), &body); err != nil || body.Error.Code != status || body.Error.Status != want[0] {
			t.Errorf("%d: %+v %v, want %s", status, body, err, want[0])
		}
		if got := e.AmazonType(); got != want[1] {
			t.Errorf("%d: %s, want %s", status, got, want[1])
		}
	}
}
