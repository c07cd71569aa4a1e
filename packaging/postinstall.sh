#!/bin/sh
# Runs after installing or upgrading, as root. COFFER_ROOT is another root directory, for tests.
set -eu

directory=${COFFER_ROOT:-}/etc/coffer
settings=$directory/env

# The settings contain the encryption key. This script creates them, and they belong to no package,
# so that no package manager replaces or deletes them.
if [ ! -e "$settings" ]; then
  mkdir -p "$directory"
  chmod 700 "$directory"
  (
    umask 077
    cat > "$settings.new" <<SETTINGS
# Settings of coffer, one NAME=value on each line. coffer doctor --settings lists all.

# The database: postgres://user:password@host:5432/name
#COFFER_DATABASE_URL=

# The address that people type, if not only this machine uses coffer.
#COFFER_PUBLIC_URL=https://money.example.com

# Encrypts bank credentials. Keep a copy outside this machine: without it, no one can read them in
# a backup.
COFFER_ENCRYPTION_KEY=$(head -c 32 /dev/urandom | base64)

# Encrypts backups. Keep a copy outside this machine: without it, no one can open them.
COFFER_BACKUP_PASSPHRASE=$(od -An -N20 -tx1 /dev/urandom | tr -d ' \n')

# The server writes a backup here every night, and before a new version changes the database. Copy
# them to another machine.
COFFER_BACKUP_DIR=/var/lib/coffer/backups
SETTINGS
  )
  # The file gets its name only when it is complete.
  mv "$settings.new" "$settings"
fi

if [ -z "${COFFER_ROOT:-}" ] && [ -d /run/systemd/system ]; then
  systemctl daemon-reload || true
  # Restart the servers that are running. After a first installation, none runs before it has settings.
  systemctl try-restart coffer.service || true
  # If this file exists, coffer-household restarts the households' servers, a few at a time.
  [ -e "$directory/waves" ] || systemctl try-restart 'coffer@*.service' || true
fi
