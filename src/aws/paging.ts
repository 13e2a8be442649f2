// Lists of AWS come in pages; this is all of them. A token that repeats would be asked for for ever: it ends the list
// with an error instead.
import { KerfError } from '../base/index.ts';

export async function* allPages<Page extends { NextToken?: string | undefined }>(
  ask: (next: { NextToken?: string }) => Promise<Page>,
): AsyncGenerator<Page> {
  let token: string | undefined;
  do {
    const page = await ask(token === undefined ? {} : { NextToken: token });
    yield page;
    const next = page.NextToken === '' ? undefined : page.NextToken;
    if (next !== undefined && next === token) {
      throw new KerfError('AwsPaging', 'AWS answered twice with the same page token; try the listing again', {
        retryable: true,
      });
    }
    token = next;
  } while (token !== undefined);
}
