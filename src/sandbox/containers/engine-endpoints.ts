import { failure } from './runtime-failure.ts';

/** A place where an engine may listen. */
export type EngineEndpoint =
  | { readonly transport: 'unix'; readonly socketPath: string }
  | {
      readonly transport: 'tcp';
      readonly host: string;
      readonly port: number;
      /** Directory with ca.pem, cert.pem and key.pem, or null for plain HTTP. */
      readonly certDir: string | null;
    };

export interface EngineChoice {
  readonly engine: 'auto' | 'docker' | 'podman';
  /** `runtime.socket`: a path, `unix://path` or `tcp://host:port`; null looks in the usual places. */
  readonly socket: string | null;
}

/**
 * Candidates in the order in which they are tried. An address that the user named (`runtime.socket`, `DOCKER_HOST`) is
 * the only candidate: falling back to another engine would put the work where nobody looks for it.
 */
export function engineEndpoints(
  choice: EngineChoice,
  env: Readonly<Record<string, string | undefined>>,
): EngineEndpoint[] {
  if (choice.socket !== null) return [parseEndpoint(choice.socket, 'runtime.socket', env)];
  const named = choice.engine === 'podman' ? env.CONTAINER_HOST : env.DOCKER_HOST;
  if (named) return [parseEndpoint(named, choice.engine === 'podman' ? 'CONTAINER_HOST' : 'DOCKER_HOST', env)];

  const runtimeDir = env.XDG_RUNTIME_DIR;
  const docker = ['/var/run/docker.sock'];
  if (runtimeDir) docker.push(`${runtimeDir}/docker.sock`);
  if (env.HOME) docker.push(`${env.HOME}/.docker/run/docker.sock`);
  const podman = runtimeDir ? [`${runtimeDir}/podman/podman.sock`] : [];
  podman.push('/run/podman/podman.sock');

  const sockets = { auto: [...docker, ...podman], docker, podman }[choice.engine];
  return sockets.map((socketPath) => ({ transport: 'unix', socketPath }));
}

/** For display; never holds credentials. */
export function describeEndpoint(endpoint: EngineEndpoint): string {
  return endpoint.transport === 'unix' ? endpoint.socketPath : `tcp://${endpoint.host}:${endpoint.port}`;
}

function parseEndpoint(
  text: string,
  origin: string,
  env: Readonly<Record<string, string | undefined>>,
): EngineEndpoint {
  if (text.startsWith('/')) return { transport: 'unix', socketPath: text };
  if (text.startsWith('unix://')) return { transport: 'unix', socketPath: text.slice('unix://'.length) };
  const url = URL.canParse(text) ? new URL(text) : null;
  if (url && (url.protocol === 'tcp:' || url.protocol === 'http:' || url.protocol === 'https:') && url.hostname) {
    const tls = env.DOCKER_TLS_VERIFY === '1' || url.protocol === 'https:' || url.port === '2376';
    const certDir = tls ? (env.DOCKER_CERT_PATH ?? `${env.HOME ?? ''}/.docker`) : null;
    return { transport: 'tcp', host: url.hostname, port: Number(url.port || (tls ? 2376 : 2375)), certDir };
  }
  throw failure(
    'engine_unavailable',
    `${origin} is not an address of a container engine that can be used here`,
    `set ${origin} to unix:///path/to/socket or tcp://host:port (for ssh, forward the socket first)`,
  );
}
