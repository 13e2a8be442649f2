// The connections to one API server: TLS, client certificate, proxy. Calls and watches have separate pools, so that
// hundreds of open watches never leave a call without a connection. A changed certificate or authority gets new pools; what is
// under way on the old ones finishes there.
import { Agent, type Dispatcher, ProxyAgent, Socks5ProxyAgent } from 'undici';
import type { ClusterAccess } from './access.ts';
import type { ClientCertificate } from './credentials.ts';

/**
 * A burst begins with as many handshakes, which take time from it. At ten milliseconds a call sixteen carry 1,600 calls a
 * second, eight times what the rate limit lets through by default.
 */
const callConnections = 16;

/** Shorter than the idle limit of AWS load balancers (60 s), so that a quiet watch is not cut off unnoticed. */
const keepAliveProbeMs = 30_000;

const connectTimeoutMs = 10_000;

/** Idle connections are kept for the next call, but not so long that a load balancer on the way has dropped them. */
const keepIdleMs = 30_000;

interface Pools {
  certificate: ClientCertificate | undefined;
  ca: string | undefined;
  calls: Dispatcher;
  watches: Dispatcher;
}

export class Connections {
  private readonly access: ClusterAccess;
  private pools: Pools | undefined;

  constructor(access: ClusterAccess) {
    this.access = access;
  }

  /** The pools for a client with this certificate, which trusts this authority. */
  for(certificate: ClientCertificate | undefined, ca: string | undefined = this.access.tls.ca): Pools {
    if (this.pools === undefined || this.pools.certificate !== certificate || this.pools.ca !== ca) {
      const old = this.pools;
      this.pools = {
        certificate,
        ca,
        calls: this.dispatcher(certificate, ca, callConnections),
        watches: this.dispatcher(certificate, ca, null),
      };
      // Graceful: resolves when the last request on them has ended.
      void Promise.allSettled([old?.calls.close(), old?.watches.close()]);
    }
    return this.pools;
  }

  /** Ends everything that is still open. */
  async close(): Promise<void> {
    const { pools } = this;
    this.pools = undefined;
    await Promise.all([pools?.calls.destroy(), pools?.watches.destroy()]);
  }

  private dispatcher(
    certificate: ClientCertificate | undefined,
    ca: string | undefined,
    connections: number | null,
  ): Dispatcher {
    const { tls, proxyUrl } = this.access;
    const connect = {
      timeout: connectTimeoutMs,
      keepAlive: true,
      keepAliveInitialDelay: keepAliveProbeMs,
      rejectUnauthorized: !tls.insecure,
      ...(ca === undefined ? {} : { ca }),
      ...(tls.serverName === undefined ? {} : { servername: tls.serverName }),
      ...(certificate === undefined ? {} : { cert: certificate.certificate, key: certificate.key }),
    };
    // HTTP/1.1 on purpose: on one HTTP/2 connection a single stall would hold up every watch and the lease with them.
    const common = { connections, pipelining: 1, allowH2: false, keepAliveTimeout: keepIdleMs };
    if (proxyUrl === undefined) return new Agent({ ...common, connect });
    if (proxyUrl.startsWith('socks5')) {
      return new Socks5ProxyAgent(proxyUrl.replace(/^socks5h/, 'socks5'), { ...common, requestTls: connect });
    }
    return new ProxyAgent({ ...common, uri: proxyUrl, requestTls: connect });
  }
}
