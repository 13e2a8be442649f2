// Why no answer came, in words that say what to look at. TLS libraries speak of records and altnames; users have a
// kubeconfig. The code stays in parentheses, for searching.
import { messageOf } from '../base/index.ts';

const untrusted =
  "the server's certificate is not signed by an authority that the kubeconfig trusts: check certificate-authority-data of the cluster, and that the server address is the right one";

const texts: Readonly<Record<string, string>> = {
  DEPTH_ZERO_SELF_SIGNED_CERT: untrusted,
  SELF_SIGNED_CERT_IN_CHAIN: untrusted,
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: untrusted,
  UNABLE_TO_GET_ISSUER_CERT: untrusted,
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: untrusted,
  CERT_SIGNATURE_FAILURE: untrusted,
  CERT_HAS_EXPIRED: "the server's certificate has expired, or the clock of this machine is wrong",
  CERT_NOT_YET_VALID: "the server's certificate is not valid yet, or the clock of this machine is wrong",
  ERR_SSL_WRONG_VERSION_NUMBER:
    'what listens there does not speak TLS: check the port, or write http:// for a plain one',
  ERR_SSL_PACKET_LENGTH_TOO_LONG:
    'what listens there does not speak TLS: check the port, or write http:// for a plain one',
  ECONNREFUSED: 'nothing listens there: is the API server running, and is the port right?',
  ENOTFOUND: 'the name of the host is unknown: check the server address, the network and its DNS',
  EAI_AGAIN: 'the name of the host cannot be looked up now: check the network and its DNS',
  EHOSTUNREACH: 'the host cannot be reached: check the network, the VPN and the firewall',
  ENETUNREACH: 'the network cannot be reached: check the network and the VPN',
};

/** Also for an error inside another, and for several at once. */
export function whyNoAnswer(thrown: unknown): string {
  if (thrown instanceof AggregateError) return [...new Set(thrown.errors.map(whyNoAnswer))].join('; ');
  const chain = [thrown, thrown instanceof Error ? thrown.cause : undefined].filter((each) => each instanceof Error);
  for (const error of chain) {
    const text = plainText(error);
    if (text !== undefined) return `${text} (${codeOf(error)})`;
  }
  return [messageOf(thrown), ...chain.slice(1).map(messageOf)].join(': ').trim();
}

const codeOf = (error: Error): string => String((error as NodeJS.ErrnoException).code ?? '');

function plainText(error: Error): string | undefined {
  const code = codeOf(error);
  if (code === 'ERR_TLS_CERT_ALTNAME_INVALID') {
    const { host, cert } = error as Error & { host?: string; cert?: { subjectaltname?: string } };
    const names = cert?.subjectaltname?.replaceAll(/(DNS|IP Address):/g, '') ?? 'other names';
    return `the server's certificate is not for ${host}, but for ${names}: use one of these as the server address, or set tls-server-name in the kubeconfig`;
  }
  if (code === 'EPROTO' && /wrong version number|packet length too long/.test(error.message))
    return texts['ERR_SSL_WRONG_VERSION_NUMBER'];
  const alert =
    /^ERR_SSL_(?:TLSV1\d?|SSLV3)_ALERT_(\w+)$/.exec(code)?.[1] ?? /alert ([a-z ]+)/.exec(error.message)?.[1];
  if (alert !== undefined && /^(ERR_SSL|EPROTO)/.test(code))
    return `the server ended the TLS handshake (${alert.toLowerCase().replaceAll('_', ' ').trim()}): check the client certificate of the kubeconfig's user`;
  return texts[code];
}
