package live

import "context"

// catalogPreload is what has to be known of a kind of provider before a provider of it is in force.
// Its fields belong to who has the turn.
type catalogPreload struct {
	learn func(ctx context.Context, kinds []string)
	known map[string]bool // by kind: it was learnt
}

// OnNewProviders has learn called with the kinds of providers that are new, as Snapshot.Kinds names
// them, before the snapshot is in force in which they are for the first time. All changes
// wait until it returns, so that it bounds its time. It is called first by Ahead itself, with
// those that are in force.
func (d *Directory) OnNewProviders(ctx context.Context, learn func(ctx context.Context, kinds []string)) {
	d.turn <- struct{}{}
	defer func() { <-d.turn }()
	d.preload = &catalogPreload{learn, make(map[string]bool)}
	d.publish(ctx, d.Current())
}

// publish puts a snapshot in force.
func (d *Directory) publish(ctx context.Context, s *Snapshot) {
	if d.preload != nil {
		d.preload.run(ctx, s)
	}
	d.now.Store(s)
}

// run learns what is new in a snapshot.
func (a *catalogPreload) run(ctx context.Context, s *Snapshot) {
	var fresh []string
	for _, kind := range s.Kinds() {
		if !a.known[kind] {
			a.known[kind], fresh = true, append(fresh, kind)
		}
	}
	if len(fresh) > 0 {
		a.learn(ctx, fresh)
	}
}
