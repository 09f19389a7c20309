package control_test

import (
	"testing"

	"github.com/tidwall/gjson"

	"sluice/internal/storage/sqlstore/storetest"
)

// A config may name a provider or virtual key that its workspace gets later. The response is the
// same for a name that another workspace has and for one that nothing has, so that saving a
// config does not reveal the keys of other workspaces.
func TestConfigs_NamesOfOtherWorkspacesAreLikeUnknownOnes(t *testing.T) {
	t.Parallel()
	w := newWorld(t, storetest.Open(t, storetest.SQLite(t)))
	made := w.raw(t, "second-service", "POST", "/v1/virtual-keys", `{"name":"V","slug":"vk-of-second","provider":"openai","key":"s3cr3t-0123456789"}`)
	if made.Code != 200 {
		t.Fatalf("make a virtual key: %d %s", made.Code, made.Body)
	}
	for _, field := range []string{"virtual_key", "provider"} {
		for _, name := range []string{"vk-of-second", "vk-of-none"} {
			at := name
			if field == "provider" {
				at = "@" + name
			}
			rec := w.raw(t, "service", "POST", "/v1/configs", `{"name":"C","config":{"`+field+`":"`+at+`"}}`)
			if rec.Code != 200 || !gjson.Get(rec.Body.String(), "data.slug").Exists() {
				t.Errorf("%s %s: %d %s", field, at, rec.Code, rec.Body)
			}
		}
	}
}
