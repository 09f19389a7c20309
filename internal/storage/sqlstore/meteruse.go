package sqlstore

import (
	"context"
	"database/sql"
	"iter"
	"slices"

	"github.com/uptrace/bun"

	"sluice/internal/limits/quota"
)

// usageUpdate is the usage of one meter, with the state of the meter in the transaction.
type usageUpdate struct {
	quota.Delta               // names the meter; Units is the part of its deltas that counts
	deltas      []quota.Delta // its deltas of the list, in order

	there      bool // the meter has a row
	known      bool // the following fields match the row, which is locked
	org        string
	used       int64
	last, next int64 // resets in ms, 0 for never; next is the one of the policy's head
}

// usesOf returns one update for each meter in an ordered list, in its order.
func usesOf(list []quota.Delta) []usageUpdate {
	uses := make([]usageUpdate, 0, len(list))
	for i := range list {
		if n := len(uses); n > 0 && nameOf(&uses[n-1].Delta) == nameOf(&list[i]) {
			last := &uses[n-1]
			last.deltas = last.deltas[:len(last.deltas)+1] // the next delta of the list
			continue
		}
		uses = append(uses, usageUpdate{Delta: list[i], deltas: list[i : i+1]})
	}
	return uses
}

// meterName is the primary key of a meter.
type meterName struct{ subjectID, entry string }

func nameOf(d *quota.Delta) meterName { return meterName{d.SubjectID, d.BudgetKey} }

// meter returns the meter with the known fields.
func (u *usageUpdate) meter() quota.Meter {
	m := quota.Meter{
		Subject: quota.Subject{ID: u.SubjectID, OrgID: u.org}, BudgetKey: u.BudgetKey, ValueKey: u.ValueKey,
		Used: u.used, LastReset: timeOrNever(u.last),
	}
	if u.ValueKey == "" {
		m.NextReset = timeOrNever(u.next)
	}
	return m
}

// due reports whether the meter must be reset before usage at a time in ms.
func (u *usageUpdate) due(at int64) bool { return u.next > 0 && at >= u.next && u.last < u.next }

// meterBatch is the number of subjects, or of counters of one subject, in one query.
const meterBatch = 500

// readUses reads the meters of ordered uses, and locks them if lock is a lock clause: first those
// of budgets, then those of policies, each in the order of their names, so that transactions
// cannot deadlock.
func (s *meterTable) readUses(ctx context.Context, db bun.IDB, uses []usageUpdate, lock string) error {
	at := make(map[meterName]*usageUpdate, len(uses))
	var budgets, heads []string // subjects
	var counters []*usageUpdate
	for i := range uses {
		u := &uses[i]
		at[nameOf(&u.Delta)] = u
		switch {
		case u.BudgetKey == "":
			heads = append(heads, u.SubjectID)
		case u.ValueKey == "":
			budgets = append(budgets, u.SubjectID)
		default:
			counters = append(counters, u)
		}
	}
	var name meterName
	var org string
	var used, last, next int64
	into := []any{&name.subjectID, &name.entry, &org, &used, &last, &next}
	read := func(where statement) error {
		q := statement{text: "SELECT m.carrier_id, m.entry, m.org_id, m.used, m.last_reset_ms, m.next_reset_ms FROM usage_meters AS m WHERE "}
		q.add(where.text+" ORDER BY m.carrier_id, m.entry", where.args...)
		if lock != "" {
			q.text += " FOR " + lock
		}
		return reads{db: db, engine: s.engine}.ask(ctx, q, func(rows *sql.Rows) error {
			if err := rows.Scan(into...); err != nil {
				return err
			}
			if u := at[name]; u != nil {
				u.there, u.known, u.org, u.used, u.last, u.next = true, true, org, used, last, next
			}
			return nil
		})
	}
	for some := range slices.Chunk(slices.Compact(budgets), meterBatch) { // a subject has few meters: no need to name them
		var where statement
		where.oneOf("m.carrier_id", some)
		if err := read(where); err != nil {
			return err
		}
	}
	for some := range slices.Chunk(heads, meterBatch) {
		var where statement
		where.oneOf("m.carrier_id", some)
		where.add(" AND m.entry = ''")
		if err := read(where); err != nil {
			return err
		}
	}
	for some := range countersOfOne(counters) {
		where := statement{"m.carrier_id = ? AND ", []any{some[0].SubjectID}}
		where.oneOf("m.entry", namesOfCounters(some))
		if err := read(where); err != nil {
			return err
		}
	}
	return nil
}

// countersOfOne iterates over the counters of one policy after the other, in batches.
func countersOfOne(ordered []*usageUpdate) iter.Seq[[]*usageUpdate] {
	return func(yield func([]*usageUpdate) bool) {
		for len(ordered) > 0 {
			n := 1
			for n < min(len(ordered), meterBatch) && ordered[n].SubjectID == ordered[0].SubjectID {
				n++
			}
			if !yield(ordered[:n]) {
				return
			}
			ordered = ordered[n:]
		}
	}
}

func namesOfCounters(list []*usageUpdate) []string {
	out := make([]string, len(list))
	for i := range list {
		out[i] = list[i].BudgetKey
	}
	return out
}

// readResets reads and locks the meters of ordered uses, and reads the next resets of their
// policies. A missing counter of a policy was never reset.
func (s *meterTable) readResets(ctx context.Context, db bun.IDB, uses []usageUpdate) error {
	if err := s.readUses(ctx, db, uses, s.engine.lock); err != nil {
		return err
	}
	var heads []usageUpdate
	for i := range uses {
		if u := &uses[i]; u.ValueKey != "" && (len(heads) == 0 || heads[len(heads)-1].SubjectID != u.SubjectID) {
			heads = append(heads, usageUpdate{Delta: quota.Delta{SubjectID: u.SubjectID}})
		}
	}
	if len(heads) == 0 {
		return nil
	}
	if err := s.readUses(ctx, db, heads, ""); err != nil { // the reset of a policy only moves forward
		return err
	}
	next := make(map[string]int64, len(heads))
	for i := range heads {
		next[heads[i].SubjectID] = heads[i].next
	}
	for i := range uses {
		if u := &uses[i]; u.ValueKey != "" {
			u.next = next[u.SubjectID]
		}
	}
	return nil
}
