package prompt_test

import (
	"fmt"
	"strings"
	"testing"

	"sluice/internal/domain/prompt"
)

func TestCircle(t *testing.T) {
	t.Parallel()
	source := partialMap{"plain": "x", "one": "{{>plain}}{{>plain}}", "back": "{{#a}}{{>me}}{{/a}}", "far": "{{>one}}{{>back}}", "old": "{{>me@1}}", "me@1": "x", "left": "{{>right}}", "right": "{{>left}}"}
	for i := range 9 {
		source[fmt.Sprint("p", i)] = fmt.Sprintf("{{>p%d}}", i+1)
	}
	source["p9"] = "x"
	for text, want := range map[string]string{
		"": "", "x {{>one}} {{>plain}}": "", "{{>old}}": "", "{{>me}}": "includes itself", "{{>back}}": "includes itself", "{{>far}}": "includes itself through {{>me}}",
		"{{>nobody}}": "nobody", "{{>left}}": "nested deeper", "{{>p2}}": "", "{{>p0}}": "nested deeper",
	} {
		tmpl, err := prompt.Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		err = prompt.CheckCycle(tmpl.Partials(), source, func(ref prompt.PartialRef) bool { return ref.String() == "me" })
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
}
