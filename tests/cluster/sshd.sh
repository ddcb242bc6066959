#!/usr/bin/env bash
# Starts or stops a private sshd on 127.0.0.1: tests/cluster/sshd.sh start|stop FOLDER PORT
# `ssh -F FOLDER/config node1` and `ssh -F FOLDER/config node2` connect to this sshd.
# The script needs root and Debian's package openssh-server.
set -u
folder="$(realpath -m "$2")"
port="$3"
case "$1" in
  start)
    mkdir -p "$folder" /run/sshd
    chmod 700 "$folder"
    for key in host id; do ssh-keygen -q -t ed25519 -N '' -f "$folder/$key" || exit 1; done
    cp "$folder/id.pub" "$folder/authorized_keys"
    cat >"$folder/sshd_config" <<EOF
ListenAddress 127.0.0.1
Port $port
HostKey $folder/host
PidFile $folder/sshd.pid
AuthorizedKeysFile $folder/authorized_keys
PermitRootLogin prohibit-password
PasswordAuthentication no
KbdInteractiveAuthentication no
UsePAM no
StrictModes no
AcceptEnv EVO_*
EOF
    echo "[127.0.0.1]:$port $(cut -d' ' -f1,2 "$folder/host.pub")" >"$folder/known_hosts"
    cat >"$folder/config" <<EOF
Host node1 node2
  HostName 127.0.0.1
  Port $port
  User root
  IdentityFile $folder/id
  IdentitiesOnly yes
  UserKnownHostsFile $folder/known_hosts
  SendEnv EVO_WORKER EVO_CLUSTER_TEST EVO_FAKE_COMPILE_MS
  LogLevel ERROR
EOF
    exec /usr/sbin/sshd -f "$folder/sshd_config" -E "$folder/sshd.log"
    ;;
  stop)
    [ -s "$folder/sshd.pid" ] && kill "$(cat "$folder/sshd.pid")"
    exit 0
    ;;
esac
echo "usage: $0 start|stop FOLDER PORT" >&2
exit 2
