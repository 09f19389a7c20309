package classify_test

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"sluice/internal/domain/guardrail"
	"sluice/internal/gateway/guardrails/check"
	"sluice/internal/gateway/guardrails/classify"
)

// open reads parameters as a guardrail does, and compiles them.
func open(t testing.TB, id, parameters string) (check.Runner, error) {
	t.Helper()
	list := classify.List()
	rows := make([]guardrail.Definition, len(list))
	for i := range list {
		rows[i] = list[i].Definition
	}
	if _, err := guardrail.NewTable(rows).Read([]byte(`[{"id":"` + id + `","parameters":` + parameters + `}]`)); err != nil {
		return nil, err
	}
	p, err := check.ReadParams([]byte(parameters))
	if err != nil {
		t.Fatal(err)
	}
	i := slices.IndexFunc(list, func(c check.Check) bool { return c.ID == id })
	return list[i].New(p, &check.Deps{})
}

// run judges one text.
func run(t testing.TB, id, parameters, text string) check.Result {
	t.Helper()
	r, err := open(t, id, parameters)
	if err != nil {
		t.Fatalf("%s %s: %v", id, parameters, err)
	}
	return r.Run(context.Background(), &check.Input{Phase: guardrail.Input, Texts: []string{text}})
}

// shown returns the data of a result as JSON.
func shown(t testing.TB, r *check.Result) string {
	t.Helper()
	raw, err := json.Marshal(r.Data)
	if err != nil {
		t.Fatalf("data do not encode: %v", err)
	}
	return string(raw)
}

func TestLanguageIsComparedWithTheList(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		parameters, text string
		want             bool
		explanation      string
	}{
		{`{"language":["eng_Latn"]}`, "Please send me the report before the meeting tomorrow.", true, "in the list"},
		{`{"language":"eng_Latn"}`, "Bitte schicken Sie mir den Bericht vor der Besprechung.", false, "deu_Latn, which is not"},
		{`{"language":["eng_Latn"],"not":true}`, "Bitte schicken Sie mir den Bericht vor der Besprechung.", true, "not in the list"},
		{`{"language":["eng_Latn"],"not":true}`, "Please send me the report before the meeting tomorrow.", false, "in the list"},
		{`{"language":["fas_Arab"]}`, "لطفاً گزارش را پیش از جلسه فردا برای من بفرستید", true, "pes_Arab"},
		{`{"language":["arb_Arab"]}`, "من فضلك أرسل لي التقرير قبل اجتماع الغد", true, "ara_Arab"},
		{`{"language":["kan_Knda"]}`, "ದಯವಿಟ್ಟು ನನಗೆ ವರದಿಯನ್ನು ಕಳುಹಿಸಿ", true, "kan_Knda"},
		{`{"language":["jpn_Jpan"]}`, "明日の会議の前に報告書を送ってください。", true, "jpn_Jpan"},
		{`{"language":["zho_Hans"]}`, "请在明天的会议之前把报告发给我，谢谢你们。", true, "zho_Hans"},
		{`{"language":["zho_Hant"]}`, "請在明天的會議之前把報告發給我，謝謝你們。", true, "zho_Hant"},
		{`{"language":["arb_Latn"]}`, "ya habibi ana mish fahim leh enta zaalan", true, "arb_Latn"},
		{`{"language":["eng_Latn"]}`, "ok", true, "too short"},
		{`{"language":["eng_Latn"],"not":true}`, "ok", true, "too short"},
		{`{"language":["eng_Latn"]}`, "12 + 30 = 42 !!!", true, "no letters"},
		{`{"language":["eng_Latn"]}`, "ᚠᚢᚦᚨᚱᚲ ᚷᚹᚺᚾᛁᛃ ᛇᛈᛉᛊᛏᛒᛖᛗ ᛚᛜᛞᛟ", false, "cannot name"},
		{`{"language":["ukr_Cyrl"]}`, "Будь ласка, надішліть мені звіт до завтрашньої зустрічі.", true, "ukr_Cyrl"},
		{`{"language":["nob_Latn"]}`, "Kan du være så snill å sende meg rapporten før møtet i morgen?", true, ""},
	} {
		got := run(t, "gateway.language", c.parameters, c.text)
		if got.Verdict != c.want || got.Error != nil || !strings.Contains(shown(t, &got), c.explanation) {
			t.Errorf("%s %q: %v %v %s, want %v %q", c.parameters, c.text, got.Verdict, got.Error, shown(t, &got), c.want, c.explanation)
		}
	}
}

func TestLanguageThatCannotBeDetectedIsRefused(t *testing.T) {
	t.Parallel()
	for _, parameters := range []string{`{}`, `{"language":["xho_Latn"]}`, `{"language":["en"]}`, `{"language":[]}`, `{"language":7}`} {
		if _, err := open(t, "gateway.language", parameters); err == nil {
			t.Errorf("%s is accepted", parameters)
		}
	}
}

func TestLanguageOfALongTextIsJudgedBySamples(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		strings.Repeat("a", 10<<20), strings.Repeat("é", 5<<20), strings.Repeat("\xff", 1<<20), strings.Repeat("字", 1<<20),
	} {
		got := run(t, "gateway.language", `{"language":["eng_Latn"]}`, text)
		if got.Error != nil {
			t.Errorf("%.9q: %v", text, got.Error)
		}
	}
	text := strings.Repeat("The committee read the report and asked for more time. ", 4000)
	if got := run(t, "gateway.language", `{"language":["eng_Latn"]}`, text); !got.Verdict {
		t.Errorf("a long English text is %s", shown(t, &got))
	}
}
