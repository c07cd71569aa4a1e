package workflow

import (
	"bufio"
	"context"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io/fs"
	"strings"

	"coffer/internal/platform/id"
	"coffer/internal/platform/pg"
)

// The shipped workflows and blocks are files: a JSON object of their fields, an empty line, and the
// text.
//
//go:embed presets
var presetFiles embed.FS

// A preset is a shipped workflow or block.
type preset struct {
	ID           id.ID     `json:"id"`
	Slug         string    `json:"slug"`
	Name         string    `json:"name"`
	Description  string    `json:"description"`
	PromptBlocks []string  `json:"prompt_blocks"`
	Tools        []string  `json:"tools"`
	Scope        string    `json:"scope"` // "" for a block
	Trigger      string    `json:"trigger"`
	Schedule     *string   `json:"schedule"`
	MaxTurns     int       `json:"max_turns"`
	MaxWrites    *int      `json:"max_writes"`
	MaxMinutes   int       `json:"max_minutes"`
	DryRun       bool      `json:"dry_run"`
	Worklist     *Worklist `json:"worklist"`
	Report       string    `json:"report"`

	text, hash string
}

func readPreset(raw string) (preset, error) {
	head, body, ok := strings.Cut(raw, "\n\n")
	var p preset
	decoder := json.NewDecoder(bufio.NewReader(strings.NewReader(head)))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&p); err != nil || !ok {
		return p, fmt.Errorf("preset: front matter: %w", err)
	}
	sum := sha256.Sum256([]byte(raw))
	p.text, p.hash = strings.TrimSpace(body), hex.EncodeToString(sum[:])
	return p, nil
}

// presets returns the shipped blocks and workflows.
func presets() (blocks, workflows []preset, err error) {
	err = fs.WalkDir(presetFiles, "presets", func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		raw, err := presetFiles.ReadFile(path)
		if err != nil {
			return err
		}
		p, err := readPreset(string(raw))
		if err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
		if p.Scope == "" {
			blocks = append(blocks, p)
		} else {
			workflows = append(workflows, p)
		}
		return nil
	})
	return blocks, workflows, err
}

// FillPresets stores the shipped texts that the household has not changed, and returns how many
// texts it stored. Several servers may do this at once.
func (w *Workflows) FillPresets(ctx context.Context) (int, error) {
	blocks, workflows, err := presets()
	if err != nil {
		return 0, err
	}
	stored, err := pg.Values[string](ctx, w.db, `select shipped from prompt_block where shipped is not null
		union all select shipped from workflow where shipped is not null
		union all select id::text from prompt_block where customized
		union all select id::text from workflow where customized`)
	if err != nil {
		return 0, err
	}
	known := make(map[string]bool, len(stored))
	for _, s := range stored {
		known[s] = true
	}
	filled := 0
	err = w.db.InTx(ctx, func(tx pg.Tx) error {
		filled = 0
		for _, p := range append(blocks, workflows...) {
			if known[p.hash] || known[p.ID.String()] {
				continue
			}
			filled++
			if err := p.store(ctx, tx); err != nil {
				return fmt.Errorf("store preset %s: %w", p.Slug, err)
			}
		}
		return nil
	})
	return filled, err
}

func (p preset) store(ctx context.Context, tx pg.Tx) error {
	// If a person has used the slug before this version shipped it, the person's record keeps it.
	taken, err := pg.Value[bool](ctx, tx, `select exists (select from workflow where slug = $1 and id <> $2 and not $3)
		or exists (select from prompt_block where slug = $1 and id <> $2 and $3)`, p.Slug, p.ID, p.Scope == "")
	if err != nil {
		return err
	}
	args := pg.Args{
		"id": p.ID, "short": p.ID.Short(), "slug": p.Slug, "name": p.Name, "description": p.Description,
		"text": p.text, "blocks": orEmpty(p.PromptBlocks), "tools": orEmpty(p.Tools), "scope": p.Scope,
		"trigger": p.Trigger, "schedule": p.Schedule, "turns": p.MaxTurns, "writes": p.MaxWrites,
		"minutes": p.MaxMinutes, "dry": p.DryRun, "worklist": p.Worklist, "report": p.Report, "hash": p.hash,
	}
	if taken {
		args["slug"] = "coffer-" + p.Slug
	}
	if p.Scope == "" {
		_, err := pg.Exec(ctx, tx, `
			insert into prompt_block (id, short_id, slug, title, body, is_system, shipped)
			values (@id, @short, @slug, @name, @text, true, @hash)
			on conflict (id) do update set title = excluded.title, body = excluded.body, shipped = excluded.shipped,
				updated_at = clock_timestamp()
			where not prompt_block.customized and prompt_block.shipped is distinct from excluded.shipped`, args)
		return err
	}
	// The model, the trigger, the limits and enabled belong to the household.
	_, err = pg.Exec(ctx, tx, `
		insert into workflow (id, short_id, slug, name, description, prompt, prompt_blocks, tools, scope, trigger,
			schedule, max_turns, max_writes, max_minutes, dry_run, worklist, report, is_system, shipped)
		values (@id, @short, @slug, @name, @description, @text, @blocks, @tools, @scope, @trigger, @schedule, @turns,
			@writes, @minutes, @dry, @worklist, @report, true, @hash)
		on conflict (id) do update set name = excluded.name, description = excluded.description,
			prompt = excluded.prompt, prompt_blocks = excluded.prompt_blocks, tools = excluded.tools,
			scope = excluded.scope, worklist = excluded.worklist, report = excluded.report, shipped = excluded.shipped,
			dry_run = workflow.dry_run or workflow.scope <> excluded.scope and excluded.scope = 'full_access',
			version = workflow.version + 1, updated_at = clock_timestamp()
		where not workflow.customized and workflow.shipped is distinct from excluded.shipped`, args)
	return err
}
