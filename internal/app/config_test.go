package app_test

import (
	"log/slog"
	"reflect"
	"strings"
	"testing"

	"coffer/internal/app"
	"coffer/internal/platform/seal"
)

// TestNumericSettingsHaveBounds: every numeric setting refuses values out of its range, and the
// error names its variable. This holds for the environment and for a Config built by a program.
func TestNumericSettingsHaveBounds(t *testing.T) {
	tried := 0
	for f := range reflect.TypeFor[app.Config]().Fields() {
		if k := f.Type.Kind(); k < reflect.Int || k > reflect.Float64 || f.Type == reflect.TypeFor[slog.Level]() {
			continue
		}
		tried++
		name := "COFFER_" + f.Tag.Get("env")
		for _, bad := range []string{"-5", "-1", "0", "99999999999", "1.5", "many"} {
			t.Run(name+"="+bad, func(t *testing.T) {
				t.Setenv(name, bad)
				if _, err := app.Load(); err == nil || !strings.Contains(err.Error(), name+" must be") {
					t.Errorf("%s=%s: %v", name, bad, err)
				}
			})
		}
		t.Run(name+" in a program", func(t *testing.T) {
			c := app.Config{DatabaseURL: seal.NewSecret("postgres://nobody@127.0.0.1:1/none")}
			reflect.ValueOf(&c).Elem().FieldByIndex(f.Index).SetInt(-1)
			a, err := app.Build(t.Context(), c, slog.New(slog.DiscardHandler))
			if err == nil {
				a.DB.Close()
			}
			if err == nil || !strings.Contains(err.Error(), name+" must be") {
				t.Errorf("%s: %v", name, err)
			}
		})
	}
	if tried < 5 {
		t.Errorf("only %d numeric settings were found", tried)
	}
}
