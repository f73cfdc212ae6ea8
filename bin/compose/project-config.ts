import { existsSync, readFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import chokidar from 'chokidar';
import { type LoadedConfiguration, loadConfig } from '../../src/engine/config/load-config.ts';
import { settingsFromConfig } from '../../src/engine/config/settings-from-config.ts';
import { type EngineError, engineError } from '../../src/engine/domain/errors.ts';
import { err, ok, type Result } from '../../src/engine/domain/result.ts';
import type { Settings, SettingsSource } from '../../src/engine/ports/settings.ts';

export const CONFIG_FILE = '.roundtable/config.yaml';

/** Reads and checks the project's configuration; `not_initialised` when there is none. */
export function readConfig(root: string): Result<LoadedConfiguration & { readonly file: string }, EngineError> {
  const file = path.join(root, CONFIG_FILE);
  if (!existsSync(file))
    return err(engineError('not_initialised', `there is no ${CONFIG_FILE} in ${root}`, 'run `roundtable init` there'));
  try {
    const text = readFileSync(file, 'utf8');
    return ok({
      ...loadConfig({
        file: CONFIG_FILE,
        text,
        directoryName: path.basename(root),
        processors: os.availableParallelism(),
      }),
      file,
    });
  } catch (cause) {
    return err(
      engineError(
        'config_invalid',
        `${file} can't be read: ${cause instanceof Error ? cause.message : String(cause)}`,
        'make it a readable text file',
      ),
    );
  }
}

/** The first problem of a configuration as the error of a command, the others in its details. */
export function configError(problems: readonly EngineError[]): EngineError {
  const [first, ...others] = problems;
  if (!first) return engineError('config_invalid', 'the configuration is not valid', 'run `roundtable config check`');
  return others.length === 0
    ? first
    : { ...first, details: { ...first.details, others: others.map((problem) => problem.message) } };
}

export interface LiveSettings extends SettingsSource {
  close(): Promise<void>;
}

/** The settings of an open project. With `onChange` the file is watched: a valid edit takes its place, an invalid one doesn't. */
export function liveSettings(
  root: string,
  initial: LoadedConfiguration & { readonly config: NonNullable<LoadedConfiguration['config']> },
  onChange: (() => void) | null,
): LiveSettings {
  let settings: Settings = settingsFromConfig(initial.config);
  let problem: string | null = null;
  const watcher =
    onChange === null
      ? null
      : chokidar.watch(path.join(root, CONFIG_FILE), {
          ignoreInitial: true,
          persistent: false,
          // Most writers empty the file first: read then, it would be a valid configuration without any agent.
          awaitWriteFinish: { stabilityThreshold: 150, pollInterval: 30 },
        });
  watcher?.on('all', () => {
    const read = readConfig(root);
    if (read.ok && read.value.config !== null) {
      settings = settingsFromConfig(read.value.config);
      problem = null;
    } else {
      const error = read.ok ? configError(read.value.problems) : read.error;
      problem = `${error.message}; the earlier configuration stays in force`;
    }
    onChange?.();
  });
  return {
    current: () => settings,
    problem: () => problem,
    close: async () => {
      await watcher?.close();
    },
  };
}
