package workflow

import (
	"context"
	"regexp"
	"strings"

	"coffer/internal/platform/errs"
	"coffer/internal/platform/id"
	"coffer/internal/platform/op"
	"coffer/internal/platform/pg"
	"coffer/internal/platform/text"
)

const (
	// mostBlocks is how many prompt blocks a household may have, and mostWorkflows how many
	// workflows. Their lists have no pages.
	mostBlocks    = 200
	mostWorkflows = 200
	// maxPrompt is the maximum length of a prompt or a block, in characters.
	maxPrompt = 20_000
	// maxSystem is the maximum length of all blocks of one workflow together, in characters.
	maxSystem = 60_000
)

// slugShape matches the slugs of workflows and blocks, in lower case.
var slugShape = regexp.MustCompile(`^[a-z0-9]+([-_][a-z0-9]+)*$`)

// checkSlug folds a slug to lower case and returns an error if it is invalid.
func checkSlug(slug string) (string, error) {
	slug = strings.ToLower(slug)
	if _, err := id.Parse(slug); err == nil {
		return "", errs.Field("slug", "pattern", "must not look like a UUID, because it would be read as an id")
	}
	if len(slug) > text.MaxSlug || !slugShape.MatchString(slug) {
		return "", errs.Field("slug", "pattern", "must be words of a-z and 0-9 joined by - or _, at most %d characters",
			text.MaxSlug)
	}
	return slug, nil
}

// prose cleans a text that a person wrote for a model. It returns an error if the text is empty.
func prose(field, given string) (string, error) {
	out := text.Prose(given, maxPrompt).Plain()
	if strings.TrimSpace(out) == "" {
		return "", errs.Field(field, "required", "must contain text")
	}
	return out, nil
}

// A PromptBlock is a text that several workflows share.
type PromptBlock struct {
	ID         id.ID   `json:"id" db:"id"`
	ShortID    string  `json:"short_id,omitempty" db:"short_id" required:"true"`
	Slug       string  `json:"slug" db:"slug" example:"house"`
	Title      string  `json:"title" db:"title"`
	Body       string  `json:"body" db:"body" doc:"Stands before the prompt of every workflow that names it"`
	IsSystem   bool    `json:"is_system" db:"is_system" doc:"Built in: it can't be deleted"`
	Customized bool    `json:"customized" db:"customized" doc:"A person changed this built-in block, so upgrades don't change it"`
	CreatedAt  pg.Time `json:"created_at" db:"created_at"`
	UpdatedAt  pg.Time `json:"updated_at" db:"updated_at"`
}

const blockColumns = `id, short_id, slug, title, body, is_system, customized, created_at, updated_at`

// PromptBlocks is the list of all blocks.
type PromptBlocks struct {
	Blocks []PromptBlock `json:"prompt_blocks"`
}

// Blocks returns all blocks, by slug.
func (w *Workflows) Blocks(ctx context.Context, q pg.Querier, _ op.None) (PromptBlocks, error) {
	all, err := pg.All[PromptBlock](ctx, q, `select `+blockColumns+` from prompt_block order by slug limit $1`,
		2*mostBlocks)
	return PromptBlocks{all}, err
}

// A BlockRef identifies a prompt block.
type BlockRef struct {
	Slug string `json:"slug" minLength:"1" doc:"The block's slug, UUID or short id" example:"house"`
}

func noBlock(err error) error { return pg.Found(err, "prompt block", "{prompt-block.list} lists them") }

// Block returns one block.
func (w *Workflows) Block(ctx context.Context, q pg.Querier, in BlockRef) (PromptBlock, error) {
	b, err := pg.One[PromptBlock](ctx, q, `select `+blockColumns+` from prompt_block
		where id = $1 or slug = $2 or short_id = $3 order by (slug = $2) desc limit 1`, pg.RefTo(in.Slug).Args()...)
	return b, noBlock(err)
}

// lockBlock is Block with a lock: nobody else can change the block until the transaction ends.
func (w *Workflows) lockBlock(ctx context.Context, tx pg.Tx, ref string) (PromptBlock, error) {
	b, err := w.Block(ctx, tx, BlockRef{ref})
	if err != nil {
		return PromptBlock{}, err
	}
	b, err = pg.One[PromptBlock](ctx, tx, `select `+blockColumns+` from prompt_block where id = $1 for update`, b.ID)
	return b, noBlock(err)
}

// CreatePromptBlock is the input of CreateBlock.
type CreatePromptBlock struct {
	Slug  string `json:"slug" minLength:"1" maxLength:"64" doc:"Lower-case words joined by - or _" example:"our-shops"`
	Title string `json:"title" minLength:"1" maxLength:"200" format:"line" example:"Our shops"`
	Body  string `json:"body" minLength:"1" maxLength:"20000" doc:"Text that is added to the prompt" example:"The corner shop is groceries."`
}

// CreateBlock creates a block.
func (w *Workflows) CreateBlock(ctx context.Context, tx pg.Tx, in CreatePromptBlock) (PromptBlock, error) {
	slug, err := checkSlug(in.Slug)
	if err != nil {
		return PromptBlock{}, err
	}
	body, err := prose("body", in.Body)
	if err != nil {
		return PromptBlock{}, err
	}
	n, err := pg.Value[int](ctx, tx, `select count(*) from prompt_block`)
	if err != nil {
		return PromptBlock{}, err
	}
	if n >= mostBlocks {
		return PromptBlock{}, errs.New(errs.Conflict, "limit of %d prompt blocks reached; delete one first",
			mostBlocks)
	}
	var out PromptBlock
	err = pg.Redraw(ctx, tx, "prompt_block_short_id", func(tx pg.Tx) (err error) {
		newID := id.New()
		out, err = pg.One[PromptBlock](ctx, tx, `insert into prompt_block (id, short_id, slug, title, body)
			values ($1, $2, $3, $4, $5) returning `+blockColumns, newID, newID.Short(), slug, in.Title, body)
		return err
	})
	return out, blockSlug(err)
}

func blockSlug(err error) error {
	if pg.Violates(err, "prompt_block_slug") {
		return errs.New(errs.SlugConflict, "a prompt block with this slug already exists; choose another slug")
	}
	return err
}

// PatchPromptBlock is the input of PatchBlock.
type PatchPromptBlock struct {
	Slug  string  `json:"slug" minLength:"1" doc:"The block's slug, UUID or short id" example:"house"`
	Title *string `json:"title,omitempty" minLength:"1" maxLength:"200" format:"line"`
	Body  *string `json:"body,omitempty" minLength:"1" maxLength:"20000"`
}

// PatchBlock changes a block. Its slug cannot change, because workflows refer to it.
func (w *Workflows) PatchBlock(ctx context.Context, tx pg.Tx, in PatchPromptBlock) (PromptBlock, error) {
	was, err := w.lockBlock(ctx, tx, in.Slug)
	if err != nil {
		return PromptBlock{}, err
	}
	if err := op.Match(ctx, was); err != nil {
		return PromptBlock{}, err
	}
	now := was
	if in.Title != nil {
		now.Title = *in.Title
	}
	if in.Body != nil {
		if now.Body, err = prose("body", *in.Body); err != nil {
			return PromptBlock{}, err
		}
	}
	if now == was {
		return was, nil
	}
	return pg.One[PromptBlock](ctx, tx, `update prompt_block set title = $2, body = $3, customized = is_system,
		updated_at = clock_timestamp() where id = $1 returning `+blockColumns, was.ID, now.Title, now.Body)
}

// DeleteBlock removes a block.
func (w *Workflows) DeleteBlock(ctx context.Context, tx pg.Tx, in BlockRef) (op.Deleted, error) {
	was, err := w.lockBlock(ctx, tx, in.Slug)
	if err != nil {
		return op.Deleted{}, err
	}
	if was.IsSystem {
		return op.Deleted{}, errs.New(errs.SystemProtected,
			"%s is built in and can't be deleted; remove it from prompt_blocks instead", was.Slug)
	}
	users, err := pg.Values[string](ctx, tx, `select slug from workflow where $1 = any(prompt_blocks) order by slug`,
		was.Slug)
	if err != nil {
		return op.Deleted{}, err
	}
	if len(users) > 0 {
		return op.Deleted{}, errs.New(errs.InUse,
			"this prompt block is used by %s; remove it from their prompt_blocks first", strings.Join(users, ", "))
	}
	_, err = pg.Exec(ctx, tx, `delete from prompt_block where id = $1`, was.ID)
	return op.Deleted{Deleted: true, ID: was.ID}, err
}

// blockText returns the bodies of these blocks as one text, in the given order. It locks the
// blocks, so that none is deleted before the caller's transaction commits.
func blockText(ctx context.Context, tx pg.Tx, slugs []string) (string, error) {
	type row struct {
		Slug string `db:"slug"`
		Body string `db:"body"`
	}
	rows, err := pg.All[row](ctx, tx, `select slug, body from prompt_block where slug = any($1)
		order by slug for share`, slugs)
	if err != nil {
		return "", err
	}
	bodies := make(map[string]string, len(rows))
	for _, r := range rows {
		bodies[r.Slug] = r.Body
	}
	parts := make([]string, len(slugs))
	for i, s := range slugs {
		body, ok := bodies[s]
		if !ok {
			return "", errs.Missing("prompt_blocks", "prompt block", "{prompt-block.list} lists them")
		}
		parts[i] = body
	}
	return strings.Join(parts, "\n\n"), nil
}
