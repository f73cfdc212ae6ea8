import type { EgressRule } from '../../engine/ports/egress-gateway.ts';

/** `status` answers the CONNECT; null where the tunnel already stands (or nobody listens) and closing is the answer. */
export interface RuleText {
  readonly status: number | null;
  readonly meaning: string;
  readonly remedy: string;
}

const REQUEST_REMEDY =
  'Send a plain CONNECT host:443 request; only HTTPS through a CONNECT proxy leaves this container.';
const HELLO_REMEDY = 'Use an ordinary TLS client for the host that the tunnel was opened for.';

/** Every rule with its answer. The name of the rule goes into the decision record, the header and `egress check`. */
export const EGRESS_RULES = {
  'configured-host': { status: 200, meaning: 'the host is configured', remedy: 'Nothing to do.' },

  'bad-request': { status: 400, meaning: 'the request is not well-formed HTTP', remedy: REQUEST_REMEDY },
  'bad-version': { status: 505, meaning: 'the HTTP version is not 1.0 or 1.1', remedy: REQUEST_REMEDY },
  'method-not-allowed': { status: 405, meaning: 'only CONNECT is served', remedy: 'Use an https:// address.' },
  'bad-host-header': {
    status: 400,
    meaning: 'the Host header is missing, repeated or differs',
    remedy: REQUEST_REMEDY,
  },
  'body-not-allowed': { status: 400, meaning: 'a CONNECT request has no content', remedy: REQUEST_REMEDY },
  'header-too-large': {
    status: 431,
    meaning: 'the request head is too large',
    remedy: 'Send fewer or smaller headers.',
  },
  'request-line-too-long': { status: 414, meaning: 'the request line is too long', remedy: REQUEST_REMEDY },
  'header-timeout': { status: 408, meaning: 'the request head took too long', remedy: 'Send the whole head at once.' },

  'authority-malformed': { status: 400, meaning: 'the target is not host:port', remedy: REQUEST_REMEDY },
  'port-missing': { status: 400, meaning: 'the target names no port', remedy: REQUEST_REMEDY },
  'port-not-allowed': { status: 403, meaning: 'only port 443 is open', remedy: 'Use the HTTPS port of the host.' },
  'ip-literal': {
    status: 403,
    meaning: 'the target is an address, and only names are allowed',
    remedy: 'Connect to the host by its name.',
  },
  'host-invalid': {
    status: 400,
    meaning: 'the target is no valid host name',
    remedy: 'Use the exact DNS name without a dot at its end.',
  },
  'host-not-ascii': {
    status: 400,
    meaning: 'the host name has characters beyond ASCII',
    remedy: 'Use the xn-- form of the name.',
  },
  'host-not-allowed': {
    status: 403,
    meaning: 'the host is not one of the configured names',
    remedy: 'If this program needs the host, the operator can add its exact name to the configured hosts.',
  },

  'resolve-failed': {
    status: 502,
    meaning: 'the name could not be resolved',
    remedy: 'Check the name and the DNS of this machine.',
  },
  'resolve-timeout': {
    status: 504,
    meaning: 'the name was not resolved in time',
    remedy: 'Check the DNS of this machine.',
  },
  'no-address': { status: 502, meaning: 'the name has no address', remedy: 'Check the name.' },
  'too-many-addresses': {
    status: 502,
    meaning: 'the name has too many addresses',
    remedy: 'Check what the DNS of this machine answers.',
  },
  'address-refused': {
    status: 403,
    meaning: 'the name leads to an address that is not globally reachable',
    remedy:
      'If the DNS of this machine hands out fake addresses on purpose, name the host and their network as an exception.',
  },
  'dial-failed': {
    status: 502,
    meaning: 'no address of the host took the connection',
    remedy: 'Check the network of this machine.',
  },
  'dial-timeout': {
    status: 504,
    meaning: 'no address of the host answered in time',
    remedy: 'Check the network of this machine.',
  },

  'hello-timeout': { status: null, meaning: 'no complete ClientHello came in time', remedy: HELLO_REMEDY },
  incomplete: { status: null, meaning: 'the client left before its ClientHello was complete', remedy: HELLO_REMEDY },
  'not-tls': { status: null, meaning: 'the tunnel does not carry TLS', remedy: 'Use TLS; nothing else may leave.' },
  'record-version': { status: null, meaning: 'the TLS record version is not 3.1 to 3.3', remedy: HELLO_REMEDY },
  'record-length': { status: null, meaning: 'a TLS record is too long', remedy: HELLO_REMEDY },
  'record-empty': { status: null, meaning: 'a TLS record is empty', remedy: HELLO_REMEDY },
  'record-type': { status: null, meaning: 'another record cuts the ClientHello', remedy: HELLO_REMEDY },
  'handshake-type': { status: null, meaning: 'the first message is no ClientHello', remedy: HELLO_REMEDY },
  'handshake-trailing': { status: null, meaning: 'octets follow the ClientHello in its record', remedy: HELLO_REMEDY },
  'too-large': { status: null, meaning: 'the ClientHello is too large', remedy: HELLO_REMEDY },
  malformed: { status: null, meaning: 'the ClientHello is malformed', remedy: HELLO_REMEDY },
  'duplicate-extension': { status: null, meaning: 'the ClientHello repeats an extension', remedy: HELLO_REMEDY },
  ech: {
    status: null,
    meaning: 'the ClientHello carries Encrypted Client Hello, which hides the host',
    remedy:
      'Switch it off: Chromium by the managed policy EncryptedClientHelloEnabled=false, Firefox by security.tls.ech.grease_probability=0 and network.dns.echconfig.enabled=false.',
  },
  'sni-missing': {
    status: null,
    meaning: 'the ClientHello names no host',
    remedy: 'Let the client send the server name.',
  },
  'sni-invalid': {
    status: null,
    meaning: 'the ClientHello does not name exactly one valid host',
    remedy: HELLO_REMEDY,
  },
  'sni-mismatch': {
    status: null,
    meaning: 'the ClientHello names another host than the request',
    remedy: HELLO_REMEDY,
  },

  'connection-limit': {
    status: 503,
    meaning: 'too many connections are open',
    remedy: 'Close some, or let the operator raise the limit.',
  },
  'byte-limit': { status: 403, meaning: 'the byte budget is used up', remedy: 'The operator can raise it.' },
  'gateway-closed': {
    status: null,
    meaning: 'the gateway was closed',
    remedy: 'Nothing to do: the session is over or its grant withdrawn.',
  },
  'client-closed': { status: null, meaning: 'the client left before anything was decided', remedy: 'Nothing to do.' },
} as const satisfies Record<EgressRule, RuleText>;
