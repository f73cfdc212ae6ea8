import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { fromRepository } from '../../src/engine/app/deps.ts';
import { loadPolicy } from '../../src/engine/config/policy.ts';
import { engineError } from '../../src/engine/domain/errors.ts';
import { err, ok } from '../../src/engine/domain/result.ts';
import type { PolicySource } from '../../src/engine/ports/policy-source.ts';
import type { PrivateRepository } from '../../src/engine/ports/private-repository.ts';

const POLICY_FILE = 'POLICIES.ROUNDTABLE.md';
const MAX_POLICY_BYTES = 256 * 1024;

/** Policies never come from the change that they judge: only from its base, or from the work tree while the base has none. */
export function createPolicySource(revisions: PrivateRepository, root: string): PolicySource {
  return {
    async forBase(commit, signal) {
      const base = await revisions.ensureBase(commit, signal);
      if (!base.ok) return err(fromRepository(base.error));
      const committed = await revisions.readFile(base.value.tree, POLICY_FILE, MAX_POLICY_BYTES, signal);
      if (!committed.ok) return err(fromRepository(committed.error));
      const text =
        committed.value === null
          ? await readFile(path.join(root, POLICY_FILE), 'utf8').catch(() => null)
          : Buffer.from(committed.value).toString('utf8');
      const loaded = loadPolicy(POLICY_FILE, text);
      if (loaded.policy !== null && loaded.digest !== null) return ok({ policy: loaded.policy, digest: loaded.digest });
      const [problem] = loaded.problems;
      return err(problem ?? engineError('policy_invalid', `${POLICY_FILE} is not valid`, 'correct it and commit it'));
    },
  };
}
