package contract

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"

	"sluice/internal/kernel/access"
)

// scopeLists are the scopes of the contract by who may hold them, each one as
// "configs.{create,read}" with a remark behind it.
type scopeLists struct {
	Scopes struct {
		Admin     []string `yaml:"A_only"`
		AdminKeys []string `yaml:"A_and_S"`
		Any       []string `yaml:"A_S_U"`
		Traffic   []string `yaml:"S_U_only"`
		Details   []string `yaml:"agent_detail_scopes"`
		More      []string `yaml:"data_plane_extra"`
	} `yaml:"scopes"`
}

// Every scope of the contract is one that the types of key may hold that it names, and
// no other.
func TestScopesKeepTheContract(t *testing.T) {
	t.Parallel()
	raw, err := os.ReadFile(filepath.Join(folder(t), "identity-and-governance.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	var c scopeLists
	if err := yaml.Unmarshal(raw, &c); err != nil {
		t.Fatal(err)
	}
	const admin, service, user = access.OrganisationService, access.WorkspaceService, access.WorkspaceUser
	seen := 0
	for _, group := range []struct {
		scopes  []string
		holders []access.KeyType
	}{
		{c.Scopes.Admin, []access.KeyType{admin}},
		{c.Scopes.AdminKeys, []access.KeyType{admin, service}},
		{c.Scopes.Any, []access.KeyType{admin, service, user}},
		{c.Scopes.Details, []access.KeyType{admin, service, user}},
		{c.Scopes.Traffic, []access.KeyType{service, user}},
		{c.Scopes.More, []access.KeyType{service, user}},
	} {
		for _, scope := range spelled(group.scopes) {
			seen++
			may := map[access.KeyType]bool{}
			for _, k := range group.holders {
				may[k] = true
			}
			for _, k := range []access.KeyType{admin, service, user} {
				if got, known := access.MayHold(k, scope); !known || got != may[k] {
					t.Errorf("%s: known %v, %s may hold it: %v", scope, known, k, got)
				}
			}
		}
	}
	if seen < 150 {
		t.Errorf("only %d scopes were understood", seen)
	}
}

// spelled writes lists of scopes out. Where the contract does not name the actions
// ("agent_server_skills.*") they are ours.
func spelled(list []string) []string {
	var out []string
	for _, text := range list {
		text, _, _ = strings.Cut(text, " ")
		resource, actions, _ := strings.Cut(text, ".")
		if actions == "*" {
			actions = "read,update"
		}
		for action := range strings.SplitSeq(strings.Trim(actions, "{}"), ",") {
			out = append(out, resource+"."+action)
		}
	}
	return out
}
