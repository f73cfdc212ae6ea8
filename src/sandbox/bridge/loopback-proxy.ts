import { connect, createServer, type Socket } from 'node:net';

export interface LoopbackProxy {
  readonly port: number;
  /** Stops listening and drops every connection. */
  close(): void;
}

/** Whoever asks for more at a time waits in the kernel's queue; the gateway's own limit is far lower. */
const MAX_CONNECTIONS = 512;

const UNREACHABLE =
  'HTTP/1.1 502 Bad Gateway\r\nContent-Length: 0\r\nConnection: close\r\nX-Roundtable-Rule: gateway-closed\r\n\r\n';

/**
 * Listens on 127.0.0.1 and passes each connection to the Unix socket, octet by octet in both directions, with
 * back-pressure and half-close. It reads nothing: what is allowed is decided on the host. Rejects when it can't listen.
 */
export function startLoopbackProxy(socketPath: string, port: number): Promise<LoopbackProxy> {
  const open = new Set<Socket>();
  const server = createServer({ allowHalfOpen: true, pauseOnConnect: true, noDelay: true }, (client) => {
    const gateway = connect({ path: socketPath, allowHalfOpen: true });
    let isConnected = false;
    track(open, client, gateway);
    gateway.once('connect', () => {
      isConnected = true;
      client.pipe(gateway);
      gateway.pipe(client);
    });
    client.on('error', () => gateway.destroy());
    client.on('close', () => gateway.destroy());
    gateway.on('error', () => {
      if (isConnected) client.destroy();
      else client.end(UNREACHABLE, () => client.destroy());
    });
    gateway.on('close', () => {
      // In order, both directions have finished and the client closes by itself; a broken one would hang.
      if (isConnected && !gateway.readableEnded) client.destroy();
    });
  });
  server.maxConnections = MAX_CONNECTIONS;

  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, '127.0.0.1', () => {
      server.off('error', reject);
      const address = server.address();
      if (address === null || typeof address === 'string') throw new Error('a TCP server has a port');
      resolve({
        port: address.port,
        close() {
          server.close();
          for (const socket of open) socket.destroy();
        },
      });
    });
  });
}

function track(open: Set<Socket>, ...sockets: Socket[]): void {
  for (const socket of sockets) {
    open.add(socket);
    socket.once('close', () => open.delete(socket));
  }
}
