// A loopback stand-in for AWS endpoints that answers as a test scripts it and remembers what it was asked.
import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type RequestListener } from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import type { AddressInfo } from 'node:net';

export interface Asked {
  method: string;
  path: string;
  headers: IncomingHttpHeaders;
  body: string;
}

export interface Answer {
  status: number;
  body: string;
  headers?: Record<string, string>;
}

/** Over TLS where a certificate is given. */
export async function startAwsServer(
  answer: (asked: Asked, index: number) => Answer,
  certificate?: { cert: string; key: string },
) {
  const asked: Asked[] = [];
  const listener: RequestListener = (request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const { method = '', url = '', headers } = request;
      const call = { method, path: url, headers, body: Buffer.concat(chunks).toString() };
      asked.push(call);
      const { status, body, headers: more = {} } = answer(call, asked.length - 1);
      response.writeHead(status, { 'content-type': 'text/xml', ...more }).end(body);
    });
  };
  const server = certificate === undefined ? createServer(listener) : createSecureServer(certificate, listener);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `${certificate === undefined ? 'http' : 'https'}://127.0.0.1:${(server.address() as AddressInfo).port}`,
    asked,
    close: () => {
      server.closeAllConnections();
      server.close();
    },
  };
}

export const ec2Error = (code: string, status = 400, message = code): Answer => ({
  status,
  body: `<Response><Errors><Error><Code>${code}</Code><Message>${message}</Message></Error></Errors><RequestID>r</RequestID></Response>`,
});

export const noSubnets: Answer = {
  status: 200,
  body: '<DescribeSubnetsResponse><requestId>r</requestId><subnetSet/></DescribeSubnetsResponse>',
};
