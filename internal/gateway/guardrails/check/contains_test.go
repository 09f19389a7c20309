package check_test

import "testing"

func TestContains_CombinesByOperator(t *testing.T) {
	t.Parallel()
	runCases(t, "default.contains", []verdictCase{
		{"any finds one", `{"words":["red","blue"],"operator":"any"}`, []string{"a blue car"}, true, "", `{"foundWords":["blue"],"missingWords":["red"]}`},
		{"any finds none", `{"words":["red"],"operator":"any"}`, []string{"a Red car"}, false, "", ""},
		{"all finds all", `{"words":["red","blue"],"operator":"all"}`, []string{"blue", "and red"}, true, "", ""},
		{"all misses one", `{"words":["red","blue"],"operator":"all"}`, []string{"blue"}, false, "", ""},
		{"none finds none", `{"words":["red"],"operator":"none"}`, []string{"blue"}, true, "", `{"operator":"none"}`},
		{"none finds one", `{"words":["red"],"operator":"none"}`, []string{"hundred"}, false, "", ""},
		{"no text contains none", `{"words":["red"],"operator":"none"}`, nil, true, "", ""},
	})
	runRefusals(t, "default.contains", refusals{
		`{"words":[],"operator":"any"}`:     ".words: a list of 1",
		`{"words":["a"]}`:                   ".operator: required",
		`{"words":["a"],"operator":"some"}`: ".operator: one of",
	})
}

func TestContains_FindsDisguisedStrings(t *testing.T) {
	t.Parallel()
	for _, text := range disguises {
		runCases(t, "default.contains", []verdictCase{{text, `{"words":["secret"],"operator":"none"}`, []string{"my " + text + " text"}, false, "", `{"foundWords":["secret"]}`}})
		runCases(t, "default.endsWith", []verdictCase{{text, `{"suffix":"secret"}`, []string{"my " + text}, true, "", ""}})
		runCases(t, "default.regexMatch", []verdictCase{{text, `{"rule":"\\bse[a-d]ret\\b","not":true}`, []string{"my " + text + " text"}, false, "", ""}})
	}
	runCases(t, "default.contains", []verdictCase{
		{"a Cyrillic string with a soft hyphen", `{"words":["слово"],"operator":"none"}`, []string{"это сло\u00adво"}, false, "", ""},
		{"a string that is itself disguised", `{"words":["ѕесrеt"],"operator":"none"}`, []string{"secret"}, false, "", ""},
	})
}

// disguises are spellings of "secret".
var disguises = []string{"se\u00adcr\u00adet", "s\u200be\u200cc\u2060ret", "ｓｅｃｒｅｔ", "ѕесrеt", "𝐬𝐞𝐜𝐫𝐞𝐭", "secr\u200bet"}

func TestEndsWith_PermitsFullStop(t *testing.T) {
	t.Parallel()
	runCases(t, "default.endsWith", []verdictCase{
		{"the suffix", `{"suffix":"the end"}`, []string{"this is the end"}, true, "", `{"suffix":"the end"}`},
		{"the suffix and a full stop", `{"suffix":"the end"}`, []string{"this is the end."}, true, "", ""},
		{"another sign", `{"suffix":"the end"}`, []string{"this is the end!"}, false, "", ""},
		{"the suffix with not", `{"suffix":"the end","not":true}`, []string{"this is the end."}, false, "", ""},
		{"no text is an error", `{"suffix":"a"}`, nil, false, "the text is empty", ""},
	})
	runRefusals(t, "default.endsWith", refusals{`{}`: ".suffix: required", `{"suffix":""}`: ".suffix: 1 to 1024"})
}
