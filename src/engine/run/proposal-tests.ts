import { settledProposal } from '../app/end-task.ts';
import { evaluateGates } from '../app/evaluate-gates.ts';
import { type EngineError, engineError } from '../domain/errors.ts';
import type { ProposalId } from '../domain/ids.ts';
import { err, ok, type Result } from '../domain/result.ts';
import type { Dependencies } from './dependencies.ts';
import type { WorkDeps } from './deps.ts';
import { runTest } from './test-runner.ts';

export interface ProposalTests {
  /** Runs every required command again on the current revision, whatever its verdict was; true when all passed. */
  runAgain(id: ProposalId, stop: AbortSignal): Promise<Result<boolean, EngineError>>;
}

export function createProposalTests(deps: WorkDeps, dependencies: Dependencies): ProposalTests {
  return {
    async runAgain(id, stop) {
      const seen = deps.store.read((rows) => {
        const proposal = rows.proposals.get(id);
        const evaluated =
          proposal && evaluateGates(rows, deps.settings.current(), deps.matches, proposal, { kind: 'fresh' });
        return proposal && evaluated ? { proposal, evaluated } : null;
      });
      if (!seen)
        return err(
          engineError('not_found', `there is no proposal ${id}`, 'list them with `roundtable proposals list`'),
        );
      const { proposal, evaluated } = seen;
      if (settledProposal(proposal.status))
        return err(
          engineError('illegal_transition', `${id} is ${proposal.status}`, 'only an open proposal can be tested'),
        );
      if (evaluated.requiredTests.length === 0)
        return err(
          engineError(
            'config_invalid',
            'no test command is configured',
            'set tests.required in .roundtable/config.yaml',
          ),
        );
      if (evaluated.testImage === null)
        return err(
          engineError(
            'image_not_configured',
            'there is no image to run tests in',
            'set tests.image, or build the image of the adapter',
          ),
        );
      let passed = true;
      for (const argv of evaluated.requiredTests) {
        const run = await runTest(deps, dependencies, {
          proposal,
          revision: evaluated.revision,
          argv,
          image: evaluated.testImage,
          stop,
        });
        if (!run.ok) return run;
        if (run.value.status === 'cancelled')
          return err(engineError('cancelled', `the tests of ${id} were ended early`, 'ask again when the engine runs'));
        passed &&= run.value.status === 'passed';
      }
      return ok(passed);
    },
  };
}
