package control_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"sluice/internal/control/apikeys"
	"sluice/internal/control/resource"
	"sluice/internal/domain/keys"
	"sluice/internal/kernel/access"
	"sluice/internal/storage/sqlstore/storetest"
)

// What a schedule made of a service key is read by who may change it, except by somebody
// who could do more with it than without.
func TestRotatedValueIsNoWayUp(t *testing.T) {
	t.Parallel()
	w := newWorld(t, storetest.Open(t, storetest.SQLite(t)))
	for name, scope := range map[string]string{"plain": "configs.list", "climbing": "workspace_users.update", "seeing": "logs.view"} {
		const raw = "sk-of-a-schedule-0123456789"
		id := w.id(name)
		shut, err := w.box.Seal([]byte(raw), keys.Context(id))
		if err != nil {
			t.Fatal(err)
		}
		k := keys.Key{Name: name, Type: access.WorkspaceService, Scopes: []string{scope}, AutoRotated: true, Secret: keys.Secret{Hash: w.hasher.Sum(name), Sealed: shut, Masked: keys.Mask(raw)}}
		w.put(t, resource.Record{Kind: keys.Kind, ID: id, OrgID: w.org, WorkspaceID: w.names.values["main"], Name: name, Index: apikeys.KeyIndex(&k)}, k)
	}
	blind := access.Effective(access.Security{"managersViewAllData": false}, nil, nil)
	for role, shown := range map[access.Role]map[string]bool{
		access.Admin:   {"plain": true, "climbing": true, "seeing": true},
		access.Manager: {"plain": true, "climbing": false, "seeing": false},
	} {
		w.asks = func(*http.Request) (*access.Principal, error) {
			memberships := map[string]access.Membership{w.names.values["main"]: {Role: role, Switches: blind}}
			return &access.Principal{Kind: access.BySession, OrgID: w.org, UserID: w.names.values["colleague"], OrgRole: access.Member, Memberships: memberships}, nil
		}
		for name, want := range shown {
			rec := httptest.NewRecorder()
			w.admin.Handler().ServeHTTP(rec, httptest.NewRequest("GET", "/v1/api-keys/"+w.names.values[name]+"?workspace_id=ws-main", nil))
			if got := strings.Contains(rec.Body.String(), "sk-of-a-schedule"); rec.Code != http.StatusOK || got != want {
				t.Errorf("a workspace %s and the key %s: %d %s", role, name, rec.Code, rec.Body)
			}
		}
	}
}
