package audit_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"sluice/internal/domain/audit"
)

const org = "0191f3a0-4c1e-7b6f-9d2a-0c6d8a1e5b3f"

// sample is a trail of 25 rows with checkpoints behind 10, 20 and 22.
func sample(t testing.TB) *rig {
	t.Helper()
	r := newRig(t, audit.Policy{Rows: 10, Interval: time.Hour})
	r.add(org, 22)
	r.sign(t)
	r.add(org, 3)
	return r
}

func TestVerify(t *testing.T) {
	t.Parallel()
	r := sample(t)
	got := r.verify(t, r.export(t, org, audit.Range{}))
	if got.Rows != 25 || got.Checkpoints != 3 || got.Last.Seq != 22 || got.Unsigned != 3 {
		t.Errorf("%+v", got)
	}
	want := `organisation 0191f3a0-4c1e-7b6f-9d2a-0c6d8a1e5b3f, exported at 2026-11-21T10:00:00.000Z
rows 1 to 25: all 25 are present, in order and unchanged since this export
signed up to row 22 by checkpoint 3 of 2026-11-21T10:00:00.000Z (3 in the file)
not yet signed: the last 3 rows, written after the last checkpoint
`
	if got.String() != want {
		t.Errorf("%s", got)
	}
	empty := r.verify(t, r.export(t, "another", audit.Range{}))
	if empty.Rows != 0 || empty.Last != nil || !strings.Contains(empty.String(), "no rows") {
		t.Errorf("%+v", empty)
	}
}

// An export of a time holds the rows around it up to the checkpoints, and verifies on
// its own.
func TestVerifyATime(t *testing.T) {
	t.Parallel()
	r := sample(t)
	rowTime := func(row int) time.Time { return began.Add(time.Duration(row-1) * time.Minute) }
	for _, c := range []struct {
		name            string
		when            audit.Range
		first, last, cp int64
		unsigned        int64
	}{
		{"in the middle", audit.Range{From: rowTime(12), To: rowTime(15)}, 11, 20, 2, 0},
		{"from the beginning", audit.Range{To: rowTime(2)}, 1, 10, 1, 0},
		{"across", audit.Range{From: rowTime(10), To: rowTime(12)}, 1, 20, 2, 0},
		{"to the end", audit.Range{From: rowTime(21)}, 21, 25, 2, 3},
		{"only what is not signed", audit.Range{From: rowTime(24)}, 23, 25, 1, 3},
		{"nothing", audit.Range{From: rowTime(100)}, 26, 25, 0, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			got := r.verify(t, r.export(t, org, c.when))
			if h := got.Header; h.First != c.first || h.Last != c.last || got.Checkpoints != c.cp || got.Unsigned != c.unsigned {
				t.Errorf("rows %d to %d with %d checkpoints, %d unsigned", h.First, h.Last, got.Checkpoints, got.Unsigned)
			}
		})
	}
}

// flawed wants a fault of a sort.
func flawed(t *testing.T, r *rig, file []byte, o audit.Options, want audit.FaultKind, text string) {
	t.Helper()
	_, err := audit.Verify(bytes.NewReader(file), r.signer.Public(), o)
	var f *audit.Fault
	if !errors.As(err, &f) || f.FaultKind != want || !strings.Contains(err.Error(), text) {
		t.Errorf("%v, want %s with %q", err, want, text)
	}
}

// What is done to a file is named.
func TestFaultsOfAFile(t *testing.T) {
	t.Parallel()
	r := sample(t)
	r.add("other", 25)
	r.sign(t)
	file := bytes.SplitAfter(r.export(t, org, audit.Range{}), []byte("\n"))
	foreign := bytes.SplitAfter(r.export(t, "other", audit.Range{}), []byte("\n"))
	file, foreign = file[:len(file)-1], foreign[:len(foreign)-1]
	// line 0 is the header, 1 to 10 are rows, 11 is a checkpoint
	for _, c := range []struct {
		name   string
		change func(l [][]byte) [][]byte
		want   audit.FaultKind
		text   string
	}{
		{"an edited row", func(l [][]byte) [][]byte {
			l[5] = bytes.Replace(l[5], []byte(`"update"`), []byte(`"delete"`), 1)
			return l
		}, audit.Edited, "line 6, row 5"},
		{"a deleted row", func(l [][]byte) [][]byte { return slices.Delete(l, 5, 6) }, audit.Deleted, "row 5"},
		{"a deleted first row", func(l [][]byte) [][]byte { return slices.Delete(l, 1, 2) }, audit.Deleted, "row 1"},
		{"two rows that changed places", func(l [][]byte) [][]byte { l[5], l[6] = l[6], l[5]; return l }, audit.Reordered, "row 5"},
		{"a row moved to the end", func(l [][]byte) [][]byte { return append(slices.Delete(l, 5, 6), file[5]) }, audit.Reordered, "row 5"},
		{"a row twice", func(l [][]byte) [][]byte { return slices.Insert(l, 6, l[5]) }, audit.Reordered, "row 5"},
		{"a deleted checkpoint", func(l [][]byte) [][]byte { return slices.Delete(l, 11, 12) }, audit.Deleted, "checkpoint 1"},
		{"the second of three checkpoints", func(l [][]byte) [][]byte { return slices.Delete(l, 22, 23) }, audit.Deleted, "checkpoint 2"},
		{"a checkpoint at another place", func(l [][]byte) [][]byte { l[10], l[11] = l[11], l[10]; return l }, audit.Reordered, "row 10"},
		{"a checkpoint behind its row", func(l [][]byte) [][]byte { l[11], l[12] = l[12], l[11]; return l }, audit.Reordered, "checkpoint 1"},
		{"a checkpoint twice", func(l [][]byte) [][]byte { return slices.Insert(l, 12, l[11]) }, audit.Reordered, "checkpoint 1"},
		{"an edited checkpoint", func(l [][]byte) [][]byte {
			l[11] = bytes.Replace(l[11], []byte(`"timestamp":"2026`), []byte(`"timestamp":"2025`), 1)
			return l
		}, audit.Edited, "checkpoint 1"},
		{"the end cut off", func(l [][]byte) [][]byte { return l[:20] }, audit.Truncated, "row 18"},
		{"the last row cut off", func(l [][]byte) [][]byte { return l[:len(l)-1] }, audit.Truncated, ""},
		{"the last line cut in two", func(l [][]byte) [][]byte {
			l[len(l)-1] = l[len(l)-1][:40]
			return l
		}, audit.Truncated, "incomplete"},
		{"the last newline cut off", func(l [][]byte) [][]byte {
			l[len(l)-1] = bytes.TrimSuffix(l[len(l)-1], []byte("\n"))
			return l
		}, audit.Truncated, "incomplete"},
		{"nothing left", func([][]byte) [][]byte { return nil }, audit.Truncated, "header"},
		{"only the header", func(l [][]byte) [][]byte { return l[:1] }, audit.Truncated, "row 0"},
		{"a row of others", func(l [][]byte) [][]byte { l[5] = foreign[5]; return l }, audit.Foreign, `"other"`},
		{"a checkpoint of others", func(l [][]byte) [][]byte { l[11] = foreign[11]; return l }, audit.Foreign, `"other"`},
		{"a row too many", func(l [][]byte) [][]byte {
			row := audit.Row{OrgID: org}
			row.Chain(25, r.heads[org].Hash)
			return append(l, line(t, "row", row))
		}, audit.Foreign, "row 26"},
		{"an edited header", func(l [][]byte) [][]byte {
			l[0] = bytes.Replace(l[0], []byte(`"last_seq":25`), []byte(`"last_seq":24`), 1)
			return l
		}, audit.Edited, "header"},
		{"no header", func(l [][]byte) [][]byte { return l[1:] }, audit.Malformed, "header"},
		{"a blank in a row", func(l [][]byte) [][]byte {
			l[5] = bytes.Replace(l[5], []byte(`,"prev"`), []byte(`, "prev"`), 1)
			return l
		}, audit.Malformed, "line 6"},
		{"a name twice in a row", func(l [][]byte) [][]byte {
			l[5] = bytes.Replace(l[5], []byte(`"action"`), []byte(`"action":"create","action"`), 1)
			return l
		}, audit.Malformed, "line 6"},
		{"an empty line", func(l [][]byte) [][]byte { return slices.Insert(l, 3, []byte("\n")) }, audit.Malformed, "line 4"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			changed := make([][]byte, len(file))
			for i := range file {
				changed[i] = bytes.Clone(file[i])
			}
			flawed(t, r, bytes.Join(c.change(changed), nil), audit.Options{}, c.want, c.text)
		})
	}
	t.Run("another key", func(t *testing.T) {
		t.Parallel()
		_, err := audit.Verify(bytes.NewReader(bytes.Join(file, nil)), newSigner(t).Public(), audit.Options{})
		if f := (*audit.Fault)(nil); !errors.As(err, &f) || f.FaultKind != audit.WrongKey {
			t.Errorf("%v", err)
		}
	})
}

// line is what an export makes of a thing.
func line(t testing.TB, kind string, v any) []byte {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return append([]byte(fmt.Sprintf(`{"type":%q,%s`, kind, b[1:])), '\n')
}

// What somebody does who can write to the database, and has not the signing key, is
// found in what is exported afterwards.
func TestFaultsOfTheStore(t *testing.T) {
	t.Parallel()
	// remake is the thorough one: all hashes from a row on are made anew.
	remake := func(r *rig, from int) {
		rows := r.rows[org]
		seq, hash := int64(from-1), rows[from-2].Hash
		for i := from - 1; i < len(rows); i++ {
			rows[i].Chain(seq, hash)
			seq, hash = rows[i].Seq, rows[i].Hash
		}
		r.heads[org].Seq, r.heads[org].Hash = seq, hash
	}
	for _, c := range []struct {
		name   string
		change func(r *rig)
		want   audit.FaultKind
		text   string
	}{
		{"an edited row", func(r *rig) { r.rows[org][4].ActorID = "somebody else" }, audit.Edited, "row 5"},
		{"an edited row, all hashes made anew", func(r *rig) { r.rows[org][4].ActorID = "x"; remake(r, 5) }, audit.Edited, "checkpoint 1"},
		{"a deleted row", func(r *rig) { r.rows[org] = slices.Delete(r.rows[org], 4, 5) }, audit.Deleted, "row 5"},
		{"a deleted row, the rest made anew", func(r *rig) {
			r.rows[org] = slices.Delete(r.rows[org], 4, 5)
			remake(r, 5)
		}, audit.Edited, "checkpoint 1"},
		{"the last rows, signed ones among them", func(r *rig) {
			r.rows[org] = r.rows[org][:15]
			r.heads[org].Seq = 15
		}, audit.Truncated, ""},
		{"the beginning, as if it had expired", func(r *rig) {
			r.rows[org] = r.rows[org][10:]
			r.heads[org].First = 11
		}, audit.Deleted, "row 1"},
		{"the beginning without a checkpoint", func(r *rig) {
			r.rows[org] = r.rows[org][5:]
			r.heads[org].First = 6
		}, audit.Deleted, "row 6"},
		{"a row put in", func(r *rig) {
			r.rows[org] = slices.Insert(r.rows[org], 4, r.rows[org][10])
			remake(r, 5)
		}, audit.Edited, "checkpoint 1"},
		{"a checkpoint", func(r *rig) { r.points[org] = slices.Delete(r.points[org], 1, 2) }, audit.Deleted, "checkpoint 2"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			r := sample(t)
			c.change(r)
			file := r.export(t, org, audit.Range{})
			o := audit.Options{}
			if c.want == audit.Truncated { // only what was published elsewhere tells that there was more
				o.Known = &r.points[org][len(r.points[org])-1]
			}
			flawed(t, r, file, o, c.want, c.text)
		})
	}
}

func TestPublishedCheckpoints(t *testing.T) {
	t.Parallel()
	r := sample(t)
	file := r.export(t, org, audit.Range{})
	for _, c := range r.points[org] {
		if _, err := audit.Verify(bytes.NewReader(file), r.signer.Public(), audit.Options{Known: &c}); err != nil {
			t.Errorf("checkpoint %d: %v", c.Number, err)
		}
	}
	other := r.points[org][1]
	other.Hash = strings.Repeat("ab", 32)
	forged := other
	flawed(t, r, file, audit.Options{Known: &forged}, audit.WrongKey, "published")
	later := other.SignedBy(r.signer) // the same number, a different history
	flawed(t, r, file, audit.Options{Known: &later}, audit.Edited, "a different history")
	later.Seq = 24
	later = later.SignedBy(r.signer)
	flawed(t, r, file, audit.Options{Known: &later}, audit.Edited, "row 24")
	later.OrgID = "other"
	later = later.SignedBy(r.signer)
	flawed(t, r, file, audit.Options{Known: &later}, audit.Foreign, "other")
}

// TestMutations does thousands of random things to exports. Each is found, unless it
// left the file as it was.
func TestMutations(t *testing.T) {
	t.Parallel()
	r := sample(t)
	r.add("other", 25)
	r.sign(t)
	rowTime := func(row int) time.Time { return began.Add(time.Duration(row) * time.Minute) }
	files := [][]byte{
		r.export(t, org, audit.Range{}), r.export(t, org, audit.Range{From: rowTime(11), To: rowTime(14)}), r.export(t, org, audit.Range{From: rowTime(90)}),
	}
	foreign := splitLines(r.export(t, "other", audit.Range{}))
	stranger := newRig(t, audit.Policy{Rows: 10, Interval: time.Hour})
	stranger.memory = r.memory
	forged := splitLines(stranger.export(t, org, audit.Range{}))
	found := 0
	rapid.Check(t, func(t *rapid.T) {
		for range 40 {
			file := rapid.SampledFrom(files).Draw(t, "file")
			changed := mutate(t, file, foreign, forged)
			_, err := audit.Verify(bytes.NewReader(changed), r.signer.Public(), audit.Options{})
			if same := bytes.Equal(changed, file); same != (err == nil) {
				t.Fatalf("same %v, but the verifier says %v:\n%s", same, err, changed)
			}
			if f := (*audit.Fault)(nil); err != nil && !errors.As(err, &f) {
				t.Fatalf("no fault: %v", err)
			}
			found++
		}
	})
	t.Logf("%d mutations", found)
	if found < 2000 {
		t.Errorf("only %d mutations", found)
	}
}

func splitLines(file []byte) [][]byte {
	l := bytes.SplitAfter(file, []byte("\n"))
	return l[:len(l)-1]
}

// mutate does one to three things to a file.
func mutate(t *rapid.T, file []byte, foreign, forged [][]byte) []byte {
	out := bytes.Clone(file)
	for range rapid.IntRange(1, 3).Draw(t, "steps") {
		lines := splitLines(append(out, '\n'))
		lines[len(lines)-1] = bytes.TrimSuffix(lines[len(lines)-1], []byte("\n"))
		pick := func(name string) int { return rapid.IntRange(0, len(lines)-1).Draw(t, name) }
		switch rapid.IntRange(0, 9).Draw(t, "what") {
		case 0: // a byte
			if len(out) > 0 {
				i := rapid.IntRange(0, len(out)-1).Draw(t, "at")
				out[i] = rapid.Byte().Draw(t, "byte")
			}
			continue
		case 1: // the end
			out = out[:rapid.IntRange(0, len(out)).Draw(t, "length")]
			continue
		case 2:
			i := pick("from")
			lines = slices.Delete(lines, i, rapid.IntRange(i, len(lines)).Draw(t, "to"))
		case 3:
			i, j := pick("a"), pick("b")
			lines[i], lines[j] = lines[j], lines[i]
		case 4:
			lines = slices.Insert(lines, pick("at"), lines[pick("line")])
		case 5:
			lines = slices.Insert(lines, pick("at"), rapid.SampledFrom(foreign).Draw(t, "line"))
		case 6:
			lines[pick("at")] = rapid.SampledFrom(foreign).Draw(t, "line")
		case 7:
			lines[pick("at")] = rapid.SampledFrom(forged).Draw(t, "line")
		case 8:
			lines = rehash(t, lines)
		case 9:
			i := pick("move")
			moved := lines[i]
			lines = slices.Delete(lines, i, i+1)
			lines = slices.Insert(lines, rapid.IntRange(0, len(lines)).Draw(t, "to"), moved)
		}
		out = bytes.Join(lines, nil)
	}
	return out
}

// rehash edits a row and makes all hashes behind it anew, as somebody would who
// knows the format.
func rehash(t *rapid.T, lines [][]byte) [][]byte {
	edit := rapid.IntRange(0, len(lines)-1).Draw(t, "row")
	value := rapid.SampledFrom([]string{"key", "somebody"}).Draw(t, "actor")
	prev, begun := "", false
	for i := range lines {
		var row audit.Row
		if json.Unmarshal(lines[i], &row) != nil || !bytes.HasPrefix(lines[i], []byte(`{"type":"row"`)) {
			continue
		}
		if i == edit {
			row.ActorID, begun = value, true
			prev = row.Prev
		}
		if !begun {
			continue
		}
		row.Chain(row.Seq-1, prev)
		prev = row.Hash
		var b bytes.Buffer
		enc := json.NewEncoder(&b)
		enc.SetEscapeHTML(false)
		if enc.Encode(row) == nil {
			lines[i] = append([]byte(`{"type":"row",`), b.Bytes()[1:]...)
		}
	}
	return lines
}

// FuzzVerify: nothing that is read makes the verifier fall, and nothing passes that
// the signer did not write.
func FuzzVerify(f *testing.F) {
	seed := bytes.Repeat([]byte{7}, audit.SeedBytes)
	s, err := audit.NewSigner(seed)
	if err != nil {
		f.Fatal(err)
	}
	r := newRig(f, audit.Policy{Rows: 10, Interval: time.Hour})
	r.signer, r.checkpointer = s, audit.NewCheckpointer(r.memory, s, audit.Policy{Rows: 10}, r.clock, slog.New(slog.DiscardHandler))
	r.add(org, 12)
	r.sign(f)
	file := r.export(f, org, audit.Range{})
	f.Add(file)
	f.Add(file[:len(file)/2])
	f.Add([]byte(`{"type":"header","format":"sluice-audit-export-v1"}` + "\n"))
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, input []byte) {
		report, err := audit.Verify(bytes.NewReader(input), s.Public(), audit.Options{})
		if err == nil && report.Header.OrgID == "" {
			t.Error("something passed that has no header")
		}
	})
}
