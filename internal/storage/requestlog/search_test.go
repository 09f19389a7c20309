package requestlog_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"sluice/internal/domain/record"
	"sluice/internal/domain/record/recordtest"
	"sluice/internal/kernel/fault"
	"sluice/internal/storage/requestlog"
)

// A search finds every row whose bodies hold the text, once and in the order of the list,
// however little of it is done at once; each part gets further.
func TestSearchGoesOn(t *testing.T) {
	t.Parallel()
	synctest.Test(t, searchGoesOn) // no time passes: a search ends for its bytes alone
}

func searchGoesOn(t *testing.T) {
	const chats = 60
	for _, maxBytes := range []int64{1, 5 << 10, 1 << 30} {
		n := start(t, requestlog.Options{SearchBytes: maxBytes})
		n.append(t, 0, chats)
		stop := n.run(t)
		if err := stop(); err != nil { // takes over what there is
			t.Fatal(err)
		}
		for _, newest := range []bool{false, true} {
			for text, match := range map[string]func(string) bool{
				"QUESTION 7":      func(b string) bool { return strings.Contains(b, "Question 7") },
				"stands at 31 cm": func(b string) bool { return strings.Contains(b, "stands at 31 cm") },
				"tide":            func(string) bool { return true },
				"not there":       func(string) bool { return false },
			} {
				var want, got []string
				for i := range chats {
					if c := recordtest.Chat(i); match(string(c.Request.Bytes) + string(c.Response.Bytes)) {
						want = append(want, c.ID)
					}
				}
				if newest {
					slices.Reverse(want)
				}
				q := record.Query{OrgID: recordtest.Org, Newest: newest, Limit: 7}
				for calls := 0; ; calls++ {
					found, err := n.store.Search(t.Context(), q, text)
					if err != nil || calls > chats || len(found.Rows) > q.Limit || found.Unread > 0 {
						t.Fatalf("%q: %d rows in call %d, %+v, %v", text, len(found.Rows), calls, found, err)
					}
					if full := len(found.Rows) == q.Limit; found.Incomplete != (found.Next != "" && !full) || maxBytes == 1<<30 && found.Incomplete {
						t.Fatalf("%q: incomplete %v with %d rows and next %q", text, found.Incomplete, len(found.Rows), found.Next)
					}
					for _, r := range found.Rows {
						if len(r.Request.Bytes) > 0 {
							t.Fatal("a row of a list has bodies")
						}
						got = append(got, r.ID)
					}
					if q.After = found.Next; q.After == "" {
						break
					}
				}
				if !slices.Equal(got, want) {
					t.Errorf("%q with %d bytes a call: got %v, want %v", text, maxBytes, got, want)
				}
			}
		}
		if _, err := n.store.Search(t.Context(), record.Query{OrgID: recordtest.Org}, ""); !fault.Has(err, fault.InvalidParameter) {
			t.Errorf("nothing to search for: %v", err)
		}
	}
}

// Bodies that were damaged on the disk are counted as unread, and do not keep a search from
// the others.
func TestSearchPassesByDamage(t *testing.T) {
	t.Parallel()
	synctest.Test(t, searchPassesByDamage)
}

func searchPassesByDamage(t *testing.T) {
	n := start(t, requestlog.Options{})
	for i := range 3 { // a file each
		n.append(t, i, i+1)
		if err := n.run(t)(); err != nil {
			t.Fatal(err)
		}
	}
	files, err := filepath.Glob(filepath.Join(n.dir, "bodies", "*.bodies"))
	if err != nil || len(files) != 3 {
		t.Fatalf("%v, %v", files, err)
	}
	b, err := os.ReadFile(files[1])
	if err != nil {
		t.Fatal(err)
	}
	b[len(b)-1] ^= 1
	if err := os.WriteFile(files[1], b, 0o600); err != nil {
		t.Fatal(err)
	}
	found, err := n.store.Search(t.Context(), record.Query{OrgID: recordtest.Org}, "tide")
	if err != nil || len(found.Rows) != 2 || found.Unread != 1 {
		t.Errorf("%d rows, %d unread, %v", len(found.Rows), found.Unread, err)
	}
	for i, there := range []bool{true, false, true} {
		chat := recordtest.Chat(i)
		a, err := n.store.Find(t.Context(), recordtest.Org, recordtest.Workspace, chat.ID)
		if err != nil || a.Request.Size != chat.Request.Size || (len(a.Request.Bytes) > 0) != there {
			t.Errorf("chat %d: %d of %d bytes, %v", i, len(a.Request.Bytes), a.Request.Size, err)
		}
	}
}
