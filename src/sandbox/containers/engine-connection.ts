import { readFile } from 'node:fs/promises';
import { Agent as HttpAgent } from 'node:http';
import { Agent as HttpsAgent } from 'node:https';
import path from 'node:path';
import Docker from 'dockerode';
import type { ContainerEngineInfo } from '../../engine/ports/container-runtime.ts';
import { callEngine } from './engine-call.ts';
import { describeEndpoint, type EngineChoice, type EngineEndpoint, engineEndpoints } from './engine-endpoints.ts';
import { engineAnswer, failure, RuntimeFailure } from './runtime-failure.ts';

// Trusts: the engine that the user named, or one at its well-known socket, to do what its API says.
// Does not trust: that it is there, that it answers in time, or that it isolates at all (seccomp is looked at).

export interface EngineOptions extends EngineChoice {
  /** `runtime.oci_runtime`, e.g. `runsc`; null for the engine's default. */
  readonly ociRuntime: string | null;
  /** The environment that names engines (`DOCKER_HOST`, `XDG_RUNTIME_DIR`, …), normally `process.env`. */
  readonly env: Readonly<Record<string, string | undefined>>;
}

export interface EngineConnection {
  readonly docker: Docker;
  readonly info: ContainerEngineInfo;
  /** False when the engine runs containers without a seccomp filter unless it is given one. */
  readonly defaultSeccomp: boolean;
  close(): void;
}

const PROBE_TIMEOUT_MS = 10_000;

/** Finds the first engine that answers. Throws `RuntimeFailure` (`engine_unavailable`, `oci_runtime_missing`, `cancelled`). */
export async function connectEngine(options: EngineOptions, signal?: AbortSignal): Promise<EngineConnection> {
  const endpoints = engineEndpoints(options, options.env);
  const tried: string[] = [];
  let denied = false;
  for (const endpoint of endpoints) {
    try {
      return await openEndpoint(endpoint, options.ociRuntime, signal);
    } catch (cause) {
      if (!(cause instanceof RuntimeFailure)) throw cause;
      const { code, message } = cause.runtimeError;
      if (code === 'cancelled' || code === 'oci_runtime_missing') throw cause;
      denied ||= /EACCES/.test(message);
      tried.push(`${describeEndpoint(endpoint)}: ${reasonOf(cause)}`);
    }
  }
  throw failure(
    'engine_unavailable',
    `no container engine answers (tried ${tried.join('; ')})`,
    denied
      ? 'you may not use the socket of the engine: join its group (usually `docker`), or use a rootless engine'
      : 'install and start Docker or Podman, or set DOCKER_HOST or runtime.socket to where the engine listens',
  );
}

/** The innermost words: `connect ENOENT /var/run/docker.sock` says more than what we were doing. */
function reasonOf(failed: RuntimeFailure): string {
  return failed.cause === undefined ? failed.message : engineAnswer(failed.cause);
}

async function openEndpoint(
  endpoint: EngineEndpoint,
  ociRuntime: string | null,
  signal: AbortSignal | undefined,
): Promise<EngineConnection> {
  const { docker, agent } = await makeClient(endpoint);
  try {
    const doing = `ask the container engine at ${describeEndpoint(endpoint)} for its version`;
    const call = { doing, timeoutMs: PROBE_TIMEOUT_MS, ...(signal ? { signal } : {}) };
    const [version, info] = await callEngine(call, () => Promise.all([docker.version(), docker.info()]));
    if (typeof version.ApiVersion !== 'string') {
      throw failure('engine_unavailable', 'what listens there is no container engine', 'correct the address');
    }
    const runtimes = Object.keys(info.Runtimes ?? {});
    const chosen = ociRuntime ?? String(info.DefaultRuntime || 'runc');
    if (ociRuntime !== null && !runtimes.includes(ociRuntime)) {
      throw failure(
        'oci_runtime_missing',
        `the container engine has no OCI runtime named ${ociRuntime} (it has ${runtimes.sort().join(', ') || 'none'})`,
        'install and register it with the engine, or set runtime.oci_runtime to null',
      );
    }
    const components: ReadonlyArray<{ Name: string }> = version.Components ?? [];
    const kind = components.some((component) => /podman/i.test(component.Name)) ? 'podman' : 'docker';
    const security: readonly string[] = info.SecurityOptions ?? [];
    return {
      docker,
      info: {
        kind,
        version: version.Version,
        apiVersion: version.ApiVersion,
        endpoint: describeEndpoint(endpoint),
        cgroupVersion: info.CgroupVersion === '2' ? 2 : 1,
        ociRuntime: chosen,
      },
      defaultSeccomp: security.some((option) => /^name=seccomp/.test(option) && !/profile=unconfined/.test(option)),
      close: () => agent.destroy(),
    };
  } catch (cause) {
    agent.destroy();
    throw cause;
  }
}

/**
 * Every field is given, also the empty ones: the client fills what is left out from `DOCKER_HOST` of this process, and
 * would then talk to another engine than the one asked for.
 */
async function makeClient(endpoint: EngineEndpoint): Promise<{ docker: Docker; agent: HttpAgent }> {
  // A connection per call costs 0.1 ms on a socket, and none is ever found half-closed after the engine restarted.
  const http = { keepAlive: false, maxSockets: Number.POSITIVE_INFINITY };
  if (endpoint.transport === 'unix') {
    const agent = new HttpAgent(http);
    const none = { host: undefined, port: undefined, ca: undefined, cert: undefined, key: undefined };
    const options = { ...none, socketPath: endpoint.socketPath, protocol: 'http', agent };
    return { docker: new Docker(options as unknown as Docker.DockerOptions), agent };
  }
  const address = { host: endpoint.host, port: endpoint.port, pathPrefix: '/' };
  if (endpoint.certDir === null) {
    const agent = new HttpAgent(http);
    const options = { ...address, protocol: 'http', agent, ca: undefined, cert: undefined, key: undefined };
    return { docker: new Docker(options as unknown as Docker.DockerOptions), agent };
  }
  const [ca, cert, key] = await readCertificates(endpoint.certDir);
  const agent = new HttpsAgent({ ...http, ca, cert, key });
  const options = { ...address, protocol: 'https', agent, ca, cert, key };
  return { docker: new Docker(options as unknown as Docker.DockerOptions), agent };
}

async function readCertificates(dir: string): Promise<[Buffer, Buffer, Buffer]> {
  const read = (name: string) => readFile(path.join(dir, name));
  try {
    return await Promise.all([read('ca.pem'), read('cert.pem'), read('key.pem')]);
  } catch (cause) {
    throw failure(
      'engine_unavailable',
      `the certificates of the container engine can't be read from ${dir}`,
      'put ca.pem, cert.pem and key.pem there, or set DOCKER_CERT_PATH',
      cause,
    );
  }
}
