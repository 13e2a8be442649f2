// The documents of the API by their address, for whoever asks: a page over HTTP, `kerf top` in the same process.
import {
  type AnswerParts,
  costDocument,
  decisionAgain,
  decisionDocument,
  decisionSnapshot,
  decisionsDocument,
  infoDocument,
  nodeDocument,
  podDocument,
  podsDocument,
  poolDocument,
  poolsDocument,
  seriesDocument,
  waitingDocument,
} from './answers.ts';
import { ApiError } from './api-error.ts';

type Handler = (parts: AnswerParts, words: string[], query: URLSearchParams) => Promise<object> | object;

/** GET, by the first word of the path; the number says how many more words each form may have. */
const documents: Readonly<Record<string, Readonly<Record<number, Handler>>>> = {
  info: { 0: (options) => infoDocument(options) },
  nodes: { 1: (options, [name = '']) => nodeDocument(options, name) },
  pods: {
    0: (options, _, query) => podsDocument(options, query),
    2: (options, [namespace = '', name = '']) => podDocument(options, `${namespace}/${name}`),
  },
  pools: { 0: (options) => poolsDocument(options), 1: (options, [name = '']) => poolDocument(options, name) },
  waiting: { 0: (options) => waitingDocument(options) },
  cost: { 0: (options) => costDocument(options) },
  decisions: {
    0: (options, _, query) => decisionsDocument(options, query),
    1: (options, [id = '']) => decisionDocument(options, id),
    2: (parts, [id = '', what]) => {
      if (what === 'snapshot') return decisionSnapshot(parts, id);
      if (what === 'replay') return decisionAgain(parts, id);
      throw ApiError.notFound('there is nothing at this address');
    },
  },
  series: { 0: (options, _, query) => seriesDocument(options, query) },
  usage: {
    0: ({ usage }) => {
      if (usage !== undefined) return usage();
      throw new ApiError(404, 'NotFound', 'usage is not read here', '`kerf dashboard` reads it from metrics.k8s.io');
    },
  },
  shadow: {
    0: ({ shadow }) => {
      if (shadow !== undefined) return shadow();
      throw new ApiError(404, 'NotFound', 'this is not a shadow', 'start one with `kerf controller --shadow`');
    },
  },
  findings: {
    0: ({ findings }) => {
      if (findings !== undefined) return findings();
      throw new ApiError(404, 'NotFound', 'the doctor does not run here', 'run `kerf doctor`');
    },
  },
};

/** Documents that say nothing of nodes and pods: answered without looking at them. */
const withoutRows = new Set(['info', 'decisions', 'series', 'shadow', 'findings', 'usage']);

/** The document at the address whose words these are; throws an `ApiError` where there is none. */
export async function documentAt(
  parts: AnswerParts,
  [first = '', ...words]: readonly string[],
  query = new URLSearchParams(),
): Promise<object> {
  const handler = Object.hasOwn(documents, first) ? documents[first]?.[words.length] : undefined;
  if (handler === undefined) throw ApiError.notFound('there is nothing at this address');
  if (withoutRows.has(first)) return handler(parts, words, query);
  const stop = parts.live.watch(() => undefined);
  try {
    await parts.live.ready();
    return await handler(parts, words, query);
  } finally {
    stop();
  }
}
