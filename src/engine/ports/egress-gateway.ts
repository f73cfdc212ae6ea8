import type { Result } from '../domain/result.ts';

/** What decided about one connection. `configured-host` is the only rule that lets anything through. */
export type EgressRule =
  | 'configured-host'
  // the request
  | 'bad-request'
  | 'bad-version'
  | 'method-not-allowed'
  | 'bad-host-header'
  | 'body-not-allowed'
  | 'header-too-large'
  | 'request-line-too-long'
  | 'header-timeout'
  // the host
  | 'authority-malformed'
  | 'port-missing'
  | 'port-not-allowed'
  | 'ip-literal'
  | 'host-invalid'
  | 'host-not-ascii'
  | 'host-not-allowed'
  // its addresses
  | 'resolve-failed'
  | 'resolve-timeout'
  | 'no-address'
  | 'too-many-addresses'
  | 'address-refused'
  | 'dial-failed'
  | 'dial-timeout'
  // the ClientHello
  | 'hello-timeout'
  | 'incomplete'
  | 'not-tls'
  | 'record-version'
  | 'record-length'
  | 'record-empty'
  | 'record-type'
  | 'handshake-type'
  | 'handshake-trailing'
  | 'too-large'
  | 'malformed'
  | 'duplicate-extension'
  | 'ech'
  | 'sni-missing'
  | 'sni-invalid'
  | 'sni-mismatch'
  // the gateway's own state
  | 'connection-limit'
  | 'byte-limit'
  | 'gateway-closed'
  | 'client-closed';

/**
 * How an allowed connection ended: both sides finished, one side broke off, nothing moved for the idle time, the byte
 * budget ran out, its host was withdrawn, or the gateway was closed. Null for a connection that was refused.
 */
export type EgressEnd = 'finished' | 'broken' | 'idle' | 'byte-limit' | 'withdrawn' | 'gateway-closed';

/** One record per connection, made when it is over. The caller adds whose connection it was. */
export interface EgressDecision {
  /** Lower-case host of the request; null when the request gave no well-formed one. */
  readonly host: string | null;
  readonly port: number | null;
  /** The address that was connected, or the one that led to the refusal; null when there is none. */
  readonly address: string | null;
  /** Server name of the ClientHello when it is a well-formed host name, as sent. */
  readonly sni: string | null;
  readonly verdict: 'allowed' | 'refused';
  readonly rule: EgressRule;
  readonly ended: EgressEnd | null;
  /** Octets passed on from the container to the host, ClientHello included. */
  readonly bytesUp: number;
  readonly bytesDown: number;
  /** Duration of the connection. */
  readonly ms: number;
}

/** What a gateway lets through. */
export interface EgressAllowance {
  /** Exact DNS names, port 443. */
  readonly hosts: readonly string[];
  /** Host → networks that its answers may lie in although they are not globally reachable; for DNS that answers with fake addresses. */
  readonly exceptions?: Readonly<Record<string, readonly string[]>>;
}

/** Bounds of one gateway; all of them have defaults. */
export interface EgressLimits {
  /** Open tunnels at a time; one more is answered 503. */
  readonly connections: number;
  readonly headBytes: number;
  readonly headers: number;
  readonly headTimeoutMs: number;
  readonly resolveTimeoutMs: number;
  readonly answers: number;
  readonly dialTimeoutMs: number;
  /** Head start of one address before the next is tried beside it. */
  readonly dialStaggerMs: number;
  readonly helloBytes: number;
  readonly helloTimeoutMs: number;
  /** An open tunnel in which nothing moves for so long is closed. */
  readonly idleTimeoutMs: number;
  /** Octets in both directions of all connections together; null: no bound. */
  readonly totalBytes: number | null;
  /** Octets per second in both directions of all connections together; null: no bound. */
  readonly bytesPerSecond: number | null;
}

export type EgressGatewayError =
  | { readonly code: 'egress_host_invalid'; readonly host: string; readonly rule: EgressRule; readonly remedy: string }
  | {
      readonly code: 'egress_exception_invalid';
      readonly host: string;
      readonly network: string;
      readonly reason: 'host-not-listed' | 'not-a-network' | 'never-allowed';
      readonly remedy: string;
    }
  | { readonly code: 'socket_path_too_long'; readonly path: string; readonly bytes: number; readonly remedy: string }
  | { readonly code: 'socket_unusable'; readonly path: string; readonly cause: string; readonly remedy: string };

export interface EgressGatewayOptions {
  /** Where to listen; at most 100 bytes. The directory exists, is private, and has no such file. The socket becomes 0666. */
  readonly socketPath: string;
  readonly allow: EgressAllowance;
  readonly limits?: Partial<EgressLimits>;
  /** Called once per connection. When it throws, the gateway closes: what can't be recorded isn't let through. */
  readonly onDecision: (decision: EgressDecision) => void;
  /** Aborting it closes the gateway. */
  readonly signal?: AbortSignal;
}

export interface EgressGateway {
  readonly socketPath: string;
  /** Settles when the gateway is closed, with the error that closed it if `onDecision` or the socket failed. Never rejects. */
  readonly closed: Promise<{ readonly failure: Error | null }>;
  /** Puts another list in force for connections to come, and cuts those to hosts that are not on it. An error changes nothing. */
  replaceAllowance(allow: EgressAllowance): Result<void, EgressGatewayError>;
  /** Stops listening, cuts every connection at once, removes the socket. Closing twice does nothing. */
  close(): Promise<void>;
}

/** The only way out of a sealed container: CONNECT to exactly the configured hosts. */
export interface EgressGateways {
  open(options: EgressGatewayOptions): Promise<Result<EgressGateway, EgressGatewayError>>;
}
