package dialect_test

import (
	"slices"
	"testing"

	"sluice/internal/dialect"
)

func TestRefusalsOfAddedParameters(t *testing.T) {
	t.Parallel()
	all := dialect.AddedUsage | dialect.AddedStore | dialect.AddedInclude | dialect.AddedDisplay
	for text, want := range map[string]dialect.Added{
		`{"error":{"message":"Unknown parameter: 'stream_options'.","param":"stream_options"}}`:                                  dialect.AddedUsage,
		`{"detail":[{"type":"extra_forbidden","loc":["body","stream_options"],"msg":"Extra inputs are not permitted"}]}`:         dialect.AddedUsage,
		`{"message":"Validation error at #/stream_options: Extra inputs are not permitted"}`:                                     dialect.AddedUsage,
		`stream_options.include_usage is not supported`:                                                                          dialect.AddedUsage,
		`{"error":{"message":"Unrecognized request argument supplied: my_stream_options"}}`:                                      0,
		`{"error":{"message":"Unsupported parameter: 'store'","param":"store"}}`:                                                 dialect.AddedStore,
		`the key is not in the store, please include one to display`:                                                             0,
		`{"error":{"message":"Encrypted content is not supported with this model.","param":"include"}}`:                          dialect.AddedInclude,
		`{"type":"error","error":{"type":"invalid_request_error","message":"thinking.display: Extra inputs are not permitted"}}`: dialect.AddedDisplay,
		`[{"loc":["body","store"]},{"loc":["body","include"]}]`:                                                                  dialect.AddedStore | dialect.AddedInclude,
		``: 0,
	} {
		if got := all.RefusedBy([]byte(text)); got != want {
			t.Errorf("%s: %b, want %b", text, got, want)
		}
	}
	if got := dialect.AddedStore.RefusedBy([]byte(`'stream_options'`)); got != 0 {
		t.Errorf("a parameter that was not added is refused: %b", got)
	}
	if got := (dialect.AddedUsage | dialect.AddedInclude).Paths(); !slices.Equal(got, []string{"stream_options.include_usage", "include"}) {
		t.Errorf("paths are %q", got)
	}
}
