package storetest

import (
	"testing"

	"sluice/internal/kernel/fault"
	"sluice/internal/storage/sqlstore"
)

// OldStrings runs on a PostgreSQL database whose sessions begin with settings that read
// texts otherwise.
func OldStrings(t *testing.T, s sqlstore.Settings) {
	for _, setting := range []string{"standard_conforming_strings = off", "backslash_quote = on", "client_encoding = 'LATIN1'"} {
		must(t, alter(t, s, "ALTER DATABASE "+s.Writer.Name+" SET "+setting))
	}
	st := Open(t, s)
	rec := sample("config", "a")
	rec.Name, rec.Body = `grün \n`, []byte(`{"text":"line\nüber"}`)
	put(t, st, rec)
	got, err := st.Find(t.Context(), rec.Kind, rec.ID)
	must(t, err)
	if got.Name != rec.Name || string(got.Body) != string(rec.Body) {
		t.Errorf("kept %q and %q", got.Name, got.Body)
	}
	_, err = st.Find(t.Context(), rec.Kind, `\' OR kind = '`+rec.Kind+`' -- `)
	wantCode(t, "a text with an escaped quote", err, fault.NotFound)
	_, err = st.FindSlug(t.Context(), rec.Kind, rec.OrgID, `\`)
	wantCode(t, "a text that ends in a backslash", err, fault.NotFound)
}
