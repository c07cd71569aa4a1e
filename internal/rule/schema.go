package rule

import (
	"encoding/json"
	"slices"
)

// An object is a part of a JSON Schema.
type object = map[string]any

// Schema is the JSON Schema of conditions and actions: its $defs hold condition, which refers to
// itself, and action.
func Schema() []byte {
	return marshal(object{"$defs": object{
		"condition": conditionSchema(object{"$ref": "#/$defs/condition"}),
		"action":    actionSchema(),
	}})
}

// ConditionSchema is a schema of conditions that does not refer to itself, for readers that follow
// no references: what stands inside and, or, not is described in words.
func ConditionSchema() []byte {
	inner := conditionSchema(object{"type": "object"})
	inner["description"] = "A nested condition: a comparison or a combinator"
	return marshal(conditionSchema(inner))
}

// ActionSchema is the schema of one action.
func ActionSchema() []byte { return marshal(actionSchema()) }

func marshal(o object) []byte {
	b, err := json.Marshal(o)
	if err != nil {
		panic(err) // it is made of strings, numbers, lists and maps
	}
	return b
}

func conditionSchema(inner object) object {
	var names []string
	for i := range operators {
		if !slices.Contains(names, operators[i].name) {
			names = append(names, operators[i].name)
		}
	}
	list := object{"type": "array", "minItems": 1, "items": inner}
	return object{
		"type": "object",
		"description": "A comparison {field, op, value}, or one of {and: […]}, {or: […]}, {not: {…}}, nested at most " +
			"10 deep; {} matches everything. " +
			`Example: {"and": [{"field": "name", "op": "contains", "value": "edeka"}, {"field": "amount", "op": "gt", "value": 50}]}`,
		"properties": object{
			"field": object{"type": "string", "enum": AllFields.Names(), "description": "The field to compare"},
			"op": object{
				"type": "string", "enum": names,
				"description": "How to compare; text ignores case except for matches",
			},
			"value": object{"description": "A string; for amount a number; for pending true or false; for in an " +
				"array of strings"},
			"and": list, "or": list, "not": inner,
		},
		"additionalProperties": false,
	}
}

func actionSchema() object {
	var types []string
	properties := object{}
	for _, e := range effects {
		types = append(types, e.name)
		for _, key := range e.payload {
			before, _ := properties[key].(object)
			said, _ := before["description"].(string)
			if said != "" {
				said += ", "
			}
			properties[key] = object{"type": "string", "description": said + "for " + e.name}
		}
	}
	properties["type"] = object{"type": "string", "enum": types, "description": "What to do"}
	return object{
		"type": "object", "properties": properties, "required": []string{"type"}, "additionalProperties": false,
		"description": `What a rule does, such as {"type": "set_category", "category_slug": "groceries"}`,
	}
}
