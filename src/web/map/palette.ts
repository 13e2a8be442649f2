// Colours of the map, for light and dark. Workloads take the hues of Okabe and Ito, which people with any sight tell apart,
// in two strengths; verdicts have a mark as well, so that no colour stands alone.
import type { VerdictClass } from '../words.ts';

export interface Palette {
  paper: string;
  box: string;
  free: string;
  ink: string;
  faint: string;
  line: string;
  daemon: string;
  /** What pods request, where single workloads are not drawn. */
  requested: string;
  workloads: readonly string[];
  verdicts: Readonly<Record<VerdictClass, string>>;
  selected: string;
}

const light: Palette = {
  paper: '#ffffff',
  box: '#f3f5f7',
  free: '#dfe4e9',
  ink: '#16202b',
  faint: '#586572',
  line: '#b9c2cb',
  daemon: '#9aa5b1',
  requested: '#cfe3f3',
  workloads: [
    '#0072b2',
    '#56b4e9',
    '#009e73',
    '#cc79a7',
    '#7b61c9',
    '#d3b800',
    '#2aa9b8',
    '#8c6d46',
    '#8bc34a',
    '#5b6f86',
  ],
  verdicts: {
    needed: '#8e9aa6',
    settling: '#5b9bd5',
    held: '#b56a00',
    going: '#c2410c',
    coming: '#007a5a',
    leaving: '#7b8794',
    foreign: '#a9b3bd',
    unknown: '#c5ccd3',
  },
  selected: '#111827',
};

const dark: Palette = {
  paper: '#10161d',
  box: '#19222c',
  free: '#2b3743',
  ink: '#e7edf3',
  faint: '#9aa8b5',
  line: '#42505d',
  daemon: '#66737f',
  requested: '#1d3a55',
  workloads: [
    '#3d9be0',
    '#8fd0f5',
    '#23b98c',
    '#d995bb',
    '#9f8be6',
    '#dcc93a',
    '#4fc3d0',
    '#b8976b',
    '#a5d36b',
    '#8aa0b8',
  ],
  verdicts: {
    needed: '#788693',
    settling: '#5b9bd5',
    held: '#f0a93b',
    going: '#ff7a45',
    coming: '#3cc79b',
    leaving: '#7f8c98',
    foreign: '#56636f',
    unknown: '#4a5661',
  },
  selected: '#ffffff',
};

export const isDark = (): boolean => matchMedia('(prefers-color-scheme: dark)').matches;
export const paletteNow = (): Palette => (isDark() ? dark : light);

/** Colours in the order in which names were first seen, so that the first few are never alike. */
const seen = new Map<string, number>();

/** The same name has the same colour everywhere. */
export function colourOf(name: string, { workloads }: Palette): string {
  let at = seen.get(name);
  if (at === undefined) seen.set(name, (at = seen.size));
  return workloads[at % workloads.length] as string;
}

/** Ink or paper, whichever reads better on the colour. */
export function inkOn(colour: string): string {
  const [red = 0, green = 0, blue = 0] = [1, 3, 5].map((at) => Number.parseInt(colour.slice(at, at + 2), 16));
  return red * 0.299 + green * 0.587 + blue * 0.114 > 140 ? '#10161d' : '#ffffff';
}
