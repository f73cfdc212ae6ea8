import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:https';
import path from 'node:path';

export interface TestTls {
  /** PEM file of the authority that clients have to trust. */
  readonly caFile: string;
  readonly port: number;
  /** `HOST path` of each request served. */
  readonly requests: string[];
  close(): Promise<void>;
}

/**
 * An HTTPS server on 127.0.0.1 with a certificate for `hosts`, from an authority made for it in `dir`. Answers `/big`
 * with 8 MiB, the paths of `files` with these, `/hang` with its head only, POST with the length of what was sent, and anything else with a line of text.
 */
export async function startTestTls(
  dir: string,
  hosts: readonly string[],
  files: Readonly<Record<string, Buffer | string>> = {},
): Promise<TestTls> {
  const { caFile, cert, key } = makeCertificate(dir, hosts);
  const requests: string[] = [];
  const server: Server = createServer({ cert, key }, (request, response) => {
    requests.push(`${request.headers.host} ${request.url}`);
    const file = files[request.url ?? ''];
    if (file !== undefined) response.end(file);
    else if (request.url === '/big') response.end(Buffer.alloc(8 * 1024 * 1024, 'x'));
    else if (request.url === '/hang') response.writeHead(200).flushHeaders();
    else if (request.method === 'POST') {
      let bytes = 0;
      request.on('data', (chunk: Buffer) => {
        bytes += chunk.length;
      });
      request.on('end', () => response.end(`received ${bytes}`));
    } else response.end('hello from the test provider\n');
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('a TCP server has a port');
  return {
    caFile,
    port: address.port,
    requests,
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

function makeCertificate(dir: string, hosts: readonly string[]): { caFile: string; cert: Buffer; key: Buffer } {
  const at = (name: string) => path.join(dir, name);
  const openssl = (...args: string[]) => execFileSync('openssl', args, { stdio: 'pipe', cwd: dir });
  const newKey = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes'];
  openssl(
    'req',
    '-x509',
    ...newKey,
    '-keyout',
    'ca.key',
    '-out',
    'ca.pem',
    '-days',
    '2',
    '-subj',
    '/CN=Egress Test CA',
  );
  openssl('req', ...newKey, '-keyout', 'server.key', '-out', 'server.csr', '-subj', '/CN=server');
  writeFileSync(at('server.ext'), `subjectAltName=${hosts.map((host) => `DNS:${host}`).join(',')}\n`);
  const signing = ['-CA', 'ca.pem', '-CAkey', 'ca.key', '-CAcreateserial', '-days', '2', '-extfile', 'server.ext'];
  openssl('x509', '-req', '-in', 'server.csr', ...signing, '-out', 'server.pem');
  return { caFile: at('ca.pem'), cert: readFileSync(at('server.pem')), key: readFileSync(at('server.key')) };
}
