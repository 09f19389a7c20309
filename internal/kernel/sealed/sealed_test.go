package sealed_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"sluice/internal/kernel/sealed"
)

func TestStringNeverPrints(t *testing.T) {
	t.Parallel()
	s := sealed.New("sk-very-secret")
	var log bytes.Buffer
	slog.New(slog.NewJSONHandler(&log, nil)).Info("x", "key", s, "any", struct{ K sealed.String }{s})
	j, err := json.Marshal(map[string]any{"k": s})
	if err != nil {
		t.Fatal(err)
	}
	all := fmt.Sprintf("%v %+v %#v %s %q", s, struct{ K sealed.String }{s}, s, s, s) + string(j) + log.String()
	if strings.Contains(all, "very") {
		t.Errorf("the secret is printed: %s", all)
	}
	if !s.Equal("sk-very-secret") || s.Equal("sk-very-secreT") || s.Empty() || s.Reveal() != "sk-very-secret" {
		t.Error("the secret is not kept")
	}
}

func TestBox(t *testing.T) {
	t.Parallel()
	old, err := sealed.NewBox([]byte("an old key of 22 bytes"))
	if err != nil {
		t.Fatal(err)
	}
	data, err := old.Seal([]byte("plain"), "row/1")
	if err != nil {
		t.Fatal(err)
	}
	both, err := sealed.NewBox([]byte("a new key of 22 bytes!"), []byte("an old key of 22 bytes"))
	if err != nil {
		t.Fatal(err)
	}
	if p, err := both.Open(data, "row/1"); err != nil || string(p) != "plain" {
		t.Errorf("open under the older key: %q, %v", p, err)
	}
	if !both.UsesOldKey(data) || old.UsesOldKey(data) {
		t.Error("Stale")
	}
	if _, err := both.Open(data, "row/2"); err == nil {
		t.Error("a sealed value was moved to another row")
	}
	data[len(data)-1] ^= 1
	if _, err := both.Open(data, "row/1"); err == nil {
		t.Error("a changed value was opened")
	}
	other, _ := sealed.NewBox([]byte("another key of some bytes"))
	if _, err := other.Open(data, "row/1"); !errors.Is(err, sealed.ErrUnknownKey) {
		t.Errorf("unknown key: %v", err)
	}
	if _, err := sealed.NewBox([]byte("short")); err == nil {
		t.Error("a short key was taken")
	}
}

func TestSign(t *testing.T) {
	t.Parallel()
	old, err := sealed.NewBox([]byte("an old key of 22 bytes"))
	if err != nil {
		t.Fatal(err)
	}
	both, err := sealed.NewBox([]byte("a new key of 22 bytes!"), []byte("an old key of 22 bytes"))
	if err != nil {
		t.Fatal(err)
	}
	mac := old.Sign([]byte("file 1"), "export")
	for name, c := range map[string]struct {
		box              *sealed.Sealer
		message, context string
		mac              []byte
		good             bool
	}{
		"as signed":         {old, "file 1", "export", mac, true},
		"under an older":    {both, "file 1", "export", mac, true},
		"another message":   {old, "file 2", "export", mac, false},
		"another context":   {old, "file 1", "exports", mac, false},
		"moved by a letter": {old, "tfile 1", "expor", mac, false},
		"cut":               {old, "file 1", "export", mac[:31], false},
		"none":              {old, "file 1", "export", nil, false},
		"of a key unknown":  {old, "file 1", "export", both.Sign([]byte("file 1"), "export"), false},
	} {
		if c.box.Signed([]byte(c.message), c.mac, c.context) != c.good {
			t.Errorf("%s: want %v", name, c.good)
		}
	}
}
