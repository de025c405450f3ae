# Becomes the first process of a throwaway machine. Called by machine.sh inside new namespaces, with a scratch folder; CHECKOUT,
# PROGRAMS and ARCHIVE are in the environment.
set -euo pipefail

scratch=$1
layers=$scratch/root

mount_files() {
  mount --make-rprivate /
  mount -t tmpfs -o size=4g layers "$layers"
  mkdir "$layers/upper" "$layers/work" "$layers/root"
  mount -t overlay machine -o "lowerdir=/,upperdir=$layers/upper,workdir=$layers/work" "$layers/root"
  cd "$layers/root"
  mount -t proc proc proc
  # Settings of the kernel are this machine's too.
  mount --bind proc/sys proc/sys
  mount -o remount,bind,ro proc/sys
  mount -t sysfs -o ro sysfs sys
  # The devices are this machine's, except its terminals and shared memory.
  mount --rbind /dev dev
  mount -t devpts -o newinstance,ptmxmode=666,mode=620 devpts dev/pts
  mount -t tmpfs -o mode=1777 tmpfs dev/shm
  mount_control_groups
  local folder
  # What other users of this machine keep, and what its services have made.
  for folder in root run tmp home etc/postgresql var/lib/postgresql var/log; do mount -t tmpfs -o mode=755 tmpfs "$folder"; done
  chmod 1777 tmp
  mkdir var/log/postgresql run/checks
  chown postgres:adm var/log/postgresql
  chown postgres:postgres var/lib/postgresql
}

mount_control_groups() {
  if [[ ! -d /sys/fs/cgroup/unified ]]; then
    mount -t cgroup2 cgroup2 sys/fs/cgroup
    return
  fi
  mount -t tmpfs -o mode=755 tmpfs sys/fs/cgroup
  mkdir sys/fs/cgroup/systemd sys/fs/cgroup/unified
  mount -t cgroup -o none,name=systemd cgroup sys/fs/cgroup/systemd
  mount -t cgroup2 cgroup2 sys/fs/cgroup/unified
}

# Only what a guide starts runs: of this machine's own services none.
quiet_services() {
  local unit
  rm -rf etc/systemd/system/*.wants
  for unit in sysctl modules-load remount-fs binfmt networkd resolved timesyncd; do
    ln -sf /dev/null "etc/systemd/system/systemd-$unit.service"
  done
}

# The reader has a clone. Building is done: the compiler's stand-in only says where the result is.
fill_clone() {
  git clone --quiet "$CHECKOUT" root/tacet
  mkdir run/checks/programs run/checks/archive
  mount --bind "$PROGRAMS" run/checks/programs
  cp "$ARCHIVE" run/checks/archive/
  cp "$CHECKOUT"/deploy/checks/* run/checks/
  cat >root/tacet/deploy/build <<'BUILD'
#!/bin/sh
echo 'This machine has the archive already.'
mkdir -p .release && cp /run/checks/archive/* .release/
BUILD
  cat >usr/local/bin/swift <<'SWIFT'
#!/bin/sh
case " $* " in
*' --show-bin-path '*) echo /run/checks/programs ;;
*) echo "This machine has the result of swift $* already." ;;
esac
SWIFT
  chmod 755 root/tacet/deploy/build usr/local/bin/swift
}

mount_files
quiet_services
fill_clone
ip link set lo up
touch "$scratch/up"
# No chroot: processes in one cannot have user namespaces, which units use.
mkdir old
pivot_root . old
umount -l /old
rmdir /old
exec env -i container=checks PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin \
  /lib/systemd/systemd --system --unit=basic.target --log-target=journal
