package e2e

import (
	"database/sql"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"
)

var checkpointLine = regexp.MustCompile(`"msg":"audit checkpoint","checkpoint":"((?:[^"\\]|\\.)*)"`)

// published waits for a checkpoint in the log of one of the nodes.
func published(t *testing.T, nodes ...*gateway) (checkpoint string) {
	t.Helper()
	eventually(t, 20*time.Second, "a checkpoint is in the log", func() bool {
		for _, n := range nodes {
			if m := checkpointLine.FindStringSubmatch(n.child.err.String()); m != nil {
				checkpoint = strings.ReplaceAll(m[1], `\"`, `"`)
			}
		}
		return checkpoint != ""
	})
	return checkpoint
}

// What administrators do is on the trail, the trail verifies where the gateway is not,
// and who tampers with the file or with the database is found.
func TestAuditTrailVerifies(t *testing.T) {
	t.Parallel()
	g := start(t, with("LOG_LEVEL=info", "AUDIT_CHECKPOINT_ROWS=3", "TRUSTED_PROXIES=127.0.0.0/8"))
	policy := object{"conditions": []object{{"key": "api_key", "value": "*"}}, "type": "requests", "unit": "rpm", "value": 100}
	id := g.do(g.key, "POST", "/v1/policies/rate-limits", policy).get("id").String()
	for value := range 4 {
		g.do(g.key, "PUT", "/v1/policies/rate-limits/"+id, object{"value": value + 1})
	}
	g.call("DELETE", "/v1/policies/rate-limits/"+id, "", "x-forwarded-for: 198.51.100.9").want(t, 200)
	g.call("POST", "/v1/policies/rate-limits", `{"type":"nonsense"}`).want(t, 400)

	admin := "x-gateway-api-key: " + adminKey
	day := "start_time=2020-01-01T00:00:00Z&end_time=2100-01-01T00:00:00Z"
	list := g.call("GET", "/v1/audit-logs?"+day, "", admin).want(t, 200)
	if n, ip := list.get("total").Int(), list.get("records.1.client_ip").String(); n != 7 || ip != "198.51.100.9" {
		t.Errorf("%d rows, deleted from %s: %s", n, ip, list.Body)
	}
	g.call("GET", "/v1/audit-logs?"+day, "").want(t, 403)
	checkpoint := published(t, g)

	dir := t.TempDir()
	key := g.call("GET", "/v1/audit-logs/public-key", "", admin).want(t, 200).get("public_key").String()
	file := filepath.Join(dir, "trail.jsonl")
	export := g.call("GET", "/v1/audit-logs/export", "", admin).want(t, 200).Body
	write(t, file, export)
	verifies(t, file, key, "rows 1 to 7: all 7 are present", "--checkpoint", checkpoint)

	g.stop() // signs what is left
	store := []string{"--data-dir", g.dir}
	pem := cli(t, nil, append([]string{"audit", "public-key"}, store...)...)
	keyFile := filepath.Join(dir, "key.pem")
	write(t, keyFile, pem.out)
	exported := func(name string) string {
		t.Helper()
		path := filepath.Join(dir, name)
		if got := cli(t, nil, append([]string{"audit", "export", "--out", path}, store...)...); got.code != 0 {
			t.Fatalf("export: %+v", got)
		}
		return path
	}
	after := exported("after.jsonl")
	if report := verifies(t, after, keyFile, "signed up to row 7", "--checkpoint", checkpoint); strings.Contains(report, "not yet signed") {
		t.Errorf("the end is not signed after an orderly stop: %s", report)
	}

	tampered := filepath.Join(dir, "tampered.jsonl")
	write(t, tampered, strings.Replace(export, `"action":"update"`, `"action":"create"`, 1))
	fails(t, tampered, key, "row 2: edited")
	lines := strings.SplitAfter(export, "\n")
	write(t, tampered, strings.Join(lines[:len(lines)-2], ""))
	fails(t, tampered, key, "truncated")
	fails(t, file, "UaDEdwAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=", "wrong key")

	change(t, g.dir, "UPDATE audit SET actor_id = 'nobody' WHERE seq = 5")
	fails(t, exported("edited.jsonl"), key, "row 5: edited")
	change(t, g.dir, "DELETE FROM audit WHERE seq = 5")
	fails(t, exported("deleted.jsonl"), key, "row 5: deleted")
	change(t, g.dir, "DELETE FROM audit WHERE seq > 2")
	change(t, g.dir, "DELETE FROM audit_checkpoints")
	change(t, g.dir, "UPDATE audit_heads SET seq = 2, checkpoint = 0")
	shorter := exported("shorter.jsonl")
	verifies(t, shorter, key, "not yet signed: the last 2 rows")
	fails(t, shorter, key, "truncated: the published checkpoint 1 covers row", "--checkpoint", checkpoint)
}

func verifies(t testing.TB, file, key, want string, more ...string) string {
	t.Helper()
	got := cli(t, nil, append([]string{"audit", "verify", file, "--public-key", key}, more...)...)
	if got.code != 0 || !strings.Contains(got.out, want) {
		t.Errorf("%+v, want %q", got, want)
	}
	return got.out
}

func fails(t *testing.T, file, key, want string, more ...string) {
	t.Helper()
	got := cli(t, nil, append([]string{"audit", "verify", file, "--public-key", key}, more...)...)
	if got.code != 1 || !strings.Contains(got.err, want) || got.out != "" {
		t.Errorf("%+v, want %q", got, want)
	}
}

// change does something to the database behind the gateway's back.
func change(t *testing.T, dir, statement string) {
	t.Helper()
	db, err := sql.Open("sqlite", "file:"+filepath.Join(dir, "sluice.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, err := db.ExecContext(t.Context(), statement); err != nil {
		t.Fatal(err)
	}
}

// With the trail switched off nothing is written and nothing is shown.
func TestAuditTrailCanBeSwitchedOff(t *testing.T) {
	t.Parallel()
	g := start(t, with("AUDIT_LOGS_ENABLED=OFF"))
	g.do(g.key, "POST", "/v1/policies/rate-limits", object{"conditions": []object{{"key": "api_key", "value": "*"}}, "type": "requests", "unit": "rpm", "value": 100})
	for _, path := range []string{"?start_time=2020-01-01T00:00:00Z&end_time=2100-01-01T00:00:00Z", "/export", "/public-key"} {
		g.call("GET", "/v1/audit-logs"+path, "", "x-gateway-api-key: "+adminKey).want(t, 403)
	}
	g.stop()
	out := filepath.Join(t.TempDir(), "trail.jsonl")
	if got := cli(t, nil, "audit", "export", "--out", out, "--data-dir", g.dir); got.code != 0 {
		t.Fatalf("%+v", got)
	}
	if b, err := os.ReadFile(out); err != nil || strings.Count(string(b), "\n") != 1 {
		t.Errorf("%v: %s", err, b)
	}
}

// A checkpoint comes while the gateway runs, and by one of many nodes.
func TestCheckpointsComeByThemselves(t *testing.T) {
	t.Parallel()
	onEachEngine(t, func(t *testing.T, storage option) {
		g := start(t, storage, with("LOG_LEVEL=info"))
		nodes := []*gateway{g}
		if l := newLaunch(t, storage); l.shared() {
			nodes = append(nodes, start(t, storage, with("LOG_LEVEL=info")))
		}
		for i := range 6 {
			n := nodes[i%len(nodes)]
			n.do(n.key, "POST", "/v1/policies/rate-limits", object{"conditions": []object{{"key": "api_key", "value": "*"}}, "type": "requests", "unit": "rpm", "value": 100})
		}
		published(t, nodes...)
		admin := "x-gateway-api-key: " + adminKey
		file := filepath.Join(t.TempDir(), "trail.jsonl")
		write(t, file, g.call("GET", "/v1/audit-logs/export", "", admin).want(t, 200).Body)
		key := nodes[len(nodes)-1].call("GET", "/v1/audit-logs/public-key", "", admin).want(t, 200).get("public_key").String()
		verifies(t, file, key, "rows 1 to 6")
	})
}

// A JWT that is refused is on the trail, on which side it came and whoever sent it, with
// what was called and from where; nothing of the token is.
func TestRefusedTokensAreOnTheTrail(t *testing.T) {
	t.Parallel()
	g := start(t, with("TRUSTED_PROXIES=127.0.0.0/8"))
	const token = "eyJhbGciOiJSUzI1NiJ9.eyJzdWIiOiJhZGEifQ.c2lnbmF0dXJl"
	g.call("POST", "/v1/chat/completions", `{"model":"m","messages":[]}`, "x-gateway-api-key: ", "authorization: Bearer "+token, "x-forwarded-for: 198.51.100.9").want(t, 401)
	g.call("GET", "/v1/workspaces", "", "x-gateway-api-key: "+token, "x-forwarded-for: 198.51.100.8").want(t, 401)
	var list callResult
	eventually(t, 30*time.Second, "both are on the trail", func() bool {
		list = g.call("GET", "/v1/audit-logs?start_time=2020-01-01T00:00:00Z&end_time=2100-01-01T00:00:00Z", "", "x-gateway-api-key: "+adminKey).want(t, 200)
		return list.get("total").Int() == 2
	})
	for i, want := range []string{"GET /v1/workspaces 198.51.100.8", "POST /v1/chat/completions 198.51.100.9"} {
		r := list.get("records." + strconv.Itoa(i))
		got := r.Get("method").String() + " " + r.Get("uri").String() + " " + r.Get("client_ip").String()
		if got != want || r.Get("action").String() != "auth_failure" || r.Get("response_status_code").Int() != 401 || r.Get("user_id").String() != "" {
			t.Errorf("%s: %s", want, r.Raw)
		}
	}
	if strings.Contains(list.Body, "eyJ") {
		t.Errorf("the token is on the trail: %s", list.Body)
	}
}
