package credential_test

import (
	"testing"

	"sluice/internal/domain/credential"
)

func TestSplitModel_SeparatesTheSavedProvider(t *testing.T) {
	t.Parallel()
	for name, want := range map[string][2]string{
		"@local/llama3.2":   {"local", "llama3.2"},
		"@local/org/model":  {"local", "org/model"},
		"gpt-4o":            {"", "gpt-4o"},
		"org/model":         {"", "org/model"},
		"@local":            {"", "@local"},
		"@/model":           {"", "@/model"},
		"@local/":           {"local", ""},
		"":                  {"", ""},
		"models/@local/any": {"", "models/@local/any"},
	} {
		slug, model := credential.SplitModel(name)
		if got := [2]string{slug, model}; got != want {
			t.Errorf("%q: got %q, want %q", name, got, want)
		}
	}
}
