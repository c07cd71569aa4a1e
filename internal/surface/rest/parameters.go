package rest

import (
	"net/http"

	"coffer/internal/platform/op"
)

// parameters prints the path, query and header parameters of an op.
func (d *document) parameters(o *op.Op) []op.Tree {
	var list []op.Tree
	for _, p := range o.In.Props {
		if p.In != op.InPath && p.In != op.InQuery {
			continue
		}
		list = append(list, d.parameter(p, p.In))
	}
	header := func(name string) {
		list = append(list, op.Tree{{Key: "$ref", Value: "#/components/parameters/" + name}})
	}
	if o.Replayable() {
		header("IdempotencyKey")
		header("Member")
	}
	switch o.Method {
	case http.MethodPatch, http.MethodPut:
		header("IfMatch")
	case http.MethodGet:
		if o.IsRecord() {
			header("IfNoneMatch")
		}
	}
	return list
}

// parameter prints one input from the path or the query.
func (d *document) parameter(p op.Prop, in string) op.Tree {
	t := op.Tree{{Key: "name", Value: p.Name}, {Key: "in", Value: in}}
	description := p.Description
	if description == "" {
		description = called(p.Name)
	}
	t.Add("description", description)
	if p.Required {
		t.Add("required", true)
	}
	if p.Type == "array" { // repeated, or comma-separated in one value
		t.Add("style", "form")
		t.Add("explode", true)
	}
	s := *p.Schema
	s.Description = ""
	t.Add("schema", s.JSON(d.ref))
	return t
}
