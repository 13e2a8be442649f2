// A TCP connection in the middle, for tests that cut it: bytes stop in both directions while both ends stay open, which
// is what a lost network looks like to a client.
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';

export class TcpProxy {
  private readonly server: Server;
  private readonly sockets = new Set<Socket>();
  private isCut = false;

  private constructor(targetPort: number) {
    this.server = createServer((inner) => {
      const outer = connect(targetPort, '127.0.0.1');
      for (const [from, to] of [
        [inner, outer],
        [outer, inner],
      ] as const) {
        this.sockets.add(from);
        from.on('data', (bytes) => {
          if (!this.isCut) to.write(bytes);
        });
        from.on('error', () => {});
        from.on('close', () => {
          this.sockets.delete(from);
          if (!this.isCut) to.destroy();
        });
      }
    });
  }

  static async start(targetPort: number): Promise<TcpProxy> {
    const proxy = new TcpProxy(targetPort);
    await new Promise<void>((resolve) => proxy.server.listen(0, '127.0.0.1', resolve));
    return proxy;
  }

  get port(): number {
    return (this.server.address() as AddressInfo).port;
  }

  /** Bytes are lost from now on, also on connections made later. */
  cut(): void {
    this.isCut = true;
  }

  /** New connections work again; those that lost bytes are closed. */
  fix(): void {
    for (const socket of this.sockets) socket.destroy();
    this.isCut = false;
  }

  async stop(): Promise<void> {
    for (const socket of this.sockets) socket.destroy();
    await new Promise((resolve) => this.server.close(resolve));
  }
}
