package rest

import (
	"net/http"
	"strings"

	"coffer/internal/people/auth"
	"coffer/internal/platform/errs"
	"coffer/internal/platform/op"
)

func (d *document) components() op.Tree {
	envelope := d.answer(op.SchemaOf[errs.Face]())
	var responses op.Tree
	statuses := sorted(d.statuses)
	for _, status := range statuses {
		if status == http.StatusNotModified {
			responses.Add(responseName(status), op.Tree{{Key: "description", Value: "The record has not changed"}})
			continue
		}
		var codes []string
		for _, c := range errs.Codes() {
			if c.Status() == status {
				codes = append(codes, string(c))
			}
		}
		responses.Add(responseName(status), op.Tree{
			{Key: "description", Value: "One of: " + strings.Join(codes, ", ")},
			{Key: "content", Value: op.Tree{{Key: "application/json", Value: op.Tree{
				{Key: "schema", Value: envelope},
				{Key: "example", Value: op.Tree{{
					Key: "error",
					Value: op.Tree{
						{Key: "code", Value: codes[0]},
						{Key: "message", Value: "What is wrong and what to do."},
					},
				}}},
			}}}},
		})
	}
	var schemas op.Tree
	for _, name := range sorted(keySet(d.schemas)) {
		schemas.Add(name, d.schemas[name])
	}
	text := op.Tree{{Key: "type", Value: "string"}}
	header := func(name, description string, schema op.Tree) op.Tree {
		return op.Tree{
			{Key: "name", Value: name},
			{Key: "in", Value: "header"},
			{Key: "description", Value: description},
			{Key: "schema", Value: schema},
		}
	}
	return op.Tree{
		{Key: "securitySchemes", Value: op.Tree{{Key: "apiKey", Value: op.Tree{
			{Key: "type", Value: "apiKey"},
			{Key: "in", Value: "header"},
			{Key: "name", Value: "X-API-Key"},
			{Key: "description", Value: "coffer_ and 43 base62 characters; created with `coffer key create`"},
		}}, {Key: "session", Value: op.Tree{
			{Key: "type", Value: "apiKey"},
			{Key: "in", Value: "cookie"},
			{Key: "name", Value: auth.SessionCookie},
			{
				Key:   "description",
				Value: "Set by POST /auth/login in a member's browser; an API key in the same request takes precedence",
			},
		}}}},
		{Key: "parameters", Value: op.Tree{
			{Key: "IdempotencyKey", Value: header("Idempotency-Key",
				"Repeating a call with the same key within 24 hours returns the stored response and has no second "+
					"effect.", op.Tree{
					{Key: "type", Value: "string"},
					{Key: "maxLength", Value: op.MaxIdempotencyKey},
				})},
			{Key: "Member", Value: header(memberHeader,
				"The id of the member that the call is for; 409 if somebody else is signed in.", text)},
			{Key: "IfMatch", Value: header("If-Match", "The ETag of the record you read; 412 if it has changed since.",
				text)},
			{Key: "IfNoneMatch", Value: header("If-None-Match", "The ETag you have; 304 if the record has not changed.",
				text)},
		}},
		{Key: "headers", Value: op.Tree{{
			Key: "ETag",
			Value: op.Tree{
				{Key: "description", Value: "Identifies this version of the record"},
				{Key: "schema", Value: text},
			},
		}, {
			Key: "Change",
			Value: op.Tree{
				{
					Key:   "description",
					Value: "Id of the recorded change; pass it to revert. Missing if the call changed nothing",
				},
				{Key: "schema", Value: op.Tree{{Key: "type", Value: "string"}, {Key: "format", Value: "uuid"}}},
			},
		}}},
		{Key: "responses", Value: responses},
		{Key: "schemas", Value: schemas},
	}
}
