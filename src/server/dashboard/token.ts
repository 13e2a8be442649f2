// The one-time token of a link: shown once it becomes a cookie, which no other page can read or send. Requests without it are
// turned away.
import { randomBytes, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { ApiError } from './api-error.ts';

export class Token {
  /** To be put into the link. */
  readonly once = randomBytes(24).toString('base64url');
  private readonly session = randomBytes(24).toString('base64url');
  private isUsed = false;

  /** True if the request may go on; otherwise it has been answered, or is refused by an error. */
  admits(request: IncomingMessage, url: URL, response: ServerResponse): boolean {
    // Cookies do not know ports, and another dashboard may run on this machine.
    const cookieName = `kerf-${request.socket.localPort ?? 0}`;
    const cookies = (request.headers.cookie ?? '').split(';').map((part) => part.trim());
    const own = cookies.find((cookie) => cookie.startsWith(`${cookieName}=`))?.slice(cookieName.length + 1) ?? '';
    if (isEqual(own, this.session)) return true;
    const given = url.searchParams.get('token') ?? '';
    if (!this.isUsed && isEqual(given, this.once)) {
      this.isUsed = true;
      response.setHeader('Set-Cookie', `${cookieName}=${this.session}; HttpOnly; SameSite=Strict; Path=/`);
      // The token leaves the address, so that it is in no history.
      response.writeHead(303, { Location: url.pathname });
      response.end();
      return false;
    }
    const fix = 'use the link that the command printed; it works once, in one browser';
    throw new ApiError(401, 'TokenNeeded', 'this dashboard needs its token', fix);
  }
}

function isEqual(left: string, right: string): boolean {
  const [a, b] = [Buffer.from(left), Buffer.from(right)];
  return a.length === b.length && timingSafeEqual(a, b);
}
