package duckdb

import "context"

// Exec runs a statement as questions are run.
func (d *database) Exec(ctx context.Context, statement string) error {
	_, err := d.sql.ExecContext(ctx, statement)
	return err
}

// InUse is how many questions are under way.
func (d *database) InUse() int { return d.sql.Stats().InUse }
