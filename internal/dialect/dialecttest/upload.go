package dialecttest

import (
	"io"
	"testing"

	"sluice/internal/dialect"
	"sluice/internal/kernel/multipartedit"
	"sluice/internal/kernel/wire"
)

// Upload has the request read as the gateway reads forms, and gives it room for what is
// made of it. A payload that is not a form stays unread.
func Upload(t testing.TB, r *dialect.Request) *dialect.Request {
	t.Helper()
	spool := wire.NewSpool(t.TempDir())
	t.Cleanup(func() { _ = spool.Close() })
	if f, err := multipartedit.Read(r.Payload.Open(), r.ContentType, spool, multipartedit.Limits{}); err == nil {
		r.Form, r.Payload = f, f.Payload()
	}
	r.NewSpool = func() *wire.Spool {
		s := wire.NewSpool(t.TempDir())
		t.Cleanup(func() { _ = s.Close() })
		return s
	}
	return r
}

// LoadBody puts a large body of a request where small ones are.
func LoadBody(t testing.TB, out *dialect.Outgoing) *dialect.Outgoing {
	t.Helper()
	if out == nil || out.Large.Len() == 0 {
		return out
	}
	b, err := io.ReadAll(out.Large.Open())
	if err != nil {
		t.Fatal(err)
	}
	out.Body, out.Large = b, wire.Payload{}
	return out
}
