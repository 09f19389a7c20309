package rerate

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"

	"sluice/internal/domain/credential"
	"sluice/internal/domain/record"
	"sluice/internal/limits/catalog"
)

// biller bills attempts at present prices.
type biller struct {
	prices   Prices
	accounts Accounts
	ready    map[string]bool // providers whose price lists were read
	terms    []catalog.Term  // scratch buffer
}

func newBiller(p Prices, a Accounts) biller {
	return biller{prices: p, accounts: a, ready: make(map[string]bool)}
}

// account returns the saved provider that an attempt was made with, nil for one that came with
// the request. If it was removed, known is false, because its prices are unknown.
func (l *biller) account(b *record.Billed) (a *credential.Account, known bool) {
	if b.ProviderID == "" {
		return nil, true
	}
	a = l.accounts.FindAccount(b.WorkspaceID, b.ProviderID)
	return a, a != nil
}

// bill returns what an attempt costs now.
func (l *biller) bill(ctx context.Context, b *record.Billed, basis *catalog.Basis, account *credential.Account) (record.Rated, error) {
	if !l.ready[b.Provider] {
		if err := l.prices.Ready(ctx, b.Provider); err != nil {
			return record.Rated{}, err
		}
		l.ready[b.Provider] = true
	}
	units := basis.Units(b.Endpoint, &b.Usage)
	units.StartedAt = b.Started
	bill := l.prices.Find(b.Provider, cmp.Or(basis.Model, b.Model), l.accounts.Agreement(account)).Cost(&units, l.terms)
	l.terms = bill.Terms
	after := record.Rated{Cost: bill.Cost, Unpriced: bill.MissingPrice(), Version: bill.Version}
	if len(bill.Terms) > 0 {
		terms, err := json.Marshal(bill.Terms)
		if err != nil {
			return record.Rated{}, fmt.Errorf("re-rate %s: %w", b.ID, err)
		}
		after.Terms = string(terms)
	}
	return after, nil
}
