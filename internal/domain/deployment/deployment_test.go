package deployment_test

import (
	"encoding/json"
	"strings"
	"testing"

	"sluice/internal/domain/deployment"
)

func TestApply(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		before string
		change deployment.Change
		want   string // JSON, or a part of the refusal
	}{
		"merged":           {`{"workspaces_allowed":["a"]}`, deployment.Change{Workspaces: []string{"b", "a"}}, `{"workspaces_allowed":["a","b"]}`},
		"replaced":         {`{"workspaces_allowed":["a"],"jwt_subs_allowed":["s"]}`, deployment.Change{Workspaces: []string{"b"}, Replace: true}, `{"workspaces_allowed":["b"],"jwt_subs_allowed":["s"]}`},
		"replaced by none": {`{"jwt_subs_allowed":["s"]}`, deployment.Change{Subjects: []string{}, Replace: true}, `{}`},
		"mapped":           {`{}`, deployment.Change{SubjectWorkspaces: map[string]string{"s": "a"}}, `{"workspaces_allowed":["a"],"jwt_subs_allowed":["s"],"jwt_sub_workspace_mapping":{"s":"a"}}`},
		"removed with its mapping": {`{"workspaces_allowed":["a","b"],"jwt_subs_allowed":["s","u"],"jwt_sub_workspace_mapping":{"s":"a","u":"b"}}`,
			deployment.Change{RemoveWorkspaces: []string{"a"}, RemoveSubjects: []string{"s"}}, `{"workspaces_allowed":["b"],"jwt_subs_allowed":["u"],"jwt_sub_workspace_mapping":{"u":"b"}}`},
		"opened":           {`{"workspaces_allowed":["a"]}`, deployment.Change{All: true}, `{}`},
		"the last one":     {`{"workspaces_allowed":["a"]}`, deployment.Change{RemoveWorkspaces: []string{"a"}}, "an empty list allows all callers"},
		"the last subject": {`{"jwt_subs_allowed":["s"]}`, deployment.Change{RemoveSubjects: []string{"s"}}, "an empty list allows all callers"},
		"too many":         {`{}`, deployment.Change{Subjects: strings.Split(numbered(deployment.MaxListed+1), " ")}, "must not have more than 1000"},
	} {
		var a deployment.Auth
		if err := json.Unmarshal([]byte(c.before), &a); err != nil {
			t.Fatal(err)
		}
		err := a.Apply(c.change)
		got, _ := json.Marshal(a)
		if err != nil {
			got = []byte(err.Error())
		}
		if string(got) != c.want && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
}

func numbered(n int) string {
	var b strings.Builder
	for i := range n {
		if i > 0 {
			b.WriteByte(' ')
		}
		b.WriteString(strings.Repeat("x", i+1))
	}
	return b.String()
}
