package archtest

import (
	"go/ast"
	"go/token"
	"strings"
)

// hole replaces a part of a text that is not constant.
const hole = "\x00"

// A constant is a named string: a constant of a package, or a variable of a function that is set
// only once.
type constant struct {
	file  *file
	value ast.Expr
}

// collectConstants finds the constants of every package that have an explicit value.
func collectConstants(files []*file) map[string]map[string]constant {
	out := map[string]map[string]constant{}
	for _, f := range files {
		if f.test {
			continue
		}
		if out[f.dir] == nil {
			out[f.dir] = map[string]constant{}
		}
		for _, d := range f.syntax.Decls {
			if g, ok := d.(*ast.GenDecl); ok && g.Tok == token.CONST {
				for _, s := range g.Specs {
					spec := s.(*ast.ValueSpec)
					for i, name := range spec.Names {
						if i < len(spec.Values) {
							out[f.dir][name.Name] = constant{f, spec.Values[i]}
						}
					}
				}
			}
		}
	}
	return out
}

// locals returns the names to which a function assigns exactly one value. It ignores scopes, so a
// name that is set or declared twice is left out.
func locals(d *ast.FuncDecl) map[string]ast.Expr {
	values, times := map[string]ast.Expr{}, map[string]int{}
	set := func(e, value ast.Expr) {
		if name, ok := e.(*ast.Ident); ok {
			values[name.Name] = value
			times[name.Name]++
		}
	}
	ast.Inspect(d, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.AssignStmt:
			for i, e := range n.Lhs {
				if n.Tok == token.DEFINE && len(n.Lhs) == len(n.Rhs) {
					set(e, n.Rhs[i])
				} else {
					set(e, nil)
				}
			}
		case *ast.ValueSpec:
			for i, name := range n.Names {
				if i < len(n.Values) && len(n.Names) == len(n.Values) {
					set(name, n.Values[i])
				} else {
					set(name, nil)
				}
			}
		case *ast.RangeStmt:
			set(n.Key, nil)
			set(n.Value, nil)
		case *ast.UnaryExpr:
			if n.Op == token.AND {
				set(n.X, nil) // code with the address may change it
			}
		case *ast.Field: // a parameter, a result, the receiver
			for _, name := range n.Names {
				set(name, nil)
			}
		}
		return true
	})
	for name, n := range times {
		if n != 1 {
			values[name] = nil
		}
	}
	return values
}

// A reader evaluates the string expressions of one function.
type reader struct {
	tr     *tree
	file   *file
	locals map[string]ast.Expr // nil outside functions
}

func (tr *tree) reader(f *file, d ast.Decl) reader {
	r := reader{tr: tr, file: f}
	if fn, ok := d.(*ast.FuncDecl); ok {
		r.locals = locals(fn)
	}
	return r
}

// text returns the value of a string expression. It supports literals, constants, variables that
// are set once, and concatenations. Unknown parts are holes.
func (r reader) text(e ast.Expr) string { return r.read(e, 0) }

func (r reader) read(e ast.Expr, depth int) string {
	if depth > 20 {
		return hole // in invalid source, a name may be defined by itself
	}
	switch e := e.(type) {
	case *ast.BasicLit:
		if e.Kind == token.STRING {
			return unquote(e)
		}
	case *ast.ParenExpr:
		return r.read(e.X, depth+1)
	case *ast.BinaryExpr:
		if e.Op == token.ADD {
			return r.read(e.X, depth+1) + r.read(e.Y, depth+1)
		}
	case *ast.Ident:
		if value, ok := r.locals[e.Name]; ok {
			if value == nil {
				return hole
			}
			return r.read(value, depth+1)
		}
		if c, ok := r.tr.constants[r.file.dir][e.Name]; ok {
			return reader{tr: r.tr, file: c.file}.read(c.value, depth+1)
		}
	case *ast.SelectorExpr:
		if c, ok := r.foreign(e); ok {
			return reader{tr: r.tr, file: c.file}.read(c.value, depth+1)
		}
	}
	return hole
}

// foreign finds a constant of another package of this module.
func (r reader) foreign(e *ast.SelectorExpr) (constant, bool) {
	name, ok := e.X.(*ast.Ident)
	if !ok {
		return constant{}, false
	}
	for _, i := range r.file.syntax.Imports {
		if dir, ours := strings.CutPrefix(unquote(i.Path), module+"/"); ours &&
			r.file.imported(module+"/"+dir) == name.Name {
			c, ok := r.tr.constants[dir][e.Sel.Name]
			return c, ok
		}
	}
	return constant{}, false
}

// texts calls visit with every text of the file and its function ("" outside functions). It visits
// concatenations as a whole, and the arguments of calls separately.
func (tr *tree) texts(f *file, visit func(at ast.Node, fn, text string)) {
	for _, d := range f.syntax.Decls {
		r, fn := tr.reader(f, d), ""
		if decl, ok := d.(*ast.FuncDecl); ok {
			fn = enclosing(decl)
		}
		var walk func(ast.Node) bool
		walk = func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.ImportSpec:
				return false
			case *ast.Field:
				if n.Tag != nil {
					ast.Inspect(n.Type, walk)
					return false // struct tags are not texts of the program
				}
			case *ast.BasicLit:
				if n.Kind == token.STRING {
					visit(n, fn, unquote(n))
				}
			case *ast.BinaryExpr:
				text := r.text(n)
				if n.Op != token.ADD || strings.Trim(text, hole) == "" {
					return true
				}
				visit(n, fn, text)
				for _, part := range summands(n) {
					if _, ok := part.(*ast.BasicLit); !ok {
						ast.Inspect(part, walk)
					}
				}
				return false
			}
			return true
		}
		ast.Inspect(d, walk)
	}
}

func summands(e ast.Expr) []ast.Expr {
	switch e := e.(type) {
	case *ast.ParenExpr:
		return summands(e.X)
	case *ast.BinaryExpr:
		if e.Op == token.ADD {
			return append(summands(e.X), summands(e.Y)...)
		}
	}
	return []ast.Expr{e}
}
