package live

import (
	"sluice/internal/control/resource"
	"sluice/internal/domain/respcache"
)

func decodePurge(_ *Directory, r resource.Record) (any, error) {
	return respcache.DecodePurge(r.ID, r.OrgID, r.WorkspaceID, r.Body)
}

// Purges are the recorded purges of the response cache. They are immutable: a change makes new ones.
type Purges struct{ list []*respcache.Purge }

// All returns the purges in no particular order. The list is shared and must not be changed.
func (p *Purges) All() []*respcache.Purge { return p.list }

// addPurges adds the recorded purges.
func (p parts) addPurges(s *Snapshot, _ changedParts) {
	s.purges = &Purges{list: make([]*respcache.Purge, 0, len(p[respcache.PurgeKind]))}
	for _, v := range p[respcache.PurgeKind] {
		s.purges.list = append(s.purges.list, v.(*respcache.Purge))
	}
}

// Purges returns the recorded purges of the response cache. The pointer is the same until they change; it
// is nil before the first load.
func (s *Snapshot) Purges() *Purges { return s.purges }
