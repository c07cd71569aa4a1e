package rulebook

import (
	"coffer/internal/platform/op"
	"coffer/internal/rules/engine"
)

// object returns an object schema with those properties and no others.
func object(required []string, properties ...op.Member) op.Tree {
	return op.Tree{
		{Key: "type", Value: "object"},
		{Key: "properties", Value: op.Tree(properties)},
		{Key: "required", Value: required},
		{Key: "additionalProperties", Value: false},
	}
}

func stringOf(values ...string) op.Tree {
	t := op.Tree{{Key: "type", Value: "string"}}
	if len(values) > 0 {
		list := make([]any, len(values))
		for i, v := range values {
			list[i] = v
		}
		t.Add("enum", list)
	}
	return t
}

// Spell describes conditions in the OpenAPI document as a tree. The engine itself validates them
// and reports faults with paths.
func (Conditions) Spell() []op.Member {
	self := op.Tree{{Key: "$ref", Value: "#/components/schemas/RuleCondition"}}
	several := op.Tree{{Key: "type", Value: "array"}, {Key: "items", Value: self}, {Key: "minItems", Value: 1}}
	texts := op.Tree{{Key: "type", Value: "array"}, {Key: "items", Value: stringOf()}}
	number := op.Tree{{Key: "type", Value: "number"}, {Key: "format", Value: "decimal"}}
	boolean := op.Tree{{Key: "type", Value: "boolean"}}
	return []op.Member{{Key: "RuleCondition", Value: op.Tree{
		{Key: "description", Value: "A comparison, or a combination of conditions up to 10 deep; {} matches every " +
			"transaction"},
		{Key: "anyOf", Value: []op.Tree{
			{{Key: "$ref", Value: "#/components/schemas/RuleComparison"}},
			object([]string{"and"}, op.Member{Key: "and", Value: several}),
			object([]string{"or"}, op.Member{Key: "or", Value: several}),
			object([]string{"not"}, op.Member{Key: "not", Value: self}),
			{{Key: "type", Value: "object"}, {Key: "maxProperties", Value: 0}},
		}},
	}}, {Key: "RuleComparison", Value: object([]string{"field", "op", "value"},
		op.Member{Key: "field", Value: stringOf(engine.AllFields.Names()...)},
		op.Member{Key: "op", Value: stringOf(engine.Operators()...)},
		op.Member{Key: "value", Value: op.Tree{
			{Key: "description", Value: "A list of texts for in, a number for amount, a boolean for pending, else " +
				"a text"},
			{Key: "anyOf", Value: []op.Tree{stringOf(), number, boolean, texts}},
		}})}}
}

// Spell describes an action in the OpenAPI document as one of its types.
func (Action) Spell() []op.Member {
	of := func(required []string, kind string, fields ...string) op.Tree {
		properties := []op.Member{{Key: "type", Value: stringOf(kind)}}
		for _, f := range fields {
			properties = append(properties, op.Member{Key: f, Value: stringOf()})
		}
		return object(append([]string{"type"}, required...), properties...)
	}
	slug, tag, content := []string{"category_slug"}, []string{"tag_slug"}, []string{"content"}
	return []op.Member{{Key: "RuleAction", Value: op.Tree{
		{Key: "description", Value: "What a rule does to a transaction that it matches. add_tag registers an unknown " +
			"slug; add_comment runs only at sync; assign_counterparty takes counterparty_id or counterparty_name"},
		{Key: "oneOf", Value: []op.Tree{
			of(slug, engine.SetCategory, slug...), of(tag, engine.AddTag, tag...), of(tag, engine.RemoveTag, tag...),
			of(content, engine.AddComment, content...),
			of(nil, engine.AssignCounterparty, "counterparty_id", "counterparty_name"),
		}},
	}}}
}
