#!/bin/sh
# Before removing, as root; not before an upgrade. Settings and backups stay.
set -eu

# dpkg and apk say what happens; rpm says how many versions remain.
if [ "${1:-remove}" = remove ] || [ "${1:-}" = 0 ]; then
  if [ -d /run/systemd/system ]; then
    systemctl disable --now coffer.service coffer-backup.timer || true
    systemctl stop 'coffer@*.service' || true
  fi
fi
