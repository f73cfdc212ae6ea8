import type { DecisionDeps } from '../app/deps.ts';
import type { AdapterCatalog } from '../ports/adapter-catalog.ts';
import type { ContainerRuntime } from '../ports/container-runtime.ts';
import type { EgressGateways } from '../ports/egress-gateway.ts';
import type { Exporter } from '../ports/exporter.ts';
import type { PolicySource } from '../ports/policy-source.ts';
import type { SessionFiles } from '../ports/session-files.ts';

/** What executing work needs besides deciding. */
export interface WorkDeps extends DecisionDeps {
  readonly runtime: ContainerRuntime;
  readonly exporter: Exporter;
  readonly adapters: AdapterCatalog;
  readonly files: SessionFiles;
  readonly gateways: EgressGateways;
  /** Value of a host environment variable that the configuration names; nothing else of the environment is read. */
  readonly credential: (name: string) => string | undefined;
  readonly projectId: string;
  /** One per process start; labels rooms, so that a later start knows them as left behind. */
  readonly engineInstance: string;
  /** Host directory with the bridge bundle, mounted read-only where a room may reach out. */
  readonly bridgeDir: string;
  readonly policies: PolicySource;
  /** Fires when the engine lets go: shared work (preparations) ends with it, not with the session that asked first. */
  readonly lifetime: AbortSignal;
  readonly random: () => number;
  /** For what goes wrong where nobody waits for an answer; one line. */
  readonly warn: (message: string) => void;
}
