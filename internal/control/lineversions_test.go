package control_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"sluice/internal/storage/sqlstore/storetest"
)

// A page of versions is no more than memory holds, and smaller pages show all of them.
func TestVersionsOfLargePrompts(t *testing.T) {
	w := newWorld(t, storetest.Open(t, storetest.SQLite(t)))
	large := func(n int) string {
		return fmt.Sprintf(`"string":"%d %s","parameters":{},"model":"m"`, n, strings.Repeat("x", 500_000))
	}
	const all = 20
	var made struct{ ID string }
	_ = json.Unmarshal(w.raw(t, "service", "POST", "/v1/collections", `{"name":"F"}`).Body.Bytes(), &made)
	rec := w.raw(t, "service", "POST", "/v1/prompts", `{"name":"Large","collection_id":"`+made.ID+`","virtual_key":"",`+large(1)+`}`)
	if err := json.Unmarshal(rec.Body.Bytes(), &made); err != nil || rec.Code != 200 {
		t.Fatalf("%d %.300s", rec.Code, rec.Body)
	}
	for n := 2; n <= all; n++ {
		if rec := w.raw(t, "service", "PUT", "/v1/prompts/"+made.ID, `{`+large(n)+`}`); rec.Code != 200 {
			t.Fatalf("%d %.300s", rec.Code, rec.Body)
		}
	}
	read := func(query string) (numbers []int) {
		t.Helper()
		var list struct {
			Total int
			Data  []struct {
				Version int `json:"prompt_version"`
			}
		}
		rec := w.raw(t, "service", "GET", "/v1/prompts/"+made.ID+"/versions"+query, "")
		if err := json.Unmarshal(rec.Body.Bytes(), &list); err != nil || list.Total != all || rec.Body.Len() > 9<<20 {
			t.Fatalf("%d, %d bytes, %d in all, %v", rec.Code, rec.Body.Len(), list.Total, err)
		}
		for _, v := range list.Data {
			numbers = append(numbers, v.Version)
		}
		return numbers
	}
	if n := read("?page_size=1000"); len(n) < 10 || len(n) >= all || n[0] != all {
		t.Errorf("a large page has %v", n)
	}
	var numbers []int
	for page := range 3 {
		numbers = append(numbers, read(fmt.Sprintf("?page_size=8&current_page=%d", page))...)
	}
	for i, n := range numbers {
		if len(numbers) != all || n != all-i {
			t.Fatalf("small pages have %v", numbers)
		}
	}
}
