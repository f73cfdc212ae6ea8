import { describe, expect, it } from 'vitest';
import { mountedType, REFUSED_FUSE, REFUSED_MAGIC } from '../../src/engine/store/filesystems.ts';

const MOUNTINFO = `22 1 8:1 / / rw,relatime shared:1 - ext4 /dev/sda1 rw
30 22 0:45 / /home/me/remote rw,nosuid - fuse.sshfs me@host:/ rw
31 30 0:46 / /home/me/remote/local rw master:3 propagate_from:2 - fuse.mergerfs a:b rw
32 22 0:47 / /mnt/with\\040blank rw - fuse.rclone x: rw
33 22 0:48 / /twice rw - fuse.sshfs a rw
34 22 0:49 / /twice rw - ext4 /dev/sdb rw
`;

describe('the type of the mount that holds a directory', () => {
  it.each([
    ['/', 'ext4'],
    ['/home/me/project', 'ext4'],
    ['/home/me/remote', 'fuse.sshfs'],
    ['/home/me/remote/a/.git/roundtable', 'fuse.sshfs'],
    ['/home/me/remote2', 'ext4'],
    ['/home/me/remote/local/x', 'fuse.mergerfs'],
    ['/mnt/with blank/x', 'fuse.rclone'],
    ['/twice/x', 'ext4'],
  ])('of %s is %s', (directory, type) => {
    expect(mountedType(MOUNTINFO, directory)).toBe(type);
  });

  it('is unknown without a mount table', () => {
    expect(mountedType('', '/x')).toBeNull();
  });
});

describe('refused file systems', () => {
  it.each([
    [0x6969, 'nfs'],
    [0x517b, 'smb'],
    [0xff534d42, 'cifs'],
    [0xfe534d42, 'smb2'],
    [0x01021997, '9p'],
    [0xef53, undefined],
    [0x01021994, undefined],
    [0x9123683e, undefined],
    [0x794c7630, undefined],
  ])('by the magic number %d: %s', (magic, name) => {
    expect(REFUSED_MAGIC.get(magic)).toBe(name);
  });

  it('among those in user space are only the remote ones', () => {
    expect(REFUSED_FUSE.has('fuse.sshfs')).toBe(true);
    expect(REFUSED_FUSE.has('fuse.mergerfs')).toBe(false);
  });
});
