// Loaded into the controller with --import: writes down every host that a connection is opened to, once each, into the file
// that KERF_HOSTS_FILE names.
import { appendFileSync } from 'node:fs';
import { Socket } from 'node:net';

const seen = new Set();
const connect = Socket.prototype.connect;

Socket.prototype.connect = function (...args) {
  // Node's own callers hand over an array of arguments that are in order already.
  const [options] = Array.isArray(args[0]) ? args[0] : args;
  const host = typeof options === 'object' ? (options.host ?? options.path ?? 'localhost') : String(args[1] ?? options);
  if (!seen.has(host)) appendFileSync(process.env.KERF_HOSTS_FILE, `${host}\n`);
  seen.add(host);
  return connect.apply(this, args);
};
