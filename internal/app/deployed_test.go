package app

import (
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/goccy/go-yaml"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sluice/internal/ops/config"
)

// endSlack is what a gateway may take to end besides DRAIN_DELAY and DRAIN_TIMEOUT:
// group.deadline in Run, and the last words.
const endSlack = 12 * time.Second

// deployedFile is the text of a file below deploy.
func deployedFile(t *testing.T, path ...string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(append([]string{"..", "..", "deploy"}, path...)...))
	require.NoError(t, err)
	return string(text)
}

// usable loads settings as a gateway would that has them in its environment: all of them are
// settings, and say what one accepts.
func usable(t *testing.T, environ []string) config.Settings {
	t.Helper()
	require.NotEmpty(t, environ)
	for _, pair := range environ {
		name, value, _ := strings.Cut(pair, "=")
		_, err := config.Load(config.Sources{Flags: map[string]string{name: value}}) // an unknown flag is an error, an unknown variable is none
		var problems *config.Error
		if assert.ErrorAs(t, orNone(err), &problems) {
			for _, p := range problems.Problems {
				assert.NotContains(t, p.Text, "is not a setting", name)
			}
		}
	}
	l, err := config.Load(config.Sources{Environ: environ})
	require.NoError(t, err)
	assert.Empty(t, l.Warnings)
	return l.Settings
}

// orNone is an error without problems in the place of none.
func orNone(err error) error {
	if err == nil {
		return &config.Error{}
	}
	return err
}

// A service manager gives a gateway the time that it needs to end, and it finds the settings
// that it is given.
func TestServiceUnit(t *testing.T) {
	t.Parallel()
	unit := deployedFile(t, "systemd", "sluice.service")
	var environ []string
	for _, m := range regexp.MustCompile(`(?m)^Environment=(.+)$`).FindAllStringSubmatch(unit, -1) {
		environ = append(environ, m[1])
	}
	s := usable(t, environ)
	assert.Equal(t, "/var/lib/"+found(t, unit, `(?m)^StateDirectory=(.+)$`), s.Data.Dir)
	assert.Regexp(t, `(?m)^ExecStart=\S+/sluice serve$`, unit)
	stop, err := strconv.Atoi(found(t, unit, `(?m)^TimeoutStopSec=(\d+)$`))
	require.NoError(t, err)
	assert.GreaterOrEqual(t, time.Duration(stop)*time.Second, s.Server.DrainDelay+s.Server.DrainTimeout+endSlack)
}

// An image is built by the version of Go that the module asks for, and run by nobody's root.
func TestImage(t *testing.T) {
	t.Parallel()
	file := deployedFile(t, "Dockerfile")
	s := usable(t, strings.Fields(found(t, file, `(?m)^ENV (.+)$`)))
	assert.Contains(t, file, "VOLUME "+s.Data.Dir+"\n")
	assert.Contains(t, file, "EXPOSE "+strconv.Itoa(s.Server.Port)+"\n")
	assert.Equal(t, "0.0.0.0", s.Server.Listen)
	mod, err := os.ReadFile(filepath.Join("..", "..", "go.mod"))
	require.NoError(t, err)
	assert.Contains(t, found(t, file, `(?m)^ARG BUILD_IMAGE=golang:(\S+)$`), found(t, string(mod), `(?m)^go (\d+\.\d+)`))
	assert.NotEqual(t, "0", found(t, file, `(?m)^USER (\d+)`))
}

func found(t *testing.T, text, pattern string) string {
	t.Helper()
	m := regexp.MustCompile(pattern).FindStringSubmatch(text)
	require.NotNil(t, m, pattern)
	return m[1]
}

// statefulSet is what is looked at of one.
type statefulSet struct {
	Spec struct {
		Template struct {
			Spec struct {
				Grace      int  `yaml:"terminationGracePeriodSeconds"`
				Links      bool `yaml:"enableServiceLinks"`
				Containers []struct {
					Env            []struct{ Name, Value string }
					StartupProbe   probe `yaml:"startupProbe"`
					ReadinessProbe probe `yaml:"readinessProbe"`
					VolumeMounts   []struct {
						Path string `yaml:"mountPath"`
					} `yaml:"volumeMounts"`
				}
			}
		}
	}
}

type probe struct {
	HTTPGet struct{ Path, Port string } `yaml:"httpGet"`
}

// Pods have the time to end that they need, are asked where a gateway answers, keep their
// data directory, and find settings.
func TestManifests(t *testing.T) {
	t.Parallel()
	var set statefulSet
	require.NoError(t, yaml.Unmarshal([]byte(deployedFile(t, "kubernetes", "gateway.yaml")), &set))
	var custom struct {
		Maps []struct{ Literals []string } `yaml:"configMapGenerator"`
	}
	require.NoError(t, yaml.Unmarshal([]byte(deployedFile(t, "kubernetes", "kustomization.yaml")), &custom))
	pod := set.Spec.Template.Spec
	require.Len(t, pod.Containers, 1)
	c, environ := pod.Containers[0], custom.Maps[0].Literals
	for _, e := range c.Env {
		environ = append(environ, e.Name+"="+e.Value)
	}
	s := usable(t, append(environ, "DB_USER=sluice", "DB_PASS=secret", "ENCRYPTION_KEY=what all nodes share")) // what the secret has
	assert.False(t, pod.Links)
	assert.NotZero(t, s.Server.DrainDelay, "callers come for a while after the pod was told to end")
	assert.GreaterOrEqual(t, time.Duration(pod.Grace)*time.Second, s.Server.DrainDelay+s.Server.DrainTimeout+endSlack)
	for _, p := range []probe{c.StartupProbe, c.ReadinessProbe} {
		assert.Equal(t, "http://127.0.0.1:8787"+p.HTTPGet.Path, HealthURL(s))
	}
	assert.Equal(t, s.Data.Dir, c.VolumeMounts[0].Path)
}
