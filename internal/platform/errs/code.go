package errs

import (
	"maps"
	"net/http"
	"slices"
)

// A Code identifies a kind of failure. Codes are a stable contract: a code is never renamed, and
// its meaning never changes.
type Code string

// The codes of the contract. A new code needs a line here and a line in the table below.
const (
	ValidationError      Code = "VALIDATION_ERROR"
	InvalidBody          Code = "INVALID_BODY"
	InvalidCursor        Code = "INVALID_CURSOR"
	InvalidReference     Code = "INVALID_REFERENCE"
	MissingAPIKey        Code = "MISSING_API_KEY"
	InvalidAPIKey        Code = "INVALID_API_KEY"
	ExpiredAPIKey        Code = "EXPIRED_API_KEY"
	RevokedAPIKey        Code = "REVOKED_API_KEY"
	InvalidSignature     Code = "INVALID_SIGNATURE"
	InvalidLogin         Code = "INVALID_LOGIN"
	InsufficientScope    Code = "INSUFFICIENT_SCOPE"
	Forbidden            Code = "FORBIDDEN"
	ProofRequired        Code = "PROOF_REQUIRED"
	NotFound             Code = "NOT_FOUND"
	MethodNotAllowed     Code = "METHOD_NOT_ALLOWED"
	NotAcceptable        Code = "NOT_ACCEPTABLE"
	PayloadTooLarge      Code = "PAYLOAD_TOO_LARGE"
	UnsupportedMediaType Code = "UNSUPPORTED_MEDIA_TYPE"
	Conflict             Code = "CONFLICT"
	SlugConflict         Code = "SLUG_CONFLICT"
	SystemProtected      Code = "SYSTEM_PROTECTED"
	InUse                Code = "IN_USE"
	ConnNotSyncable      Code = "CONNECTION_NOT_SYNCABLE"
	IdempotencyConflict  Code = "IDEMPOTENCY_CONFLICT"
	IdempotencyRunning   Code = "IDEMPOTENCY_IN_PROGRESS"
	LastAdmin            Code = "LAST_ADMIN"
	RunLimit             Code = "RUN_LIMIT"
	PreconditionFailed   Code = "PRECONDITION_FAILED"
	ProviderNotConfig    Code = "PROVIDER_NOT_CONFIGURED"
	EncryptionKeyNeeded  Code = "ENCRYPTION_KEY_REQUIRED"
	RateLimited          Code = "RATE_LIMITED"
	InternalError        Code = "INTERNAL_ERROR"
	Unavailable          Code = "UNAVAILABLE"
	ProviderError        Code = "PROVIDER_ERROR"
	ProviderTimeout      Code = "PROVIDER_TIMEOUT"
)

// A Kind is a family of codes that callers treat alike. It decides whether a job is retried and
// which exit code a command returns.
type Kind string

// The kinds.
const (
	KindInvalid         Kind = "invalid"
	KindUnauthenticated Kind = "unauthenticated"
	KindForbidden       Kind = "forbidden"
	KindNotFound        Kind = "not_found"
	KindConflict        Kind = "conflict"
	KindPrecondition    Kind = "precondition"
	KindLimited         Kind = "limited"
	KindUpstream        Kind = "upstream"
	KindUnavailable     Kind = "unavailable"
	KindInternal        Kind = "internal"
)

type face struct {
	kind   Kind
	status int
}

var table = map[Code]face{
	ValidationError:      {KindInvalid, http.StatusBadRequest},
	InvalidBody:          {KindInvalid, http.StatusBadRequest},
	InvalidCursor:        {KindInvalid, http.StatusBadRequest},
	InvalidReference:     {KindInvalid, http.StatusBadRequest},
	MissingAPIKey:        {KindUnauthenticated, http.StatusUnauthorized},
	InvalidAPIKey:        {KindUnauthenticated, http.StatusUnauthorized},
	ExpiredAPIKey:        {KindUnauthenticated, http.StatusUnauthorized},
	RevokedAPIKey:        {KindUnauthenticated, http.StatusUnauthorized},
	InvalidSignature:     {KindUnauthenticated, http.StatusUnauthorized},
	InvalidLogin:         {KindUnauthenticated, http.StatusUnauthorized},
	InsufficientScope:    {KindForbidden, http.StatusForbidden},
	Forbidden:            {KindForbidden, http.StatusForbidden},
	ProofRequired:        {KindForbidden, http.StatusForbidden},
	NotFound:             {KindNotFound, http.StatusNotFound},
	MethodNotAllowed:     {KindInvalid, http.StatusMethodNotAllowed},
	NotAcceptable:        {KindInvalid, http.StatusNotAcceptable},
	PayloadTooLarge:      {KindInvalid, http.StatusRequestEntityTooLarge},
	UnsupportedMediaType: {KindInvalid, http.StatusUnsupportedMediaType},
	Conflict:             {KindConflict, http.StatusConflict},
	SlugConflict:         {KindConflict, http.StatusConflict},
	SystemProtected:      {KindConflict, http.StatusConflict},
	InUse:                {KindConflict, http.StatusConflict},
	ConnNotSyncable:      {KindConflict, http.StatusConflict},
	IdempotencyConflict:  {KindConflict, http.StatusConflict},
	IdempotencyRunning:   {KindConflict, http.StatusConflict},
	LastAdmin:            {KindConflict, http.StatusConflict},
	RunLimit:             {KindConflict, http.StatusConflict},
	PreconditionFailed:   {KindPrecondition, http.StatusPreconditionFailed},
	ProviderNotConfig:    {KindPrecondition, http.StatusUnprocessableEntity},
	EncryptionKeyNeeded:  {KindPrecondition, http.StatusUnprocessableEntity},
	RateLimited:          {KindLimited, http.StatusTooManyRequests},
	InternalError:        {KindInternal, http.StatusInternalServerError},
	Unavailable:          {KindUnavailable, http.StatusServiceUnavailable},
	ProviderError:        {KindUpstream, http.StatusBadGateway},
	ProviderTimeout:      {KindUpstream, http.StatusGatewayTimeout},
}

// Kind returns the family of the code; a code that is not in the table counts as internal.
func (c Code) Kind() Kind {
	if f, ok := table[c]; ok {
		return f.kind
	}
	return KindInternal
}

// Status returns the HTTP status of the code.
func (c Code) Status() int {
	if f, ok := table[c]; ok {
		return f.status
	}
	return http.StatusInternalServerError
}

// Codes lists every code, sorted.
func Codes() []Code { return slices.Sorted(maps.Keys(table)) }

// Enum lists every code for the OpenAPI document.
func (Code) Enum() []string {
	var out []string
	for _, c := range Codes() {
		out = append(out, string(c))
	}
	return out
}
