package bootstrap_test

import (
	"strings"
	"testing"

	"sluice/internal/kernel/ident"
	"sluice/internal/kernel/sealed"
	"sluice/internal/ops/bootstrap"
	"sluice/internal/storage/sqlstore/storetest"
)

// All nodes of a deployment hash keys alike, whichever made the pepper.
func TestPepper(t *testing.T) {
	t.Parallel()
	s := storetest.Open(t, storetest.SQLite(t))
	if err := s.Migrate(t.Context()); err != nil {
		t.Fatal(err)
	}
	box, err := sealed.NewBox([]byte("the key of this deployment"))
	if err != nil {
		t.Fatal(err)
	}
	a, err := bootstrap.KeyPepper().Read(t.Context(), s, box, ident.System{})
	if err != nil || len(a) < 48 {
		t.Fatalf("%d bytes, %v", len(a), err)
	}
	b, err := bootstrap.KeyPepper().Read(t.Context(), s, box, ident.System{})
	if err != nil || string(a) != string(b) {
		t.Errorf("another pepper the second time: %v", err)
	}
	other, err := sealed.NewBox([]byte("the key of another deployment"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := bootstrap.KeyPepper().Read(t.Context(), s, other, ident.System{}); err == nil || !strings.Contains(err.Error(), "ENCRYPTION_KEY=new,old") {
		t.Errorf("under the wrong key: %v", err)
	}
}
