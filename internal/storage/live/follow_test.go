package live_test

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"strconv"
	"sync"
	"testing"

	"sluice/internal/control/resource"
	"sluice/internal/domain/keys"
	"sluice/internal/domain/tenant"
	"sluice/internal/kernel/access"
	"sluice/internal/kernel/ident"
	"sluice/internal/storage/live"
)

// A kind that is followed is put together again when it changes.
func TestEveryKindHasASection(t *testing.T) {
	t.Parallel()
	if left := live.Unassembled(); len(left) > 0 {
		t.Errorf("no section names %v", left)
	}
}

// small is a control plane in which a few records of each kind that keys depend on come,
// change and go at random.
type small struct {
	*plane
	rnd    *rand.Rand
	ids    map[string][]string // by kind
	hasher *keys.Hasher
}

var keyKinds = []string{keys.Kind, keys.Kind, keys.Kind, tenant.OrganisationKind, tenant.WorkspaceKind, tenant.UserKind, tenant.MemberKind}

func (s *small) any(kind string) string { return s.ids[kind][s.rnd.IntN(len(s.ids[kind]))] }

// turn does one thing.
func (s *small) turn() {
	kind := keyKinds[s.rnd.IntN(len(keyKinds))]
	r := resource.Record{Kind: kind, ID: s.any(kind), OrgID: org, Name: "n", Status: "active"}
	switch kind {
	case keys.Kind, tenant.MemberKind:
		r.WorkspaceID = s.any(tenant.WorkspaceKind)
	case tenant.OrganisationKind:
		r.OrgID = ""
	}
	if s.rnd.IntN(4) == 0 {
		r.Status = resource.Archived
	}
	s.write(r, s.body(kind))
}

// body is some body of a kind.
func (s *small) body(kind string) any {
	roles := []access.Role{access.Member, access.Admin}
	switch kind {
	case keys.Kind:
		k := keys.Key{Type: access.WorkspaceService, Scopes: []string{"completions.write"}, Secret: s.secret()}
		if s.rnd.IntN(2) == 0 {
			k.Type, k.UserID = access.WorkspaceUser, s.any(tenant.UserKind)
		}
		if s.rnd.IntN(3) == 0 {
			before := s.secret()
			k.Previous = &before
		}
		return k
	case tenant.UserKind:
		return tenant.User{Email: strconv.Itoa(s.rnd.IntN(100)), Role: roles[s.rnd.IntN(2)]}
	case tenant.MemberKind:
		return tenant.Member{UserID: s.any(tenant.UserKind), Role: roles[s.rnd.IntN(2)]}
	case tenant.WorkspaceKind:
		return tenant.Workspace{Name: strconv.Itoa(s.rnd.IntN(100))}
	}
	return tenant.Organisation{Name: strconv.Itoa(s.rnd.IntN(100))}
}

func (s *small) secret() keys.Secret {
	return keys.Secret{Hash: s.hasher.Sum(ident.NewID())}
}

// The copy that follows change by change is the one that is made of everything at once.
func TestFollowingEqualsLoading(t *testing.T) {
	t.Parallel()
	for seed := range uint64(4) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			s := &small{newPlane(t), rand.New(rand.NewPCG(seed, 1)), map[string][]string{tenant.OrganisationKind: {org}}, keys.NewHasher([]byte("pepper"))}
			for _, kind := range keyKinds {
				for range 3 {
					if kind != tenant.OrganisationKind {
						s.ids[kind] = append(s.ids[kind], ident.NewID())
					}
				}
			}
			if err := s.dir.Load(t.Context()); err != nil {
				t.Fatal(err)
			}
			for range 40 {
				for range 1 + s.rnd.IntN(3) {
					s.turn()
				}
				if err := s.dir.Refresh(t.Context()); err != nil {
					t.Fatal(err)
				}
				reloaded := s.another()
				if err := reloaded.Load(t.Context()); err != nil {
					t.Fatal(err)
				}
				if got, want := s.dir.Current().Keys(), reloaded.Current().Keys(); !reflect.DeepEqual(got, want) {
					t.Fatalf("followed: %d keys\n%+v\nloaded: %d keys\n%+v", len(got), got, len(want), want)
				}
			}
		})
	}
}

// Whoever asks after a commit finds it in force, however many ask at a time.
func TestManyRefreshAtOnce(t *testing.T) {
	t.Parallel()
	p := newPlane(t)
	p.write(resource.Record{Kind: tenant.WorkspaceKind, ID: workspaceID, OrgID: org, Slug: "ws", Name: "ws", Status: "active"}, tenant.Workspace{})
	if err := p.dir.Load(t.Context()); err != nil {
		t.Fatal(err)
	}
	hasher := keys.NewHasher([]byte("pepper"))
	var all sync.WaitGroup
	for w := range 16 {
		all.Go(func() {
			for i := range 10 {
				hash := hasher.Sum(fmt.Sprint(w, i))
				p.put(keys.Kind, "", keys.Key{Type: access.WorkspaceService, Secret: keys.Secret{Hash: hash}})
				if err := p.dir.Refresh(t.Context()); err != nil {
					t.Error(err)
				}
				if p.dir.Current().FindKey(hash) == nil {
					t.Errorf("key %d of %d is not in force", i, w)
				}
			}
		})
	}
	all.Wait()
}
