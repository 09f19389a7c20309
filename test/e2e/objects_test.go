package e2e

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"sluice/internal/test/upstream"
)

// objectStore starts a store that speaks S3 and checks access keys; it returns the settings
// for it, and the directory in which it has its objects.
func objectStore(t *testing.T) (settings option, dir string) {
	t.Helper()
	node, dir := needNode(t), t.TempDir()
	peer := spawn(t, "node", node, nil, "s3rver.mjs", dir)
	url := peer.await(t, "its address", func(text string) string {
		line, _, _ := strings.Cut(text, "\n")
		return line
	})
	return with("LOG_STORE=s3", "LOG_STORE_BUCKET=logs", "LOG_STORE_PREFIX=gateway", "LOG_STORE_ENDPOINT="+url,
		"LOG_STORE_ACCESS_KEY=S3RVER", "LOG_STORE_SECRET_KEY=S3RVER"), dir
}

// stored are the paths of what the object store has.
func stored(t *testing.T, dir string) (keys []string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err == nil && !e.IsDir() && strings.HasSuffix(path, "_object") {
			keys = append(keys, strings.TrimSuffix(strings.TrimPrefix(path, dir), "._S3rver_object"))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return keys
}

// Bodies go to the bucket and come back from it, after a restart too; nothing of them is
// on the disk of the node. In the formats of one object for each log they lie where the
// contract says.
func TestBodiesInAnObjectStore(t *testing.T) {
	t.Parallel()
	up := upstream.Start(t)
	for format, path := range map[string]string{"blocks": "/logs/gateway/bodies/", "v1": "/logs/gateway/30/", "v2": "/logs/gateway/30/"} {
		t.Run(format, func(t *testing.T) {
			t.Parallel()
			settings, dir := objectStore(t)
			g := start(t, settings, with("LOG_STORE_FILE_PATH_FORMAT="+format))
			body := `{"model":"gpt-4o","messages":[{"role":"user","content":"kept in a bucket"}]}`
			id := g.call("POST", "/v1/chat/completions", body, custom(up)...).want(t, 200).Header.Get("x-gateway-trace-id")
			var log string
			eventually(t, logLimit, "the call is in the log", func() bool {
				log = g.call("GET", "/v1/logs?trace_id="+id, "").want(t, 200).get("data.0.id").String()
				return log != ""
			})
			seen := func() {
				t.Helper()
				if got := g.call("GET", "/v1/logs/"+log, "").want(t, 200).get("request.body").Raw; !strings.Contains(got, "kept in a bucket") {
					t.Errorf("the request body is %s", got)
				}
			}
			seen()
			keys := stored(t, dir)
			if len(keys) == 0 || !strings.HasPrefix(keys[0], path) || format != "blocks" && !strings.HasSuffix(keys[0], "/"+log+".json") {
				t.Errorf("objects %v, want some under %s", keys, path)
			}
			if files, _ := filepath.Glob(filepath.Join(g.dir, "logs", "bodies", "*.bodies")); len(files) > 0 {
				t.Errorf("there are files too: %v", files)
			}
			g.stop()
			g = g.again()
			seen()
		})
	}
}

// A store that is away keeps no call: records wait in the journal, health says so, and they
// are stored when it is back.
func TestObjectStoreAway(t *testing.T) {
	t.Parallel()
	up := upstream.Start(t)
	settings, dir := objectStore(t)
	g := start(t, settings, with("LOG_STORE_CONNECTION_BACKOFF_MS=100", "LOG_STORE_CONNECTION_FAILURE_THRESHOLD=1"))
	bucket, moved := filepath.Join(dir, "logs"), filepath.Join(dir, "away")
	if err := os.Rename(bucket, moved); err != nil {
		t.Fatal(err)
	}
	id := g.call("POST", "/v1/chat/completions", `{"model":"gpt-4o","messages":[{"role":"user","content":"hi"}]}`, custom(up)...).want(t, 200).Header.Get("x-gateway-trace-id")
	eventually(t, inForce, "health says that records wait", func() bool {
		return strings.Contains(g.call("GET", "/health", "").Body, "records stay in the journal")
	})
	if err := os.Rename(moved, bucket); err != nil {
		t.Fatal(err)
	}
	eventually(t, logLimit, "the call is in the log", func() bool {
		return g.call("GET", "/v1/logs?trace_id="+id, "").want(t, 200).get("data.0.id").String() != ""
	})
}

func TestDoctorLooksIntoTheBucket(t *testing.T) {
	t.Parallel()
	settings, dir := objectStore(t)
	for _, c := range []struct {
		set  option
		want string
	}{
		{with(), "the bucket logs can store, read, list and delete objects"},
		{with("LOG_STORE_ACCESS_KEY=wrong"), "check LOG_STORE_ACCESS_KEY"},
		{with("LOG_STORE_BUCKET=none"), "set LOG_STORE_BUCKET"},
	} {
		l := newLaunch(t, settings, c.set, command("doctor"))
		doctor := l.spawn(t)
		code := doctor.ended(t)
		line := ""
		for text := range strings.Lines(doctor.out.String()) {
			if strings.Contains(text, "log store") {
				line = text
			}
		}
		if !strings.Contains(line, c.want) {
			t.Errorf("doctor ended with %d and says %q, want %q\n%s", code, line, c.want, doctor.err)
		}
	}
	if left := stored(t, dir); len(left) > 0 {
		t.Errorf("doctor left %v", left)
	}
}
