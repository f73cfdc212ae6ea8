import type { Repositories } from '../ports/store.ts';
import { agentRepository } from './agent-repository.ts';
import { approvalRepository } from './approval-repository.ts';
import { claimRepository } from './claim-repository.ts';
import type { Connection } from './connection.ts';
import type { EventLog } from './event-log.ts';
import { factsRepository } from './facts.ts';
import { proposalRepository } from './proposal-repository.ts';
import { requestRepository } from './request-repository.ts';
import { runRepository } from './run-repository.ts';
import { sessionRepository } from './session-repository.ts';
import { taskRepository } from './task-repository.ts';
import { testRunRepository } from './test-run-repository.ts';
import { transactionRepository } from './transaction-repository.ts';

export function createRepositories(connection: Connection, events: EventLog): Repositories {
  return {
    runs: runRepository(connection),
    tasks: taskRepository(connection),
    agents: agentRepository(connection),
    sessions: sessionRepository(connection),
    claims: claimRepository(connection),
    proposals: proposalRepository(connection),
    testRuns: testRunRepository(connection),
    approvals: approvalRepository(connection),
    transactions: transactionRepository(connection),
    requests: requestRepository(connection),
    events: events.repository,
    facts: factsRepository(connection),
  };
}
