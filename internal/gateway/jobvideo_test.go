package gateway_test

import "testing"

// A video costs what the provider reports, not what was asked for.
func TestVideoCostsWhatWasMade(t *testing.T) {
	t.Parallel()
	const second, large = 100_000_000, 500_000_000
	for name, c := range map[string]struct {
		path, read, body, end string
		bound, cost           int64
	}{
		"half of it":          {"/v1/videos", "/v1/videos/video_1", `{"model":"sora-2","seconds":"8"}`, `"seconds":"4"`, 8 * second, 4 * second},
		"more than asked for": {"/v1/videos", "/v1/videos/video_1", `{"model":"sora-2","seconds":"4"}`, `"seconds":"12"`, 4 * second, 12 * second},
		"two videos":          {"/v1/videos", "/v1/videos/video_1", `{"model":"sora-2","seconds":"8","n":2}`, `"seconds":"4"`, 16 * second, 8 * second},
		"fewer variants":      {"/v1/video/generations/jobs", "/v1/video/generations/jobs/video_1", `{"model":"sora-2","n_seconds":5,"n_variants":3}`, `"n_seconds":5,"n_variants":2`, 15 * second, 10 * second},
		"an extension":        {"/v1/videos/extensions", "/v1/videos/video_1", `{"model":"sora-2","seconds":"4","video":{"id":"video_0"}}`, `"seconds":"12"`, 4 * second, 4 * second},
		"nested":              {"/v1/videos/generations", "/v1/videos/video_1", `{"model":"sora-2","duration":8}`, `"video":{"duration":6}`, 8 * second, 6 * second},
		"a larger format":     {"/v1/videos", "/v1/videos/video_1", `{"model":"sora-2-pro","seconds":"4"}`, `"seconds":"4","size":"1792x1024"`, 4 * 300_000_000, 4 * large},
		"two formats asked":   {"/v1/videos", "/v1/videos/video_1", `{"model":"sora-2-pro","seconds":"4","size":"1280x720","width":1792,"height":1024}`, `"progress":100`, 4 * large, 4 * large},
		"nothing is reported": {"/v1/videos", "/v1/videos/video_1", `{"model":"sora-2","seconds":"8"}`, `"progress":100`, 8 * second, 8 * second},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorks(t, "openai")
			plan := w.budget(10)
			w.up.handle("POST "+c.path, `{"id":"video_1","object":"video","status":"queued"}`)
			w.up.handle("GET "+c.read, `{"id":"video_1","object":"video","status":"completed",`+c.end+`}`)
			if got := w.bound(t, c.path, c.body); got != c.bound {
				t.Errorf("holds %d, want %d", got, c.bound)
			}
			w.turn()
			if last := w.journal.some(t, 2)[1]; last.Spend.Cost != c.cost || w.used(plan) != c.cost {
				t.Errorf("%+v, used %d, want %d", last.Spend, w.used(plan), c.cost)
			}
		})
	}
}
