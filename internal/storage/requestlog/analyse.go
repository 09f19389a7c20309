package requestlog

import (
	"cmp"
	"context"

	"sluice/internal/domain/record"
)

// Analyse implements RowStore.Analyse for a back end whose query returns the total number of rows
// in each row. ask runs the query. Analyse rejects what Store.Analyse rejects.
func Analyse(ctx context.Context, a record.Analysis, ask func(context.Context, *record.Analysis) (record.AnalysisPage, error)) (record.AnalysisPage, error) {
	if err := a.Validate(); err != nil {
		return record.AnalysisPage{}, err
	}
	page, err := ask(ctx, &a)
	if err == nil && len(page.Rows) == 0 && a.Offset > 0 { // the total is part of the rows, and there are none
		first := a
		first.Offset, first.Limit = 0, 1
		var total record.AnalysisPage
		total, err = ask(ctx, &first)
		page.Total = total.Total
	}
	if err != nil {
		return record.AnalysisPage{}, err
	}
	if _, cut := a.PageSize(); !cut && page.Total > record.MaxGroups {
		return record.AnalysisPage{}, record.TooMany()
	}
	return page, nil
}

// AnalysisOrder returns the SQL order of the rows of an analysis with the columns bucket and
// label: "cost DESC, label". columns maps each column to its SQL expression.
func AnalysisOrder(a *record.Analysis, columns map[record.Column]string) string {
	switch {
	case a.Step > 0:
		return "bucket, label"
	case a.By == record.ByScore:
		return "label"
	}
	direction := " DESC"
	if a.Ascending {
		direction = ""
	}
	return columns[cmp.Or(a.Order, record.ColumnRequests)] + direction + ", label"
}

// ListOrder returns the SQL order of the rows of a list: "started DESC, id DESC".
func ListOrder(q *record.Query) string {
	switch {
	case q.ByArrival:
		return "arrived, id"
	case q.Newest:
		return "started DESC, id DESC"
	}
	return "started, id"
}
