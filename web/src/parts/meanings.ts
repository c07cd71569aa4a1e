import type { MessageDescriptor } from "@lingui/core";
import { msg } from "@lingui/core/macro";

/**
 * The meanings of errors, by code. The server's own text is English but more exact, so screens show it after the
 * meaning.
 */
export const meanings: Record<string, MessageDescriptor> = {
  VALIDATION_ERROR: msg`Check what you entered.`,
  INVALID_REFERENCE: msg`Check what you entered.`,
  INVALID_LOGIN: msg`Sign-in failed.`,
  FORBIDDEN: msg`You’re not allowed to do this.`,
  NOT_FOUND: msg`This no longer exists.`,
  CONFLICT: msg`This doesn’t fit with what’s already there, or someone changed it in the meantime.`,
  SLUG_CONFLICT: msg`This name is already taken.`,
  IN_USE: msg`This is still in use.`,
  SYSTEM_PROTECTED: msg`coffer needs this, so it can’t be changed or deleted.`,
  LAST_ADMIN: msg`The household needs at least one admin who can sign in.`,
  PAYLOAD_TOO_LARGE: msg`This is too large.`,
  RATE_LIMITED: msg`Too many requests. Wait a moment and try again.`,
  UNAVAILABLE: msg`The server is busy. Try again in a moment.`,
  INTERNAL_ERROR: msg`Something went wrong on the server.`,
  CONNECTION_NOT_SYNCABLE: msg`This bank can’t sync until you reconnect it.`,
  PROVIDER_ERROR: msg`The bank or service on the other side reported a problem.`,
  PROVIDER_TIMEOUT: msg`The bank or service on the other side didn’t answer in time. Try again later.`,
  PROVIDER_NOT_CONFIGURED: msg`An admin needs to set this up in Settings first.`,
  RUN_LIMIT: msg`A limit was reached.`,
};
