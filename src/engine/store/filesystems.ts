import { readFileSync, statfsSync } from 'node:fs';

/**
 * Name of the network or host-shared file system that a directory lies on, or null for a local one. There POSIX locks
 * and shared memory don't hold between machines, and two writers would damage the database. Known on Linux only;
 * elsewhere the answer is null.
 */
export function refusedFilesystem(directory: string): string | null {
  if (process.platform !== 'linux') return null;
  const magic = statfsSync(directory).type >>> 0;
  return magic === FUSE_MAGIC ? refusedFuse(directory) : (REFUSED_MAGIC.get(magic) ?? null);
}

/** `f_type` of statfs(2) → name. */
export const REFUSED_MAGIC: ReadonlyMap<number, string> = new Map([
  [0x6969, 'nfs'],
  [0x517b, 'smb'],
  [0xff534d42, 'cifs'],
  [0xfe534d42, 'smb2'],
  [0x01021997, '9p'],
  [0x00c36400, 'ceph'],
  [0x0bd00bd0, 'lustre'],
  [0x5346414f, 'afs'],
  [0x6b414653, 'kafs'],
  [0x73757245, 'coda'],
  [0x564c, 'ncp'],
  [0x01161970, 'gfs2'],
  [0x7461636f, 'ocfs2'],
  [0x47504653, 'gpfs'],
  [0x19830326, 'beegfs'],
  [0xaad7aaea, 'panfs'],
  [0x20030528, 'orangefs'],
  [0x786f4256, 'vboxsf'],
  [0xbacbacbc, 'vmhgfs'],
  [0x7c7c6673, 'prl_fs'],
]);

/** All FUSE file systems have one magic number; which one it is stands only in the mount table. */
const FUSE_MAGIC = 0x65735546;

export const REFUSED_FUSE: ReadonlySet<string> = new Set([
  'fuse.sshfs',
  'fuse.rclone',
  'fuse.s3fs',
  'fuse.gcsfuse',
  'fuse.blobfuse2',
  'fuse.davfs',
  'fuse.curlftpfs',
  'fuse.glusterfs',
  'fuse.ceph-fuse',
  'fuse.juicefs',
  'fuse.moosefs',
  'fuse.mfs',
  'fuse.seaweedfs',
  'fuse.vmhgfs-fuse',
  'fuse.gvfsd-fuse',
]);

function refusedFuse(directory: string): string | null {
  const type = mountedType(readFileSync('/proc/self/mountinfo', 'utf8'), directory);
  return type !== null && REFUSED_FUSE.has(type) ? type : null;
}

/** Type of the innermost mount that holds `directory`, by the text of /proc/self/mountinfo (proc(5)). */
export function mountedType(mountinfo: string, directory: string): string | null {
  let best: { point: string; type: string } | null = null;
  for (const line of mountinfo.split('\n')) {
    const [before, after] = line.split(' - ');
    const point = before
      ?.split(' ')[4]
      ?.replace(/\\([0-7]{3})/g, (_, octal) => String.fromCharCode(parseInt(octal, 8)));
    const type = after?.split(' ')[0];
    if (point === undefined || type === undefined) continue;
    const holds = directory === point || directory.startsWith(point === '/' ? '/' : `${point}/`);
    // A later mount on the same point hides the earlier one.
    if (holds && (best === null || point.length >= best.point.length)) best = { point, type };
  }
  return best?.type ?? null;
}
