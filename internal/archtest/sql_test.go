package archtest

import (
	"context"
	"errors"
	"fmt"
	"go/ast"
	"go/token"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"

	"coffer/internal/platform/pg/pgtest"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

const pgxPath = "github.com/jackc/pgx/v5"

// carriers are functions that have an SQL statement as an argument: functions by folder and name,
// methods by name alone. The value is the index of that argument. A function of this repository is
// a carrier if it has a parameter named sql. Inside such a function, the value of sql need not be
// known.
type carriers struct {
	functions map[string]map[string]int
	methods   map[string]int
}

// pgxMethods are methods of pgx with an SQL statement as an argument. The Querier of this
// repository declares the first three as well.
var pgxMethods = map[string]int{"Exec": 1, "Query": 1, "QueryRow": 1, "Queue": 0, "Prepare": 2}

func collectCarriers(files []*file) carriers {
	c := carriers{functions: map[string]map[string]int{}, methods: maps.Clone(pgxMethods)}
	for _, f := range files {
		if f.test {
			continue
		}
		if c.functions[f.dir] == nil {
			c.functions[f.dir] = map[string]int{}
		}
		ast.Inspect(f.syntax, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.FuncDecl:
				if i := sqlParameter(n.Type); i >= 0 && n.Recv == nil {
					c.functions[f.dir][n.Name.Name] = i
				} else if i >= 0 {
					c.methods[n.Name.Name] = i
				}
			case *ast.InterfaceType:
				for _, m := range n.Methods.List {
					if t, ok := m.Type.(*ast.FuncType); ok && sqlParameter(t) >= 0 {
						c.methods[m.Names[0].Name] = sqlParameter(t)
					}
				}
			case *ast.AssignStmt: // such as get := func(sql string) …
				for i, e := range n.Rhs {
					fn, ok := e.(*ast.FuncLit)
					if name, named := n.Lhs[min(i, len(n.Lhs)-1)].(*ast.Ident); ok && named &&
						sqlParameter(fn.Type) >= 0 {
						c.functions[f.dir][name.Name] = sqlParameter(fn.Type)
					}
				}
			}
			return true
		})
	}
	return c
}

// sqlParameter returns the index of the parameter "sql string", or -1.
func sqlParameter(t *ast.FuncType) int {
	at := 0
	for _, p := range t.Params.List {
		kind, _ := p.Type.(*ast.Ident)
		for _, name := range p.Names {
			if name.Name == "sql" && kind != nil && kind.Name == "string" {
				return at
			}
			at++
		}
		if len(p.Names) == 0 {
			at++
		}
	}
	return -1
}

// A statement is one call that runs SQL.
type statement struct {
	file *file
	line int
	fn   string     // the function that contains the call
	sql  string     // with holes for parts that are not constant
	made bool       // built by fmt.Sprintf
	args []ast.Expr // the arguments after the statement
	open bool       // the last argument is a slice with the remaining ones
}

// statements returns all calls that run SQL in shipped files.
func (tr *tree) statements() []statement {
	var out []statement
	for _, f := range tr.shipped("internal", "cmd", "bench") {
		if isHelper(f.dir) {
			continue // statements of test helpers run in every test anyway
		}
		for _, d := range f.syntax.Decls {
			r, fn, passes := tr.reader(f, d), "", false
			if decl, ok := d.(*ast.FuncDecl); ok {
				fn, passes = enclosing(decl), passesOn(decl)
			}
			ast.Inspect(d, func(n ast.Node) bool {
				call, ok := n.(*ast.CallExpr)
				if !ok {
					return true
				}
				at := tr.carried(f, call)
				if at < 0 || at >= len(call.Args) {
					return true
				}
				arg := call.Args[at]
				if name, ok := arg.(*ast.Ident); ok && name.Name == "sql" && passes {
					return true // its callers are checked instead
				}
				out = append(out, statement{
					file: f, line: tr.line(arg), fn: fn, sql: r.text(arg), made: r.sprintf(arg), args: call.Args[at+1:],
					open: call.Ellipsis.IsValid(),
				})
				return true
			})
		}
	}
	return out
}

// passesOn reports whether the function, or one inside it, has a statement as its parameter sql and
// does not change it.
func passesOn(d *ast.FuncDecl) bool {
	takes, changes := false, false
	ast.Inspect(d, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncType:
			takes = takes || sqlParameter(n) >= 0
		case *ast.AssignStmt:
			for _, e := range n.Lhs {
				name, ok := e.(*ast.Ident)
				changes = changes || ok && name.Name == "sql"
			}
		}
		return true
	})
	return takes && !changes
}

// carried returns the index of the call's argument that is a statement, or -1.
func (tr *tree) carried(f *file, call *ast.CallExpr) int {
	fun := call.Fun
	switch x := fun.(type) { // without type arguments
	case *ast.IndexExpr:
		fun = x.X
	case *ast.IndexListExpr:
		fun = x.X
	}
	switch x := fun.(type) {
	case *ast.Ident:
		if i, ok := tr.carriers.functions[f.dir][x.Name]; ok {
			return i
		}
	case *ast.SelectorExpr:
		if pkg, ok := x.X.(*ast.Ident); ok {
			for _, i := range f.syntax.Imports {
				if f.imported(unquote(i.Path)) != pkg.Name {
					continue
				}
				dir, _ := strings.CutPrefix(unquote(i.Path), module+"/")
				if at, ok := tr.carriers.functions[dir][x.Sel.Name]; ok {
					return at
				}
				return -1 // a function of a package, not a method
			}
		}
		if (x.Sel.Name == "Queue" || x.Sel.Name == "Prepare") && f.imported(pgxPath) == "" {
			return -1 // not a method of pgx
		}
		if i, ok := tr.carriers.methods[x.Sel.Name]; ok {
			return i
		}
	}
	return -1
}

// sprintf reports whether the expression, or the value of the named variable, is a call of
// fmt.Sprintf.
func (r reader) sprintf(e ast.Expr) bool {
	if name, ok := e.(*ast.Ident); ok && r.locals[name.Name] != nil {
		e = r.locals[name.Name]
	}
	call, ok := e.(*ast.CallExpr)
	if !ok {
		return false
	}
	sel, ok := call.Fun.(*ast.SelectorExpr)
	return ok && sel.Sel.Name == "Sprintf"
}

// named returns the named arguments of the statement that the call contains. It returns nil if the
// arguments are not named, or come from elsewhere.
func (s statement) named() map[string]any {
	if len(s.args) != 1 {
		return nil
	}
	lit, ok := s.args[0].(*ast.CompositeLit)
	if !ok {
		return nil
	}
	out := map[string]any{}
	for _, e := range lit.Elts {
		pair, ok := e.(*ast.KeyValueExpr)
		if !ok {
			return nil
		}
		key, ok := pair.Key.(*ast.BasicLit)
		if !ok || key.Kind != token.STRING {
			return nil
		}
		out[unquote(key)] = nil
	}
	return out
}

var (
	firstWord = regexp.MustCompile(`^(?:\s|--[^\n]*\n)*(\w*)`)
	temporary = regexp.MustCompile(`(?is)^\s*create\s+(?:local\s+)?temp(?:orary)?\s+table\b`)
	onCommit  = regexp.MustCompile(`(?i)\bon\s+commit\s+(?:drop|delete\s+rows)\b`)
)

// utilities are the first words of statements that PostgreSQL cannot prepare.
var utilities = strings.Fields(
	`alter analyze begin call checkpoint commit copy create discard drop grant listen lock notify refresh reindex release reset
	revoke rollback savepoint set show truncate unlisten vacuum`)

// prepared checks every SQL statement of the program. PostgreSQL prepares it against the migrated
// schema, and its arguments must fit.
func prepared(t *testing.T, tr *tree) []finding {
	t.Helper()
	ctx := t.Context()
	conn, err := pgtest.New(t).Acquire(ctx)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Release()
	var out []finding
	all := tr.statements()
	count := map[string]int{}
	for _, s := range all {
		// Create temporary tables first, and keep them after the transaction: the statements that
		// use them are prepared separately.
		if temporary.MatchString(s.sql) && !strings.Contains(s.sql, hole) {
			if _, err := conn.Exec(ctx, onCommit.ReplaceAllString(s.sql, "")); err != nil {
				out = append(out, s.fault("sql", "PostgreSQL refuses it: %s", refusal(err, s.sql)))
			}
		}
	}
	for _, s := range all {
		switch word := strings.ToLower(firstWord.FindStringSubmatch(s.sql)[1]); {
		case s.made:
			count["made by Sprintf"]++
			out = append(out, s.fault("unchecked",
				"the statement is made by fmt.Sprintf, so nothing checks it before it runs"))
		case strings.Contains(s.sql, hole):
			count["not constant"]++
			out = append(out, s.fault("unchecked",
				"the statement is not constant, so nothing checks it before it runs; build it from constants beside the "+
					"call"))
		case slices.Contains(utilities, word):
			count["utility, not preparable"]++
		default:
			count["prepared"]++
			if why := s.prepare(ctx, conn.Conn()); why != "" {
				out = append(out, s.fault("sql", "%s", why))
			}
		}
	}
	t.Logf("statements: %d; %v", len(all), count)
	return out
}

// fault returns a finding of a kind. Statements that cannot be checked have a different key. So
// excusing one of them in a function does not excuse a statement in it that PostgreSQL rejects.
func (s statement) fault(kind, format string, args ...any) finding {
	return finding{
		s.file.path, s.line, fmt.Sprintf(format, args...),
		strings.TrimSpace(kind + " " + s.file.path + " " + s.fn),
	}
}

// prepare returns the error of the statement, or "".
func (s statement) prepare(ctx context.Context, c *pgx.Conn) string {
	sql, names, err := pgx.NamedArgs{}.RewriteQuery(ctx, c, s.sql, nil)
	if err != nil {
		return err.Error()
	}
	if given := s.named(); given != nil {
		// For a name that is not among the arguments, pgx sends NULL without an error, so the
		// statement would affect the wrong rows.
		if sql, names, err = pgx.StrictNamedArgs(given).RewriteQuery(ctx, c, s.sql, nil); err != nil {
			return strings.NewReplacer("StrictNamedArgs", "the named arguments").Replace(err.Error())
		}
	}
	if len(names) > 0 && len(s.args) != 1 {
		return "the statement has named arguments, and the call gives positional ones"
	}
	d, err := c.Prepare(ctx, "", sql)
	if err != nil {
		return "PostgreSQL refuses it: " + refusal(err, sql)
	}
	if len(names) == 0 && !s.open && len(s.args) != len(d.ParamOIDs) && s.named() == nil {
		return fmt.Sprintf("the statement takes %d arguments, the call gives %d", len(d.ParamOIDs), len(s.args))
	}
	return ""
}

// refusal returns PostgreSQL's message with the position of the error.
func refusal(err error, sql string) string {
	pe, ok := errors.AsType[*pgconn.PgError](err)
	if !ok {
		return err.Error()
	}
	at := int(pe.Position) - 1
	if runes := []rune(sql); at >= 0 && at < len(runes) {
		rest := strings.Join(strings.Fields(string(runes[at:min(at+40, len(runes))])), " ")
		return fmt.Sprintf("%s, at: %s", pe.Message, rest)
	}
	return pe.Message
}
