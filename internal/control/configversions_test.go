package control_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"sluice/internal/control/resource"
	"sluice/internal/domain/routing"
	"sluice/internal/kernel/ident"
	"sluice/internal/storage/sqlstore/storetest"
)

// texts are the versions of a config as its list shows them.
type texts struct {
	Total int `json:"total"`
	Data  []struct {
		VersionID string `json:"version_id"`
		Config    string `json:"config"`
	} `json:"data"`
}

func (w *world) texts(t *testing.T, slug string) (list texts) {
	t.Helper()
	rec := w.raw(t, "service", "GET", "/v1/configs/"+slug+"/versions", "")
	if err := json.Unmarshal(rec.Body.Bytes(), &list); err != nil || rec.Code != 200 {
		t.Fatalf("%d %.200s", rec.Code, rec.Body)
	}
	return list
}

// change gives a config another text and returns the id of that version.
func (w *world) change(t *testing.T, slug, text string) string {
	t.Helper()
	rec := w.raw(t, "service", "PUT", "/v1/configs/"+slug, `{"config":`+text+`}`)
	var done struct {
		VersionID string `json:"version_id"`
	}
	if err := json.Unmarshal(rec.Body.Bytes(), &done); err != nil || rec.Code != 200 {
		t.Fatalf("%d %.200s", rec.Code, rec.Body)
	}
	return done.VersionID
}

// However many large texts a config had, reading it reads one, its versions are no more
// than memory holds, and those that are shown keep their numbers.
func TestConfigOfManyLargeTexts(t *testing.T) {
	w := newWorld(t, storetest.Open(t, storetest.SQLite(t)))
	large := func(n int) string {
		return fmt.Sprintf(`{"provider":"openai","override_params":{"n":%d,"p":"%s"}}`, n, strings.Repeat("x", 250_000))
	}
	const all = 45
	if rec := w.raw(t, "service", "POST", "/v1/configs", `{"name":"Large","config":`+large(1)+`}`); rec.Code != 200 {
		t.Fatal(rec.Body)
	}
	var page struct {
		Data []struct {
			Slug, Name string
		}
	}
	_ = json.Unmarshal(w.raw(t, "service", "GET", "/v1/configs", "").Body.Bytes(), &page)
	slug := ""
	for _, c := range page.Data {
		if c.Name == "Large" {
			slug = c.Slug
		}
	}
	last := ""
	for n := 2; n <= all; n++ {
		last = w.change(t, slug, large(n))
	}
	list := w.texts(t, slug)
	if list.Total != all || len(list.Data) >= all || len(list.Data) < 10 || list.Data[0].VersionID != last {
		t.Fatalf("%d of %d versions, the newest %s, want %s", len(list.Data), list.Total, list.Data[0].VersionID, last)
	}
	for i, v := range list.Data {
		number := all - i
		if !strings.Contains(v.Config, fmt.Sprintf(`"n":%d,`, number)) {
			t.Errorf("version %d is %.60s", number, v.Config)
		}
		for _, name := range []string{fmt.Sprint(number), v.VersionID} {
			if got := w.raw(t, "service", "GET", "/v1/configs/"+slug+"?version="+name, "").Body.String(); !strings.Contains(got, fmt.Sprintf(`\"n\":%d,`, number)) || !strings.Contains(got, v.VersionID) {
				t.Errorf("version %s of the config is %.200s", name, got)
			}
		}
	}
}

// A config that was written before versions had numbers keeps those that it had.
func TestConfigsWithoutNumbers(t *testing.T) {
	w := newWorld(t, storetest.Open(t, storetest.SQLite(t)))
	var s routing.Saved
	id := ident.NewID()
	s.Name = "Old"
	if err := s.Seal(w.box, id, []byte(`{"provider":"openai","override_params":{"n":1}}`)); err != nil {
		t.Fatal(err)
	}
	w.put(t, resource.Record{Kind: routing.SavedKind, ID: id, OrgID: w.org, WorkspaceID: w.names.values["main"], Slug: "old", Name: "Old"}, s)
	first := w.texts(t, "old").Data[0].VersionID
	if rec := w.raw(t, "service", "PUT", "/v1/configs/old", `{"name":"Older"}`); rec.Code != 200 || !strings.Contains(rec.Body.String(), first) {
		t.Fatalf("another name: %s", rec.Body)
	}
	second := w.change(t, "old", `{"provider":"openai","override_params":{"n":2}}`)
	list := w.texts(t, "old")
	if list.Total != 2 || len(list.Data) != 2 || list.Data[0].VersionID != second || list.Data[1].VersionID != first {
		t.Errorf("%+v, want %s before %s", list, second, first)
	}
	for n := 1; n <= 2; n++ {
		if got := w.raw(t, "service", "GET", fmt.Sprint("/v1/configs/old?version=", n), "").Body.String(); !strings.Contains(got, fmt.Sprintf(`\"n\":%d`, n)) {
			t.Errorf("version %d: %s", n, got)
		}
	}
}
