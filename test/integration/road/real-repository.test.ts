import { existsSync, lstatSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { containerTestsEnabled } from '../../support/container.ts';
import { fillLargeRepository, nameOf } from '../../support/large-repository.ts';
import { approve, type RoadProject, roadProject, roadTask, untilSnapshot, value } from '../../support/road.ts';

const AGENT = `
mkdir -p src/moved
mv ${nameOf(0)} src/moved/renamed-once.js
mv ${nameOf(4)} src/moved/renamed-and-edited.js
echo '// edited after the move' >> src/moved/renamed-and-edited.js
rm ${nameOf(8)}
chmod +x ${nameOf(12)}
chmod -x src/run.sh
printf '\\000\\001\\002binary\\377' > docs/picture.bin
echo 'a new page' > docs/new-page.md
test ! -e src/.env
test -f src/.env.example
test ! -e lib
test "$(readlink src/link.txt)" = run.sh
`;

describe.skipIf(!containerTestsEnabled())('a repository of real size', () => {
  let project: RoadProject | null = null;
  afterEach(async () => {
    await project?.dispose();
    project = null;
  });

  it('gets exactly the agent’s changes in two directories and keeps everything else', {
    timeout: 300_000,
  }, async () => {
    project = await roadProject({ agent: AGENT });
    const { dir, git } = project;
    fillLargeRepository({ dir, files: 2_400, commits: 60 });
    const base = git('rev-parse', 'HEAD');
    expect(git('ls-files').split('\n').length).toBeGreaterThan(2_400);
    expect(Number(git('rev-list', '--count', 'HEAD'))).toBeGreaterThan(60);

    const engine = await project.open();
    value(
      await engine.command(
        'task.add',
        { runId: null, tasks: [roadTask('Tidy up', { readablePaths: ['tools'], writablePaths: ['src', 'docs'] })] },
        'operator',
      ),
    );
    const seen = await untilSnapshot(engine, ({ attention }) => attention.length > 0, 240_000);
    expect(seen.attention).toMatchObject([{ kind: 'approval' }]);
    expect(seen.sessions[0]?.withheld).toEqual(['src/.env']);
    expect(value(await approve(engine, 'P-1', 1)).applied).toBe(true);

    const changed = git('diff-tree', '-r', '--no-renames', '--name-status', base, 'HEAD').split('\n').toSorted();
    expect(changed).toEqual(
      [
        'A\tdocs/new-page.md',
        'A\tdocs/picture.bin',
        'A\tsrc/moved/renamed-and-edited.js',
        'A\tsrc/moved/renamed-once.js',
        `D\t${nameOf(0)}`,
        `D\t${nameOf(4)}`,
        `D\t${nameOf(8)}`,
        `M\t${nameOf(12)}`,
        'M\tsrc/run.sh',
      ].toSorted(),
    );
    expect(
      git('ls-tree', 'HEAD', nameOf(12), 'src/run.sh')
        .split('\n')
        .map((line) => line.slice(0, 6)),
    ).toEqual(['100755', '100644']);
    expect(git('rev-parse', `HEAD:src/moved/renamed-once.js`)).toBe(git('rev-parse', `${base}:${nameOf(0)}`));
    expect(git('ls-tree', 'HEAD', 'vendor/sub', 'src/link.txt', 'src/.env')).toBe(
      git('ls-tree', base, 'vendor/sub', 'src/link.txt', 'src/.env'),
    );

    // The work tree is the commit: no difference, modes and links included.
    expect(git('status', '--porcelain', '--ignore-submodules=all')).toBe('');
    expect(lstatSync(path.join(dir, 'src/link.txt')).isSymbolicLink()).toBe(true);
    expect(readFileSync(path.join(dir, 'docs/picture.bin'))).toEqual(
      Buffer.from([0, 1, 2, ...Buffer.from('binary'), 255]),
    );
    expect(existsSync(path.join(dir, nameOf(8)))).toBe(false);
    expect(git('fsck', '--connectivity-only', '--no-dangling')).toBe('');
  });
});
