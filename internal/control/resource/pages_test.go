package resource_test

import (
	"context"
	"encoding/json"
	"fmt"
	"testing"

	"sluice/internal/control/resource"
)

// measured is a store that knows how many rows were read at once.
type measured struct {
	resource.Store
	maxRows *int
}

func (m measured) List(ctx context.Context, q resource.Query) ([]resource.Record, error) {
	rows, err := m.Store.List(ctx, q)
	*m.maxRows = max(*m.maxRows, len(rows))
	return rows, err
}

// However many rows a page has, few of them are held at a time, and it shows each once.
func TestLongPages(t *testing.T) {
	t.Parallel()
	const all = 137
	maxRows := 0
	r := newRig(t, func(s resource.Store) resource.Store { return measured{s, &maxRows} }, widgets(nil))
	for n := range all {
		r.expect(t, 200, "id", "POST", "/shelves", fmt.Sprintf(`{"name":"n%d"}`, n))
	}
	for _, c := range []struct{ size, page, rows int }{
		{1000, 0, 137}, {137, 0, 137}, {100, 0, 100}, {100, 1, 37}, {50, 1, 50}, {50, 2, 37}, {120, 1, 17}, {137, 1, 0}, {150, 1, 0},
	} {
		rec := r.call(t, "GET", fmt.Sprintf("/shelves?page_size=%d&current_page=%d", c.size, c.page), "")
		var list struct {
			Total int
			Data  []widget
		}
		if err := json.Unmarshal(rec.Body.Bytes(), &list); err != nil || list.Total != all || len(list.Data) != c.rows {
			t.Errorf("%+v: %d of %d rows, %v", c, len(list.Data), list.Total, err)
		}
		for i, row := range list.Data {
			if want := fmt.Sprintf("n%d", all-1-c.page*c.size-i); row.Name != want {
				t.Errorf("%+v: row %d is %s, want %s", c, i, row.Name, want)
			}
		}
	}
	if maxRows > 50 {
		t.Errorf("%d rows were read at once", maxRows)
	}
}
