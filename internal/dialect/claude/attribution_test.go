package claude_test

import (
	"testing"

	"sluice/internal/dialect/claude"
)

func TestWithoutAttribution_RemovesTheLineAndNothingElse(t *testing.T) {
	t.Parallel()
	const line = "x-anthropic-billing-header: cc_version=2.1.117.48f; cc_entrypoint=cli; cch=71fea;"
	for system, want := range map[string]string{
		`"` + line + `\nYou code.\n\nBe brief."`: `"You code.\n\nBe brief."`,
		`"` + line + `"`:                         ``,
		`"\n ` + line + `\n "`:                   ``,
		`[ {"type":"text","text":"` + line + `"}, {"type":"text","text":"You code.","cache_control":{"type":"ephemeral"}} ]`: `[{"type":"text","text":"You code.","cache_control":{"type":"ephemeral"}}]`,
		`[{"type":"text", "text":"` + line + `\nYou code."}]`:                                                                `[{"type":"text", "text":"You code."}]`,
		`[{"type":"text","text":"` + line + `"}]`:                                                                            ``,
		`[{"type":"text","text":"Never write ` + line + `"},7]`:                                                              `[{"type":"text","text":"Never write ` + line + `"},7]`,
		`"Never write ` + line + `"`:                                                                                         `"Never write ` + line + `"`,
		`"You code."`:                                                                                                        `"You code."`,
		`[ {"type":"text","text":"You code."} ]`:                                                                             `[ {"type":"text","text":"You code."} ]`,
		`{"x-anthropic-billing-header:":1}`:                                                                                  `{"x-anthropic-billing-header:":1}`,
		`[{"text":7,"x":"x-anthropic-billing-header:"}]`:                                                                     `[{"text":7,"x":"x-anthropic-billing-header:"}]`,
	} {
		if got := string(claude.WithoutAttribution([]byte(system))); got != want {
			t.Errorf("%s:\n got %s\nwant %s", system, got, want)
		}
	}
}
