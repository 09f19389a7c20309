package localadmin

import (
	"context"
	"errors"
	"testing"

	"sluice/internal/control/resource"
)

// A database that fails is not taken for one without the workspace.
func TestWorkspaceThatCannotBeLookedFor(t *testing.T) {
	t.Parallel()
	gone := errors.New("the connection is gone")
	if _, err := findWorkspace(t.Context(), failingReader{err: gone}, "ws"); !errors.Is(err, gone) {
		t.Error(err)
	}
}

// failingReader knows one organisation, and fails when it is asked for a slug.
type failingReader struct {
	resource.Reader
	err error
}

func (failingReader) List(context.Context, resource.Query) ([]resource.Record, error) {
	return []resource.Record{{ID: "o"}}, nil
}

func (r failingReader) FindSlug(context.Context, string, string, string) (resource.Record, error) {
	return resource.Record{}, r.err
}
