#!/bin/sh
# Stops the servers before the package is removed, as root, but not before an upgrade. Settings and
# backups stay.
set -eu

# The argument of dpkg and apk is the action; that of rpm is the number of versions that remain.
if [ "${1:-remove}" = remove ] || [ "${1:-}" = 0 ]; then
  if [ -d /run/systemd/system ]; then
    systemctl disable --now coffer.service coffer-backup.timer || true
    systemctl stop 'coffer@*.service' || true
  fi
fi
