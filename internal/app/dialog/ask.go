package dialog

import (
	"context"
	"encoding/json"
	"fmt"

	"coffer/internal/platform/op"
	"coffer/internal/surface/cli"
)

// An Asker calls ops by name.
type Asker struct {
	Ops    []*op.Op
	Caller cli.Caller
}

// Ask calls an op and reads its answer.
func (a Asker) Ask(ctx context.Context, name string, args map[string]any, into any) error {
	for _, o := range a.Ops {
		if o.Name != name {
			continue
		}
		answer, err := a.Caller.Call(ctx, o, args)
		if err != nil {
			return err
		}
		return json.Unmarshal(answer, into)
	}
	return fmt.Errorf("there is no op %s", name)
}
