package sqlstore_test

import (
	"testing"

	"sluice/internal/control/resource"
	"sluice/internal/storage/sqlstore/storetest"
)

// BenchmarkStore measures the three calls that the control plane makes most.
func BenchmarkStore(b *testing.B) {
	for name, settings := range engines {
		b.Run(name, func(b *testing.B) {
			s := storetest.Open(b, settings(b))
			var last string
			add := func() {
				id, err := insert(b, s)
				if err != nil {
					b.Fatal(err)
				}
				last = id
			}
			b.Run("insert", func(b *testing.B) {
				for b.Loop() {
					add()
				}
			})
			b.Run("find", func(b *testing.B) {
				for b.Loop() {
					if _, err := s.Find(b.Context(), "config", last); err != nil {
						b.Fatal(err)
					}
				}
			})
			for range 100 {
				add()
			}
			b.Run("list 100", func(b *testing.B) {
				for b.Loop() {
					if page, err := s.List(b.Context(), resource.Query{Kind: "config"}); err != nil || len(page) != 100 {
						b.Fatal(len(page), err)
					}
				}
			})
		})
	}
}
