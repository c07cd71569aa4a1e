#!/bin/sh
# Runs after removing, as root. /etc/coffer stays, even after a purge, because it has the encryption key.
set -eu
if [ -d /run/systemd/system ]; then
  systemctl daemon-reload || true
fi
