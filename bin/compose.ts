import path from 'node:path';
import type { Application, Engine, EngineError, ImageBuildReport } from '../src/engine/api.ts';
import { setAdapterImage } from '../src/engine/config/edit-config.ts';
import { initProject } from '../src/engine/config/init/init-project.ts';
import { engineError } from '../src/engine/domain/errors.ts';
import type { RunId } from '../src/engine/domain/ids.ts';
import { err, ok, type Result } from '../src/engine/domain/result.ts';
import { createProjectFacts } from '../src/engine/repo/project-facts.ts';
import { driveRun } from '../src/engine/run/drive-run.ts';
import { buildAdapterImage } from './compose/build-image.ts';
import { type OpenedProject, openProject } from './compose/open-project.ts';
import { packageRoot } from './compose/package-root.ts';
import { CONFIG_FILE, configError, readConfig } from './compose/project-config.ts';
import { findRoot } from './compose/project-root.ts';
import { systemClock } from './compose/system-clock.ts';

/** The composition root: what the command line can do, built from the real parts. The only place that knows them all. */
export function createApplication(env: Readonly<Record<string, string | undefined>>): Application {
  const facts = createProjectFacts(env);
  const root = packageRoot();
  /** What stands behind the engines handed out, for `drive`. */
  const opened = new WeakMap<Engine, OpenedProject>();

  async function config(directory: string) {
    const found = await findRoot(facts, directory);
    return found.ok ? readConfig(found.value.root) : found;
  }

  return {
    init: (directory, options) =>
      initProject(
        { facts, templatesDir: path.join(root, 'templates'), environment: env, now: systemClock.now },
        { directory, ...options },
      ),

    async open(options) {
      const project = await openProject({ env, facts, packageRoot: root }, options);
      if (!project.ok) return project;
      opened.set(project.value.engine, project.value);
      return ok(project.value.engine);
    },

    async checkConfig(directory) {
      const read = await config(directory);
      if (!read.ok) return read;
      return ok({ file: CONFIG_FILE, problems: read.value.problems, warnings: read.value.warnings });
    },

    async showConfig(directory) {
      const read = await config(directory);
      if (!read.ok) return read;
      if (read.value.config === null) return err(configError(read.value.problems));
      return ok(read.value.origins);
    },

    async buildImage(directory, adapter, signal): Promise<Result<ImageBuildReport, EngineError>> {
      const read = await config(directory);
      if (!read.ok) return read;
      if (read.value.config === null) return err(configError(read.value.problems));
      const known = read.value.config.adapters[adapter];
      if (known === undefined) {
        const names = Object.keys(read.value.config.adapters).join(', ') || 'none';
        return err(
          engineError(
            'invalid_argument',
            `the configuration has no adapter ${adapter}`,
            `configured are: ${names}; add it under adapters: first`,
          ),
        );
      }
      const { runtime } = read.value.config;
      const built = await buildAdapterImage({
        adapter,
        kind: known.kind,
        command: known.command,
        engine: { engine: runtime.engine, socket: runtime.socket, ociRuntime: runtime.oci_runtime, env },
        signal,
      });
      if (!built.ok) return built;
      const written = await setAdapterImage(read.value.file, adapter, built.value.imageId);
      if (!written.ok) return written;
      return ok({ adapter, ...built.value, writtenTo: written.value ? CONFIG_FILE : null });
    },

    async drive(engine, runId, signal) {
      const owned = opened.get(engine)?.owned;
      if (!owned) throw new Error('only an engine that this process owns can drive a run');
      return { runId: runId as RunId, ...(await driveRun(owned.deps, owned.owner, runId as RunId, signal)) };
    },

    async allowsNoninteractive(directory) {
      const read = await config(directory);
      if (!read.ok) return read;
      return read.value.config === null
        ? err(configError(read.value.problems))
        : ok(read.value.config.operator.allow_noninteractive);
    },
  };
}
