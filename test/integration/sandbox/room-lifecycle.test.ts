import { chmod, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import Docker from 'dockerode';
import { extract } from 'tar-stream';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { PinnedImage, RoomSpec } from '../../../src/engine/ports/container-runtime.ts';
import {
  containerTestsEnabled,
  removeTestProject,
  testImage,
  testLabels,
  testProjectId,
  testRoomSpec,
  testRuntime,
} from '../../support/container.ts';
import { AGENT_ENV, makeSource, must, run, sh, text } from '../../support/room.ts';

const FILES = {
  'a.txt': 'hello\n',
  'bin/tool': '#!/bin/sh\necho tool\n',
  'deep/er/b.txt': 'b\n',
  'big.bin': 'x'.repeat(1_000_000),
  link: '-> a.txt',
  dangling: '-> /nonexistent',
  '.gitignore': '*.bin\n',
};

describe.skipIf(!containerTestsEnabled())('the life of a room', () => {
  const runtime = testRuntime();
  const project = testProjectId();
  const docker = new Docker();
  let image: PinnedImage;
  let source = '';
  const signal = () => AbortSignal.timeout(60_000);
  const create = async (overrides: Partial<RoomSpec> = {}) =>
    runtime.createRoom(testRoomSpec(project, image, source, overrides), signal());

  beforeAll(async () => {
    image = await testImage();
    source = await makeSource(FILES);
  });

  afterAll(async () => {
    await removeTestProject(runtime, project);
    runtime.close();
    await rm(source, { recursive: true, force: true });
  });

  it.each([
    ['copied inside', async () => {}],
    [
      'sent as an archive since something must be left out',
      async (dir: string) => {
        await mkdir(path.join(dir, '.git'));
        await writeFile(path.join(dir, '.git/config'), 'not ours');
      },
    ],
    [
      'sent as an archive since the agent may not read a file',
      (dir: string) => chmod(path.join(dir, 'deep/er/b.txt'), 0o600),
    ],
  ])('starts from a copy of the source with one commit of everything, %s', async (_, prepare) => {
    const own = await makeSource(FILES);
    await prepare(own);
    const room = must(await create({ sourceDir: own }));
    must(await room.seedWorkspace(signal()));
    await rm(own, { recursive: true });
    const listing = 'find . -path ./.git -prune -o -print | sort | xargs stat -c "%N %a %u:%g"';
    expect((await sh(room, listing)).stdout.replaceAll(/['"]/g, '').trim().split('\n')).toEqual([
      '. 700 1000:1000',
      './.gitignore 644 1000:1000',
      './a.txt 644 1000:1000',
      './big.bin 644 1000:1000',
      './bin 755 1000:1000',
      './bin/tool 755 1000:1000',
      './dangling -> /nonexistent 777 1000:1000',
      './deep 755 1000:1000',
      './deep/er 755 1000:1000',
      './deep/er/b.txt 644 1000:1000',
      './link -> a.txt 777 1000:1000',
    ]);
    expect((await sh(room, 'cat a.txt; ./bin/tool; wc -c < big.bin')).stdout).toBe('hello\ntool\n1000000\n');
    const git = await sh(
      room,
      'git rev-list --count HEAD; git ls-files | wc -l; git status --porcelain; cat .git/config',
    );
    expect(git.stdout).toMatch(/^1\n7\n\[core\]/);
    must(await room.remove());
  });

  it('seeds files that only the agent may read, in home and temp and nowhere else', async () => {
    const room = must(await create());
    const files = { '/home/agent/.roundtable/prompt.md': Buffer.from('do it'), '/tmp/key': Buffer.from([0, 255]) };
    must(await room.seedFiles(files, signal()));
    const { stdout } = await sh(
      room,
      'stat -c "%a %u:%g %s" /home/agent/.roundtable/prompt.md /tmp/key; od -An -tx1 /tmp/key',
    );
    expect(stdout).toBe('400 1000:1000 5\n400 1000:1000 2\n 00 ff\n');
    for (const file of ['/etc/x', '/roundtable/workspace/x', '/tmp/../etc/x', '/tmp/', '/home/agent//x', 'x']) {
      const refused = await room.seedFiles({ [file]: Buffer.from('') }, signal());
      expect(refused.ok ? file : refused.error.message).toMatch(/not a plain path/);
    }
    must(await room.remove());
  });

  it('runs programs with their input, outputs and exit codes kept apart', async () => {
    const room = must(await create());
    expect(await sh(room, 'cat; echo bad >&2; exit 7', 'input\0bytes')).toEqual({
      exitCode: 7,
      stdout: 'input\0bytes',
      stderr: 'bad\n',
    });
    expect(await run(room, ['printf', '%s', '$(id); "x" *'])).toMatchObject({ stdout: '$(id); "x" *', exitCode: 0 });
    expect(await sh(room, 'kill -9 $$')).toMatchObject({ exitCode: 137 });
    expect(await sh(room, 'cat; echo closed')).toMatchObject({ stdout: 'closed\n' });
    expect(await run(room, ['no-such-program'])).toMatchObject({ exitCode: 126 });
    // A program that does not read its input ends all the same.
    expect(await sh(room, 'exit 3', 'x'.repeat(2_000_000))).toMatchObject({ exitCode: 3 });
    must(await room.remove());
  });

  it('cuts the streams of a program when it is cancelled, and says so', async () => {
    const room = must(await create());
    const stop = new AbortController();
    const spec = { argv: ['sh', '-c', 'echo on; sleep 60'] as const, env: AGENT_ENV, cwd: '/tmp', stdin: null };
    const running = must(await room.exec({ ...spec, argv: [...spec.argv] }, stop.signal));
    running.stdout.once('data', () => stop.abort());
    const exit = await running.done;
    expect(exit.ok ? 'ok' : exit.error.code).toBe('cancelled');
    must(await room.killAgent(0));
    expect((await sh(room, 'ps -o user,comm | grep -c "^agent *sleep"')).stdout).toBe('0\n');
    must(await room.remove());
  });

  it('exports a paused workspace and refuses a running one', async () => {
    const room = must(await create());
    must(await room.seedWorkspace(signal()));
    await sh(room, 'echo new > new.txt; rm a.txt; rm -rf .git');
    const early = await room.exportWorkspace(signal());
    expect(early.ok ? 'exported' : early.error.message).toMatch(/running, not paused/);
    must(await room.pause());
    must(await room.pause());
    expect(must(await room.status())).toEqual({ state: 'paused', oomKilled: false });
    const entries = await listArchive(must(await room.exportWorkspace(signal())));
    expect(entries).toContain('./new.txt');
    expect(entries).toContain('./link -> a.txt');
    expect(entries).not.toContain('./a.txt');
    must(await room.unpause());
    must(await room.unpause());
    expect((await sh(room, 'cat new.txt')).stdout).toBe('new\n');
    must(await room.remove());
  });

  it('can be removed twice, and answers that it is gone', async () => {
    const room = must(await create());
    must(await room.pause());
    must(await room.remove());
    must(await room.remove());
    expect(must(await room.status()).state).toBe('gone');
    must(await room.killAgent(0));
    const ran = await room.exec({ argv: ['true'], env: {}, cwd: '/', stdin: null }, signal());
    expect(ran.ok ? 'ran' : ran.error.code).toBe('container_gone');
    const exported = await room.exportWorkspace(signal());
    expect(exported.ok ? 'exported' : exported.error.code).toBe('container_gone');
    expect(await leftovers('S-1')).toEqual([]);
  });

  it('answers null as exit code of a program whose room vanishes', async () => {
    const room = must(await create());
    const running = must(
      await room.exec({ argv: ['sh', '-c', 'echo on; sleep 60'], env: AGENT_ENV, cwd: '/', stdin: null }, signal()),
    );
    await new Promise((resolve) => running.stdout.once('readable', resolve));
    const both = Promise.all([text(running.stdout), text(running.stderr)]);
    must(await room.remove());
    await both;
    const exit = must(await running.done);
    expect([null, 137]).toContain(exit.exitCode);
  });

  it('applies a stricter seccomp profile', async () => {
    const profile = { defaultAction: 'SCMP_ACT_ERRNO', syscalls: [{ names: FEW_SYSCALLS, action: 'SCMP_ACT_ALLOW' }] };
    await withFile(JSON.stringify(profile), async (seccompProfile) => {
      const room = must(await create({ seccompProfile }));
      const { stdout, stderr } = await sh(room, 'echo works; mkdir /tmp/dir');
      expect(stdout).toBe('works\n');
      expect(stderr).toMatch(/mkdir.*Operation not permitted/);
      must(await room.remove());
    });
  });

  describe('when a step of the creation fails, leaves nothing behind', () => {
    const bad = 'S-undo';
    const attempt = async (overrides: Partial<RoomSpec>, abort = signal()) => {
      const spec = testRoomSpec(project, image, source, {
        labels: testLabels(project, { ownerId: bad }),
        ...overrides,
      });
      const made = await runtime.createRoom(spec, abort);
      return made.ok ? made.value : made.error;
    };

    it('with a seccomp profile that is not there', async () => {
      expect(await attempt({ seccompProfile: '/nonexistent.json' })).toMatchObject({ code: 'engine_failed' });
      expect(await leftovers(bad)).toEqual([]);
    });

    it.each([
      [
        'the engine refuses at the start',
        '{"defaultAction":"SCMP_ACT_ERRNO","syscalls":"nonsense"}',
        /create|start container/,
      ],
      ['is no JSON', 'unconfined', /can't be read as JSON/],
      ['is no profile', '[]', /no defaultAction/],
      ['allows what it does not name', '{"defaultAction":"SCMP_ACT_ALLOW"}', /allows what it does not name/],
    ])('with a seccomp profile that %s', async (_, profile, message) => {
      await withFile(profile, async (seccompProfile) => {
        const error = await attempt({ seccompProfile });
        expect(error).toMatchObject({ code: 'engine_failed', message: expect.stringMatching(message) });
        expect(await leftovers(bad)).toEqual([]);
      });
    });

    it('with an image that is not there', async () => {
      const imageId = `sha256:${'0'.repeat(64)}`;
      const error = await attempt({ image: { reference: imageId, imageId, sizeBytes: 0 } });
      expect(error).toMatchObject({ code: 'image_missing', remedy: expect.stringContaining('image build') });
      expect(await leftovers(bad)).toEqual([]);
    });

    it('with a source that is not there', async () => {
      expect(await attempt({ sourceDir: '/nonexistent/source' })).toMatchObject({ code: 'engine_failed' });
      expect(await leftovers(bad)).toEqual([]);
    });

    it('when it is cancelled at any moment', async () => {
      for (const delayMs of [0, 5, 15, 40, 80, 160]) {
        const outcome = await attempt({}, AbortSignal.timeout(delayMs));
        // The last delays may come too late: then the room is there, whole.
        if ('remove' in outcome) must(await outcome.remove());
        else expect(outcome.code).toBe('cancelled');
      }
      expect(await leftovers(bad)).toEqual([]);
    });

    it('with a limit out of bounds or a place for dependencies outside the workspace', async () => {
      const { limits } = testRoomSpec(project, image, source);
      expect(await attempt({ limits: { ...limits, pids: 1_000_000 } })).toMatchObject({
        message: expect.stringContaining('sandbox.pids'),
      });
      for (const dir of ['..', 'a/../..', '/abs', '', './x']) {
        const dependencies = { volume: 'none', dir, writable: false };
        expect(await attempt({ dependencies })).toMatchObject({ message: expect.stringContaining('no place') });
      }
      expect(await leftovers(bad)).toEqual([]);
    });
  });

  it('refuses an image that is not pinned, and one that is not there', async () => {
    for (const reference of [
      'busybox',
      'busybox:latest',
      'roundtable-local/test',
      'sha256:abc',
      image.imageId.slice(7),
      '',
    ]) {
      const resolved = await runtime.resolveImage(reference, signal());
      expect(resolved.ok ? reference : resolved.error.code).toBe('image_not_pinned');
    }
    const absent = await runtime.resolveImage(`busybox@sha256:${'0'.repeat(64)}`, signal());
    expect(absent.ok ? 'there' : absent.error.code).toBe('image_missing');
    expect(must(await runtime.resolveImage(image.imageId, signal()))).toEqual(image);
  });

  async function leftovers(ownerId: string): Promise<string[]> {
    const filters = { label: [`dev.roundtable.project=${project}`, `dev.roundtable.owner=${ownerId}`] };
    const [containers, { Volumes }] = await Promise.all([
      docker.listContainers({ all: true, filters }),
      docker.listVolumes({ filters }),
    ]);
    return [...containers.map((container) => container.Id), ...Volumes.map((volume) => volume.Name)];
  }
});

async function withFile(contents: string, work: (file: string) => Promise<void>): Promise<void> {
  const dir = await mkdtemp(path.join(os.tmpdir(), 'rt-'));
  try {
    const file = path.join(dir, 'profile.json');
    await writeFile(file, contents);
    await work(file);
  } finally {
    await rm(dir, { recursive: true });
  }
}

/** Enough for the start of a container and a shell; making directories is not among them. */
const FEW_SYSCALLS =
  `read write readv writev open openat close stat fstat lstat newfstatat statx lseek mmap mprotect munmap brk
  rt_sigaction rt_sigprocmask rt_sigreturn rt_sigtimedwait sigaltstack ioctl access faccessat faccessat2 pipe pipe2 dup dup2 dup3
  getpid getppid getuid geteuid getgid getegid gettid getpgrp getpgid setpgid getsid setsid getgroups setgroups setuid setgid
  setresuid setresgid capget capset prctl arch_prctl clone clone3 fork vfork execve execveat exit exit_group wait4 waitid kill
  tgkill uname fcntl getcwd chdir fchdir getdents64 readlink readlinkat umask getrlimit prlimit64 setrlimit sysinfo nanosleep
  clock_nanosleep clock_gettime gettimeofday futex set_tid_address set_robust_list rseq getrandom poll ppoll select pselect6
  epoll_create1 epoll_ctl epoll_pwait epoll_wait eventfd2 sched_yield sched_getaffinity madvise mincore fchmod fchown chown
  tkill restart_syscall close_range statfs fstatfs keyctl seccomp mount umount2 sethostname fadvise64`.split(/\s+/);

async function listArchive(archive: NodeJS.ReadableStream): Promise<string[]> {
  const names: string[] = [];
  const reader = extract();
  archive.pipe(reader as unknown as NodeJS.WritableStream);
  for await (const entry of reader) {
    names.push(
      entry.header.type === 'symlink' ? `${entry.header.name} -> ${entry.header.linkname}` : entry.header.name,
    );
    entry.resume();
  }
  return names;
}
