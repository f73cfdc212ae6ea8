import { isTerminal, LIFECYCLES, type LifecycleEntity } from '../domain/lifecycle.ts';

/** SQL list of an entity's non-terminal statuses, e.g. `'starting', 'running'`; text of our own table, never input. */
export function openStatuses(entity: LifecycleEntity, except: readonly string[] = []): string {
  return Object.keys(LIFECYCLES[entity])
    .filter((status) => !isTerminal(entity, status) && !except.includes(status))
    .map((status) => `'${status}'`)
    .join(', ');
}
