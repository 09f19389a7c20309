package modellists_test

import (
	"slices"
	"strings"
	"testing"

	"sluice/internal/dialect/modellists"
	"sluice/internal/kernel/fault"
)

func TestModelNames_ReadsTheListsOfServers(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		body string
		want []string
	}{
		"OpenAI's list":             {`{"object":"list","data":[{"id":"a","object":"model"},{"id":"b:latest"}]}`, []string{"a", "b:latest"}},
		"Ollama's tags":             {`{"models":[{"name":"llama3.2:latest","model":"llama3.2:latest","size":1},{"name":"only-a-name"}]}`, []string{"llama3.2:latest", "only-a-name"}},
		"llama.cpp's two lists":     {`{"models":[{"name":"/models/a.gguf"}],"object":"list","data":[{"id":"a"}]}`, []string{"a"}},
		"an array":                  {"\ufeff [{\"id\":\"a\"},\"b\"] ", []string{"a", "b"}},
		"models without a name":     {`{"data":[{"id":""},{"object":"model"},7,null,{"id":"a"}]}`, []string{"a"}},
		"an empty list":             {`{"data":[]}`, nil},
		"a server without models":   {`{"object":"list","data":null,"models":[]}`, nil},
		"escapes are resolved":      {`{"data":[{"id":"org\/m\u00fc"}]}`, []string{"org/mü"}},
		"the number has a limit":    {`{"data":["a","b","c","d"]}`, []string{"a", "b", "c"}},
		"data that is not an array": {`{"data":{"id":"a"},"models":["b"]}`, []string{"b"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := modellists.Names([]byte(c.body), 3)
			if err != nil || !slices.Equal(got, c.want) {
				t.Errorf("ModelNames = %q, %v; want %q", got, err, c.want)
			}
		})
	}
}

func TestModelNames_RejectsOtherBodies(t *testing.T) {
	t.Parallel()
	for _, body := range []string{"", "null", "<html></html>", `{"error":"no"}`, `{"data":"a"}`, `{"data":[{"id":"a"}`, `[{"id":"a"}`, `[`, `{"data":`, strings.Repeat("[", 100_000)} {
		if got, err := modellists.Names([]byte(body), 3); !fault.Has(err, fault.UpstreamInvalid) {
			t.Errorf("ModelNames(%.40q) = %q, %v", body, got, err)
		}
	}
}
