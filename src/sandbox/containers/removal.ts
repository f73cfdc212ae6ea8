import { callEngine } from './engine-call.ts';
import type { EngineConnection } from './engine-connection.ts';
import { engineAnswer, engineStatus } from './runtime-failure.ts';

const REMOVE_TIMEOUT_MS = 30_000;
const BUSY_DEADLINE_MS = 5_000;
const BUSY_POLL_MS = 50;

/** Kills and removes a container with its anonymous volumes. One that is already gone, or going, is fine. */
export async function removeContainer(engine: EngineConnection, idOrName: string): Promise<void> {
  await untilNotBusy(`remove container ${idOrName}`, async () => {
    await engine.docker.getContainer(idOrName).remove({ force: true, v: true });
  });
}

/** Removes a named volume. The engine lets go of it a moment after its last container, so "in use" is waited out. */
export async function removeNamedVolume(engine: EngineConnection, name: string): Promise<void> {
  await untilNotBusy(`remove volume ${name}`, async () => {
    await engine.docker.getVolume(name).remove();
  });
}

async function untilNotBusy(doing: string, run: () => Promise<void>): Promise<void> {
  const deadline = Date.now() + BUSY_DEADLINE_MS;
  for (;;) {
    const busy = await callEngine({ doing, timeoutMs: REMOVE_TIMEOUT_MS }, async () => {
      try {
        await run();
        return false;
      } catch (cause) {
        if (engineStatus(cause) === 404) return false;
        const waits = engineStatus(cause) === 409 && /in progress|in use/i.test(engineAnswer(cause));
        if (!waits || Date.now() >= deadline) throw cause;
        return true;
      }
    });
    if (!busy) return;
    await new Promise((resolve) => setTimeout(resolve, BUSY_POLL_MS));
  }
}
