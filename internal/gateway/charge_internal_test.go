package gateway

import (
	"testing"

	"sluice/internal/domain/record"
	"sluice/internal/gateway/metering"
	"sluice/internal/http1/syntax"
	"sluice/internal/kernel/fault"
	"sluice/internal/kernel/wire"
	"sluice/internal/provider/transport"
)

// Nobody has a call for nothing by spoiling its body once the provider answers.
func TestEndingOfASpoiledBody(t *testing.T) {
	t.Parallel()
	for _, cause := range []error{wire.ErrTooLarge, syntax.ErrChunk} {
		f := fault.From(unheld(&transport.BodyError{Err: cause}, 1))
		if o := outcomeOf(f); o != record.Failed {
			t.Errorf("%v: on record as %s", cause, o)
		}
		for _, c := range []struct {
			seen bool
			want metering.Outcome
		}{{true, metering.Abandoned}, {false, metering.Unsent}} {
			a := &attempt{charging: charging{money: new(metering.Account)}, incoming: incoming{upstream: 200}, fault: f}
			a.money.SetSent(c.seen)
			if got := new(accountant).outcomeFor(a, record.Failed); got != c.want {
				t.Errorf("%v, seen %v: it ended as %d, want %d", cause, c.seen, got, c.want)
			}
		}
	}
}
