package gateway

import (
	"bytes"
	"slices"
	"strings"

	"sluice/internal/domain/routing"
	"sluice/internal/kernel/jsonedit"
	"sluice/internal/kernel/multipartedit"
)

// formText is a field of a form that hooks judge.
type formText struct {
	name string
	raw  []byte // its value as JSON: a string, or an array of the strings of a repeated field
}

// plainFields are fields whose text is for a model. A form that has one of them as a file cannot be read.
var plainFields = map[string]bool{"prompt": true, "negative_prompt": true, "text": true, "instructions": true}

// unjudgedFields are fields that hooks do not get, because they cannot change them.
var unjudgedFields = map[string]bool{"model": true, "stream": true}

// formTexts returns the fields of a form as its provider gets them, with the parameters of the target. The
// prompt is among them, also if it is empty. It returns nil if hooks cannot read what the provider would:
// several prompts, a text as a file or a long one.
func formTexts(a *attempt) []formText {
	list, index := []formText{{"prompt", []byte(`""`)}}, map[string]int{"prompt": 0}
	set := func(name string, raw []byte) {
		if i, known := index[name]; known {
			list[i].raw = raw
		} else if !unjudgedFields[name] {
			index[name] = len(list)
			list = append(list, formText{name, raw})
		}
	}
	sent, names := map[string][]string{}, []string(nil)
	for i := range a.x.form.Parts {
		p := &a.x.form.Parts[i]
		switch {
		case p.HasFileName && !plainFields[p.Name]:
			continue
		case p.HasFileName, p.Value == nil, p.Name == "prompt" && sent[p.Name] != nil:
			return nil
		}
		if sent[p.Name] == nil {
			names = append(names, p.Name)
		}
		sent[p.Name] = append(sent[p.Name], string(p.Value))
	}
	for _, name := range names {
		set(name, quotedValues(sent[name]))
	}
	for _, p := range a.target.Default {
		if name := paramField(p, sent); sent[name] == nil {
			set(name, p.Raw)
		}
	}
	for _, p := range a.target.Override {
		set(paramField(p, sent), p.Raw)
	}
	return slices.DeleteFunc(list, func(t formText) bool { return t.name != "prompt" && slices.Contains(a.target.Drop, t.name) })
}

// paramField returns the name of the field that a parameter of the target sets: with brackets for a list, unless
// the form has one without.
func paramField(p routing.Param, sent map[string][]string) string {
	if len(p.Raw) > 0 && p.Raw[0] == '[' && sent[p.Key] == nil && !strings.HasSuffix(p.Key, "[]") {
		return p.Key + "[]"
	}
	return p.Key
}

// quotedValues returns the values of a field as JSON.
func quotedValues(values []string) []byte {
	if len(values) == 1 {
		return jsonedit.Quote(values[0])
	}
	quoted := make([][]byte, len(values))
	for i, v := range values {
		quoted[i] = jsonedit.Quote(v)
	}
	return slices.Concat([]byte("["), bytes.Join(quoted, []byte(",")), []byte("]"))
}

// formBody returns fields as a JSON object; nil for none.
func formBody(list []formText) []byte {
	if list == nil {
		return nil
	}
	members := make([][]byte, len(list))
	for i, t := range list {
		members[i] = slices.Concat(jsonedit.Quote(t.name), []byte(":"), t.raw)
	}
	return slices.Concat([]byte("{"), bytes.Join(members, []byte(",")), []byte("}"))
}

// replaceFormTexts notes the fields that hooks changed.
func (a *attempt) replaceFormTexts(body []byte) {
	a.formTexts = map[string][]string{}
	for _, t := range formTexts(a) {
		now, _ := jsonedit.Find(body, t.name)
		if bytes.Equal(now, t.raw) {
			continue
		}
		var values []string
		if len(now) > 0 && now[0] == '[' {
			for e := range jsonedit.Elements(now) {
				text, _ := jsonedit.Unquote(e)
				values = append(values, text)
			}
		} else if len(now) > 0 {
			values = []string{jsonedit.Text(body, t.name)}
		}
		a.formTexts[t.name] = values
	}
}

// formEdits returns the edits of a form after hooks ran: the fields that they changed are the last word.
func (a *attempt) formEdits(edits []multipartedit.Edit) []multipartedit.Edit {
	for name, values := range a.formTexts {
		edits = append(edits, multipartedit.Set(name, values...))
	}
	return edits
}
