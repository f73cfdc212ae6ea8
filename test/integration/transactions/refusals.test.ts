import { execFileSync } from 'node:child_process';
import { chmodSync, mkdirSync, renameSync, rmSync, symlinkSync, unlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import type { TransactionId } from '../../../src/engine/domain/ids.ts';
import { git } from '../../support/transactions/git.ts';
import { leftovers, snapshot } from '../../support/transactions/snapshot.ts';
import {
  applyRequest,
  createWorld,
  destroyWorld,
  type Engine,
  type Files,
  never,
  openEngine,
  revise,
  rollbackRequest,
  type World,
  type WorldOptions,
  writeFiles,
} from '../../support/transactions/world.ts';

let world: World;
let engine: Engine;
afterEach(() => {
  engine.close();
  destroyWorld(world);
});

interface Refused {
  readonly world?: WorldOptions;
  readonly change?: Files;
  readonly commit?: boolean;
  readonly target?: string;
  /** What the user did before the transaction came. */
  readonly given: (project: string) => void;
  readonly code: string;
  readonly paths?: readonly string[];
}

const EDIT: Files = { 'src/a.txt': 'one\nTWO\n' };
const put = (root: string, name: string, text: string) => writeFiles(root, { [name]: text });
const commitAll = (root: string) => git(root, ['commit', '-q', '-m', 'later', '--only', 'src/b.txt']);

const REFUSED: Readonly<Record<string, Refused>> = {
  'the base moved': {
    given: (root) => {
      put(root, 'src/b.txt', 'moved\n');
      commitAll(root);
    },
    code: 'base_moved',
  },
  'a touched file has an uncommitted edit': {
    given: (root) => put(root, 'src/a.txt', 'mine\n'),
    code: 'worktree_dirty',
    paths: ['src/a.txt'],
  },
  'an edit keeps size and time of the file': {
    given: (root) => {
      const file = path.join(root, 'src/a.txt');
      execFileSync('sh', [
        '-c',
        'touch -r "$1" "$1.ref" && printf "ONE\\ntwo\\nthree\\nfour\\nfive\\nsix\\nseven\\neight\\nnine\\n" > "$1" && touch -r "$1.ref" "$1" && rm "$1.ref"',
        'sh',
        file,
      ]);
    },
    code: 'worktree_dirty',
    paths: ['src/a.txt'],
  },
  'a touched file was deleted': {
    given: (root) => unlinkSync(path.join(root, 'src/a.txt')),
    code: 'worktree_dirty',
    paths: ['src/a.txt'],
  },
  'a touched file was replaced by a link': {
    given: (root) => {
      renameSync(path.join(root, 'src/a.txt'), path.join(root, 'src/moved.txt'));
      symlinkSync('moved.txt', path.join(root, 'src/a.txt'));
    },
    code: 'worktree_dirty',
    paths: ['src/a.txt'],
  },
  'a touched file was made executable': {
    given: (root) => chmodSync(path.join(root, 'src/a.txt'), 0o755),
    code: 'worktree_dirty',
    paths: ['src/a.txt'],
  },
  'a touched file has a staged edit': {
    given: (root) => {
      put(root, 'src/a.txt', 'mine\n');
      git(root, ['add', 'src/a.txt']);
    },
    code: 'index_differs',
    paths: ['src/a.txt'],
  },
  'a file that is to be deleted was edited': {
    change: { 'README.md': null, 'src/a.txt': 'x\n' },
    given: (root) => put(root, 'README.md', 'mine\n'),
    code: 'worktree_dirty',
    paths: ['README.md'],
  },
  'an untracked file is in the way': {
    change: { 'src/new.txt': 'theirs\n' },
    given: (root) => put(root, 'src/new.txt', 'mine\n'),
    code: 'path_in_the_way',
    paths: ['src/new.txt'],
  },
  'an untracked file with the very same bytes is in the way': {
    change: { 'src/new.txt': 'same\n' },
    given: (root) => put(root, 'src/new.txt', 'same\n'),
    code: 'path_in_the_way',
    paths: ['src/new.txt'],
  },
  'an ignored file is in the way': {
    change: { 'src/new.ignored': 'theirs\n' },
    given: (root) => put(root, 'src/new.ignored', 'mine\n'),
    code: 'path_in_the_way',
    paths: ['src/new.ignored'],
  },
  'a directory is in the way': {
    change: { 'src/new': 'theirs\n' },
    given: (root) => mkdirSync(path.join(root, 'src/new')),
    code: 'path_in_the_way',
    paths: ['src/new'],
  },
  'an untracked file lies in a directory that must become a file': {
    change: { 'dir/x.txt': null, 'dir/sub/y.txt': null, dir: 'file\n' },
    given: (root) => put(root, 'dir/sub/mine.ignored', 'mine\n'),
    code: 'path_in_the_way',
    paths: ['dir/sub/mine.ignored'],
  },
  'a name is marked with intent to add': {
    change: { 'src/new.txt': 'theirs\n' },
    given: (root) => {
      put(root, 'src/new.txt', 'mine\n');
      git(root, ['add', '-N', 'src/new.txt']);
    },
    code: 'index_differs',
    paths: ['src/new.txt'],
  },
  'a parent directory is a link': {
    change: { 'src/deep/new.txt': 'x\n' },
    given: (root) => {
      renameSync(path.join(root, 'src/deep'), path.join(root, 'elsewhere/deep'));
      symlinkSync('../elsewhere/deep', path.join(root, 'src/deep'));
    },
    code: 'parent_not_directory',
    paths: ['src/deep'],
  },
  'an untracked link stands where a directory must be': {
    change: { 'fresh/new.txt': 'x\n' },
    given: (root) => symlinkSync('elsewhere', path.join(root, 'fresh')),
    code: 'parent_not_directory',
    paths: ['fresh'],
  },
  'an untracked file stands where a directory must be': {
    change: { 'fresh/new.txt': 'x\n' },
    given: (root) => put(root, 'fresh', 'mine\n'),
    code: 'parent_not_directory',
    paths: ['fresh'],
  },
  'another git holds the index': {
    given: (root) => put(root, '.git/index.lock', ''),
    code: 'git_busy',
  },
  'another git holds the branch': {
    given: (root) => put(root, '.git/refs/heads/main.lock', ''),
    code: 'git_busy',
  },
  'another git holds HEAD': { given: (root) => put(root, '.git/HEAD.lock', ''), code: 'git_busy' },
  'a merge is under way': {
    given: (root) => {
      git(root, ['stash', '-q']);
      git(root, ['checkout', '-q', '-b', 'side']);
      put(root, 'src/b.txt', 'side\n');
      commitAll(root);
      git(root, ['checkout', '-q', 'main']);
      git(root, ['merge', '-q', '--no-commit', '--no-ff', 'side']);
    },
    code: 'operation_in_progress',
  },
  'a cherry-pick is under way': {
    given: (root) => put(root, '.git/CHERRY_PICK_HEAD', git(root, ['rev-parse', 'HEAD'])),
    code: 'operation_in_progress',
  },
  'a bisect of the branch is under way': {
    given: (root) => {
      git(root, ['stash', '-q']);
      put(root, 'src/b.txt', '1\n');
      commitAll(root);
      put(root, 'src/b.txt', '2\n');
      commitAll(root);
      git(root, ['bisect', 'start', 'HEAD', 'HEAD~2']);
    },
    code: 'operation_in_progress',
  },
  'a rebase of the branch is under way': {
    given: (root) => {
      git(root, ['stash', '-q']);
      put(root, 'src/b.txt', '1\n');
      commitAll(root);
      try {
        git(root, ['-c', 'sequence.editor=true', 'rebase', '-q', '--exec', 'false', 'HEAD~1']);
      } catch {
        // It stops at the command that fails, as it should.
      }
    },
    code: 'operation_in_progress',
  },
  'a filter is set on a touched path by the base': {
    world: {
      files: { '.gitattributes': '*.enc filter=crypt\n' },
      config: { 'filter.crypt.smudge': 'touch ran; cat', 'filter.crypt.clean': 'cat' },
    },
    change: { 'new.enc': 'x\n', 'src/a.txt': 'x\n' },
    given: () => undefined,
    code: 'filter_unsupported',
    paths: ['new.enc'],
  },
  'a filter comes with the change': {
    world: { config: { 'filter.crypt.smudge': 'touch ran; cat', 'filter.crypt.clean': 'touch ran; cat' } },
    change: { '.gitattributes': 'src/a.txt filter=crypt\n', 'src/a.txt': 'x\n' },
    given: () => undefined,
    code: 'filter_unsupported',
    paths: ['src/a.txt'],
  },
  'git knows no identity': { world: { identity: false }, given: () => undefined, code: 'no_identity' },
  'the commit can not be signed': {
    world: { config: { 'commit.gpgSign': 'true', 'gpg.program': 'false' } },
    given: () => undefined,
    code: 'signing_failed',
  },
  'the branch does not exist': { target: 'refs/heads/none', given: () => undefined, code: 'target_missing' },
  'the branch is unborn': {
    target: 'refs/heads/fresh',
    given: (root) => git(root, ['symbolic-ref', 'HEAD', 'refs/heads/fresh']),
    code: 'target_unborn',
  },
  'HEAD is expected detached but is on a branch': { target: 'HEAD', given: () => undefined, code: 'head_moved' },
  'the target is checked out nowhere and no commit is wanted': {
    given: (root) => git(root, ['checkout', '-q', '--detach']),
    commit: false,
    code: 'target_not_checked_out',
  },
  'the work tree is sparse': {
    given: (root) => git(root, ['sparse-checkout', 'set', '--no-cone', '/*']),
    code: 'sparse_checkout',
    paths: ['src/a.txt'],
  },
  'the target already has the content': { change: {}, given: () => undefined, code: 'nothing_to_do' },
};

describe.each(Object.entries(REFUSED))('when %s', (_, refused) => {
  it(`refuses with ${refused.code} and changes nothing`, async () => {
    world = createWorld(refused.world ?? {});
    engine = await openEngine(world, undefined, { busy: { attempts: 2, delayMs: 1 } });
    const revision = revise(world, refused.change ?? EDIT);
    refused.given(world.project);
    const before = snapshot(world);
    const locks = leftovers(world);
    const more = { commit: refused.commit ?? true, targetRef: refused.target ?? world.branch };
    const outcome = await engine.manager.apply(applyRequest(world, engine, revision, more), never());

    expect(outcome.ok ? 'applied' : outcome.error).toMatchObject({ code: refused.code, paths: refused.paths ?? [] });
    expect(snapshot(world)).toEqual(before);
    expect(leftovers(world)).toEqual(locks);
    const record = engine.deps.journal.get('TX-1' as TransactionId);
    const journaled = !outcome.ok && outcome.error.journaled;
    expect(record === null ? null : record.status).toBe(journaled ? 'aborted' : null);
    expect(engine.settled.map((settled) => settled.outcome)).toEqual(journaled ? ['aborted'] : []);
  });
});

describe('a target that is not simply checked out here', () => {
  it('moves only the reference when it is checked out nowhere', async () => {
    world = createWorld();
    git(world.project, ['branch', 'side']);
    engine = await openEngine(world);
    const before = snapshot(world);
    const revision = revise(world, EDIT);
    const request = applyRequest(world, engine, revision, { targetRef: 'refs/heads/side' });
    const outcome = await engine.manager.apply(request, never());
    expect(outcome.ok).toBe(true);
    const after = snapshot(world);
    expect({ ...after, refs: '' }).toEqual({ ...before, refs: '' });
    expect(git(world.project, ['rev-parse', 'side^{tree}', 'side^'])).toBe(
      `${revision.resultTree}\n${revision.baseCommit}`,
    );
    expect(leftovers(world)).toEqual([]);
  });

  it('moves only the reference of a bare repository', async () => {
    world = createWorld();
    const bare = path.join(world.dir, 'bare.git');
    git(world.dir, ['clone', '-q', '--bare', world.project, bare]);
    git(bare, ['config', 'user.name', 'B']);
    git(bare, ['config', 'user.email', 'b@example.org']);
    engine = await openEngine(world, undefined, { project: bare });
    const revision = revise(world, EDIT);
    const outcome = await engine.manager.apply(applyRequest(world, engine, revision), never());
    expect(outcome.ok).toBe(true);
    expect(git(bare, ['rev-parse', 'main^{tree}'])).toBe(revision.resultTree);
  });

  it('changes files and index of the linked work tree that has it', async () => {
    world = createWorld();
    const linked = path.join(world.dir, 'linked');
    git(world.project, ['worktree', 'add', '-q', '-b', 'side', linked]);
    engine = await openEngine(world);
    const before = snapshot(world);
    const revision = revise(world, { ...EDIT, plain: null, 'plain/p': 'x\n' });
    const request = applyRequest(world, engine, revision, { targetRef: 'refs/heads/side' });
    const outcome = await engine.manager.apply(request, never());
    expect(outcome.ok ? 'ok' : outcome.error).toBe('ok');
    expect({ ...snapshot(world), refs: '' }).toEqual({ ...before, refs: '' });
    expect(git(linked, ['rev-parse', 'HEAD^{tree}'])).toBe(revision.resultTree);
    expect(git(linked, ['status', '--porcelain'])).toBe('');
    expect(leftovers(world, linked)).toEqual([]);
  });

  it('refuses when the work tree that has it is gone', async () => {
    world = createWorld();
    const linked = path.join(world.dir, 'linked');
    git(world.project, ['worktree', 'add', '-q', '-b', 'side', linked]);
    rmSync(linked, { recursive: true });
    engine = await openEngine(world);
    const request = applyRequest(world, engine, revise(world, EDIT), { targetRef: 'refs/heads/side' });
    const outcome = await engine.manager.apply(request, never());
    expect(outcome.ok ? null : outcome.error.code).toBe('worktree_missing');
  });

  it('lands on a detached HEAD', async () => {
    world = createWorld();
    git(world.project, ['checkout', '-q', '--detach']);
    engine = await openEngine(world);
    const revision = revise(world, EDIT);
    const outcome = await engine.manager.apply(applyRequest(world, engine, revision, { targetRef: 'HEAD' }), never());
    expect(outcome.ok ? 'ok' : outcome.error).toBe('ok');
    expect(git(world.project, ['rev-parse', 'HEAD^{tree}'])).toBe(revision.resultTree);
    expect(git(world.project, ['rev-parse', 'main'])).toBe(revision.baseCommit);
  });
});

describe('hooks, replacements and file monitors of the repository', () => {
  it('are not run', async () => {
    world = createWorld();
    const hooks = path.join(world.project, '.git/hooks');
    mkdirSync(hooks, { recursive: true });
    const marker = path.join(world.dir, 'hook-ran');
    for (const hook of [
      'reference-transaction',
      'post-index-change',
      'post-checkout',
      'pre-commit',
      'post-commit',
      'fsmonitor',
    ]) {
      writeFileSync(path.join(hooks, hook), `#!/bin/sh\necho ${hook} >> ${marker}\n`, { mode: 0o755 });
    }
    engine = await openEngine(world);
    const revision = revise(world, EDIT);
    rmSync(marker, { force: true });
    git(world.project, ['config', 'core.fsmonitor', path.join(hooks, 'fsmonitor')]);
    const outcome = await engine.manager.apply(applyRequest(world, engine, revision), never());
    expect(outcome.ok).toBe(true);
    expect(() => execFileSync('cat', [marker], { stdio: 'pipe' })).toThrow();
  });
});

describe('signing', () => {
  it('signs the commit when git is configured to sign', async () => {
    world = createWorld();
    const key = path.join(world.dir, 'key');
    execFileSync('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-f', key]);
    for (const [name, value] of [
      ['gpg.format', 'ssh'],
      ['user.signingKey', `${key}.pub`],
      ['commit.gpgSign', 'true'],
    ] as const)
      git(world.project, ['config', name, value]);
    engine = await openEngine(world);
    const outcome = await engine.manager.apply(applyRequest(world, engine, revise(world, EDIT)), never());
    expect(outcome.ok).toBe(true);
    expect(git(world.project, ['cat-file', 'commit', 'HEAD'])).toContain('-----BEGIN SSH SIGNATURE-----');
  });
});

describe('rolling back', () => {
  it('merges later edits of the same file where that is clean', async () => {
    world = createWorld();
    engine = await openEngine(world);
    const base = 'one\ntwo\nthree\nfour\nfive\nsix\nseven\neight\nnine\n';
    await engine.manager.apply(
      applyRequest(world, engine, revise(world, { 'src/a.txt': base.replace('two', 'TWO') })),
      never(),
    );
    put(world.project, 'src/a.txt', base.replace('two', 'TWO').replace('nine', 'NINE'));
    git(world.project, ['commit', '-q', '-m', 'later', '--only', 'src/a.txt']);
    const outcome = await engine.manager.rollback(rollbackRequest(engine, 'TX-1', 'TX-2'), never());
    expect(outcome.ok ? 'ok' : outcome.error).toBe('ok');
    expect(git(world.project, ['show', 'HEAD:src/a.txt'])).toBe(base.replace('nine', 'NINE').trimEnd());
    git(world.project, ['fsck', '--strict', '--no-dangling']);
  });

  it.each<readonly [string, Files, Files, readonly string[]]>([
    ['the same lines were edited', { 'src/a.txt': 'A\n' }, { 'src/a.txt': 'B\n' }, ['src/a.txt']],
    ['the added file was edited', { 'src/n.txt': 'A\n' }, { 'src/n.txt': 'B\n' }, ['src/n.txt']],
    ['the deleted file was made again', { 'README.md': null }, { 'README.md': 'B\n' }, ['README.md']],
    ['a directory stands where a file was', { plain: null }, { 'plain/x': 'B\n' }, ['plain', 'plain/x']],
    ['the edited file was deleted', { 'src/a.txt': 'A\n' }, { 'src/a.txt': null }, ['src/a.txt']],
  ])('refuses and lists the paths when %s later', async (_, change, later, paths) => {
    world = createWorld();
    engine = await openEngine(world);
    await engine.manager.apply(applyRequest(world, engine, revise(world, change)), never());
    writeFiles(world.project, later);
    git(world.project, ['add', '-A', '--', ...Object.keys(later)]);
    git(world.project, ['commit', '-q', '-m', 'later', '--only', '--', ...Object.keys(later)]);
    const before = snapshot(world);
    const outcome = await engine.manager.rollback(rollbackRequest(engine, 'TX-1', 'TX-2'), never());
    expect(outcome.ok ? 'ok' : outcome.error).toMatchObject({ code: 'rollback_conflict' });
    if (!outcome.ok) expect(paths).toEqual(expect.arrayContaining([...outcome.error.paths]));
    if (!outcome.ok) expect(outcome.error.paths.length).toBeGreaterThan(0);
    expect(snapshot(world)).toEqual(before);
    expect(leftovers(world)).toEqual([]);
  });

  it('refuses an uncommitted edit in its paths', async () => {
    world = createWorld();
    engine = await openEngine(world);
    await engine.manager.apply(applyRequest(world, engine, revise(world, EDIT)), never());
    put(world.project, 'src/a.txt', 'mine\n');
    const before = snapshot(world);
    const outcome = await engine.manager.rollback(rollbackRequest(engine, 'TX-1', 'TX-2'), never());
    expect(outcome.ok ? null : outcome.error).toMatchObject({ code: 'worktree_dirty', paths: ['src/a.txt'] });
    expect(snapshot(world)).toEqual(before);
  });

  it('refuses when the commit is no longer in the target', async () => {
    world = createWorld();
    engine = await openEngine(world);
    const revision = revise(world, EDIT);
    await engine.manager.apply(applyRequest(world, engine, revision), never());
    git(world.project, ['reset', '-q', '--keep', revision.baseCommit]);
    const outcome = await engine.manager.rollback(rollbackRequest(engine, 'TX-1', 'TX-2'), never());
    expect(outcome.ok ? null : outcome.error.code).toBe('not_revertible');
  });
});

describe('races', () => {
  it('lets one of two applications win and refuses the other', async () => {
    world = createWorld();
    engine = await openEngine(world, undefined, { busy: { attempts: 50, delayMs: 20 } });
    const other = await openEngine(world, undefined, { busy: { attempts: 50, delayMs: 20 } });
    const first = applyRequest(world, engine, revise(world, EDIT));
    const second = applyRequest(world, other, revise(world, { 'src/b.txt': 'other\n' }), {
      transactionId: 'TX-2' as TransactionId,
    });
    const outcomes = await Promise.all([engine.manager.apply(first, never()), other.manager.apply(second, never())]);
    other.close();
    expect(outcomes.filter((outcome) => outcome.ok)).toHaveLength(1);
    expect(outcomes.flatMap((outcome) => (outcome.ok ? [] : [outcome.error.code]))).toEqual([
      expect.stringMatching(/^(?:base_moved|git_busy)$/),
    ]);
    expect(git(world.project, ['rev-list', '--count', 'HEAD'])).toBe('2');
    expect(leftovers(world)).toEqual([]);
  });

  it('keeps the user from committing between prepare and commit, and his staged work intact', async () => {
    world = createWorld();
    let attempted = '';
    engine = await openEngine(world, (parts) => ({
      ...parts,
      journal: {
        ...parts.journal,
        async applying(id) {
          try {
            git(world.project, ['commit', '-q', '-m', 'mine']);
            attempted = 'committed';
          } catch (cause) {
            attempted = String(cause);
          }
          return parts.journal.applying(id);
        },
      },
    }));
    const outcome = await engine.manager.apply(applyRequest(world, engine, revise(world, EDIT)), never());
    expect(outcome.ok).toBe(true);
    expect(attempted).toContain('index.lock');
    expect(git(world.project, ['diff', '--cached', '--name-only'])).toBe('elsewhere/staged.txt');
  });

  it('builds the index again when git refreshed it in between', async () => {
    world = createWorld();
    let times = 0;
    engine = await openEngine(world, (parts) => ({
      ...parts,
      journal: {
        ...parts.journal,
        async prepare(record, begin) {
          times += 1;
          writeFiles(world.project, { 'elsewhere/later.txt': 'staged meanwhile\n' });
          git(world.project, ['add', 'elsewhere/later.txt']);
          return parts.journal.prepare(record, begin);
        },
      },
    }));
    const outcome = await engine.manager.apply(applyRequest(world, engine, revise(world, EDIT)), never());
    expect(outcome.ok).toBe(true);
    expect(times).toBe(1);
    expect(git(world.project, ['diff', '--cached', '--name-only'])).toBe('elsewhere/later.txt\nelsewhere/staged.txt');
  });

  it.each<readonly [string, (root: string) => void, string]>([
    ['saved in place', (root) => writeFileSync(path.join(root, 'src/a.txt'), 'raced\n'), 'src/a.txt'],
    [
      'saved by renaming',
      (root) => {
        writeFileSync(path.join(root, 'src/a.txt~'), 'raced\n');
        renameSync(path.join(root, 'src/a.txt~'), path.join(root, 'src/a.txt'));
      },
      'src/a.txt',
    ],
    [
      'made where a file is to be added',
      (root) => writeFileSync(path.join(root, 'src/new.txt'), 'raced\n'),
      'src/new.txt',
    ],
    ['removed', (root) => unlinkSync(path.join(root, 'src/b.txt')), 'src/b.txt'],
  ])('takes everything back when a file is %s while files are changed', async (_, edit, file) => {
    world = createWorld();
    let project = '';
    engine = await openEngine(world, (parts) => ({
      ...parts,
      fs: {
        ...parts.fs,
        async rename(from, to) {
          if (project !== '' && to.endsWith('README.md')) {
            const root = project;
            project = '';
            edit(root);
          }
          return parts.fs.rename(from, to);
        },
      },
    }));
    const change = { 'README.md': 'new\n', 'src/a.txt': 'new\n', 'src/b.txt': 'new\n', 'src/new.txt': 'new\n' };
    const revision = revise(world, change);
    const before = snapshot(world);
    project = world.project;
    const outcome = await engine.manager.apply(applyRequest(world, engine, revision), never());
    project = '';
    expect(outcome.ok ? 'applied' : outcome.error).toMatchObject({ code: 'worktree_dirty', paths: [file] });
    const after = snapshot(world);
    const expected: Record<string, string | undefined> = { ...before.tree, [file]: after.tree[file] };
    expect(after.tree).toEqual(file === 'src/b.txt' ? without(before.tree, file) : expected);
    if (file !== 'src/b.txt') expect(git(world.project, ['hash-object', '--no-filters', file])).toBe(RACED);
    expect(after.refs).toBe(before.refs);
    expect(after.index).toBe(before.index);
    expect(leftovers(world)).toEqual([]);
  });
});

/** Blob id of `raced\n`. */
const RACED = 'd40830db79b19a7cc956640b1ae96381712fdea8';

function without(tree: Readonly<Record<string, string>>, name: string): Record<string, string> {
  return Object.fromEntries(Object.entries(tree).filter(([file]) => file !== name));
}
