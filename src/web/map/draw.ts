// Draws a layout on a canvas. How much of a box is drawn follows its size: single pods, bands per workload, two bars, or a
// count. Everything is rectangles and a little text, so that five thousand boxes are drawn within a frame.
import type { Cell, NodeRow } from '../../view/wire.ts';
import { cores, gibibytes, money, percent, perHour, shortType, whole } from '../format.ts';
import { classes, glyphs, type VerdictClass, wordingFor } from '../words.ts';
import type { Box, Group, Layout } from './layout.ts';
import { colourOf, inkOn, type Palette } from './palette.ts';

export type ColourBy = 'workload' | 'namespace' | 'state';

export interface DrawOptions {
  palette: Palette;
  cells: ReadonlyMap<number, Cell[]>;
  colourBy: ColourBy;
  /** By node: cpu in thousandths and memory in MiB that are really used. */
  usage: Readonly<Record<string, [number, number]>>;
  selected: string | undefined;
  hovered: string | undefined;
  /** Nodes the filter leaves; others are drawn faintly. */
  isShown(row: NodeRow): boolean;
  /** The part of the picture that is in view. */
  top: number;
  bottom: number;
  width: number;
}

export const detail = { pods: 66, bands: 24 };
const font = '-apple-system, "Segoe UI", Roboto, "Helvetica Neue", sans-serif';

export function draw(context: CanvasRenderingContext2D, layout: Layout, options: DrawOptions): void {
  const { palette, top, bottom, width } = options;
  context.fillStyle = palette.paper;
  // Frames of selected boxes reach a little beyond the picture.
  context.fillRect(-4, top, width + 8, bottom - top);
  context.textBaseline = 'alphabetic';
  for (const group of layout.groups) if (group.y + 24 >= top && group.y <= bottom) drawHead(context, group, options);
  const hatch = hatchOf(context, palette);
  for (const box of layout.boxes) {
    if (box.y + box.height < top || box.y > bottom) continue;
    if (box.nodes.length > 1 || layout.isAggregated) drawTogether(context, box, options);
    else drawNode(context, box, options, hatch);
  }
}

function drawHead(context: CanvasRenderingContext2D, group: Group, { palette, width }: DrawOptions): void {
  const y = group.y + 17;
  context.font = `600 13px ${font}`;
  context.fillStyle = palette.ink;
  context.fillText(group.name, 0, y);
  const after = context.measureText(group.name).width + 12;
  context.font = `12px ${font}`;
  context.fillStyle = palette.faint;
  const wide = `${whole(group.nodes)} ${group.nodes === 1 ? 'node' : 'nodes'}   ${perHour(group.pricePerHour)}   cpu ${percent(group.cpuShare)}   memory ${percent(group.memoryShare)} requested`;
  const narrow = `${whole(group.nodes)}   ${perHour(group.pricePerHour)}   cpu ${percent(group.cpuShare)}`;
  context.fillText(width - after > context.measureText(wide).width ? wide : narrow, after, y);
}

const hatches = new Map<string, CanvasPattern | null>();

/** Slanted lines: room that is free, or going. */
function hatchOf(context: CanvasRenderingContext2D, palette: Palette): CanvasPattern | null {
  const known = hatches.get(palette.free);
  if (known !== undefined) return known;
  const tile = document.createElement('canvas');
  tile.width = tile.height = 6;
  const own = tile.getContext('2d');
  if (own !== null) {
    own.strokeStyle = palette.free;
    own.lineWidth = 1;
    own.beginPath();
    own.moveTo(-1, 7);
    own.lineTo(7, -1);
    own.stroke();
  }
  const pattern = context.createPattern(tile, 'repeat');
  hatches.set(palette.free, pattern);
  return pattern;
}

function drawNode(
  context: CanvasRenderingContext2D,
  box: Box,
  options: DrawOptions,
  hatch: CanvasPattern | null,
): void {
  const [row] = box.nodes as [NodeRow];
  const { palette } = options;
  const { x, y, width, height } = box;
  const wording = wordingFor(row);
  const isComing = row.state === 'coming' || row.state === 'joining';
  const isLeaving = row.state === 'leaving';
  context.globalAlpha = options.isShown(row) ? (isLeaving ? 0.55 : 1) : 0.12;
  context.fillStyle = palette.box;
  context.fillRect(x, y, width, height);
  const head = height >= detail.pods ? 30 : height >= detail.bands + 14 ? 14 : 0;
  const inner = { x: x + 1, y: y + head, width: width - 2, height: height - head - 1 };
  if (height >= detail.bands) {
    if (hatch !== null && !isComing) {
      context.fillStyle = hatch;
      context.fillRect(inner.x, inner.y, inner.width, inner.height);
    }
    drawBands(context, inner, row, options, height >= detail.pods);
  } else drawBars(context, { x, y, width, height }, row, palette);
  drawUsage(context, box, row, options);
  if (head > 0) drawTitle(context, box, row, palette);
  const edge = row.state === 'notReady' ? palette.verdicts.going : palette.verdicts[wording.class];
  const isMarked = wording.class === 'held' || wording.class === 'going' || row.state === 'notReady';
  if (height < detail.bands) {
    context.fillStyle = edge;
    context.fillRect(x, y + height - (isMarked ? 3 : 1), width, isMarked ? 3 : 1);
  }
  context.strokeStyle = isMarked || isComing ? edge : palette.line;
  context.lineWidth = isMarked && height >= detail.bands ? 2 : 1;
  context.setLineDash(isComing ? [4, 3] : []);
  if (height >= 16) context.strokeRect(x + 0.5, y + 0.5, width - 1, height - 1);
  context.setLineDash([]);
  context.globalAlpha = 1;
  if (row.name === options.selected || row.name === options.hovered) {
    context.strokeStyle = palette.selected;
    context.lineWidth = row.name === options.selected ? 2.5 : 1.5;
    context.strokeRect(x - 1.5, y - 1.5, width + 3, height + 3);
  }
}

/** A line along the bottom: the larger of the shares of cpu and memory that are in use. Only where there is room for it. */
function drawUsage(context: CanvasRenderingContext2D, box: Box, row: NodeRow, { usage, palette }: DrawOptions): void {
  const used = usage[row.name];
  if (used === undefined || box.height < detail.bands) return;
  const share = Math.max(row.cpu === 0 ? 0 : used[0] / row.cpu, row.memory === 0 ? 0 : used[1] / row.memory);
  context.fillStyle = palette.paper;
  context.fillRect(box.x + 1, box.y + box.height - 5, box.width - 2, 4);
  context.fillStyle = palette.ink;
  context.fillRect(box.x + 1, box.y + box.height - 4, Math.min(1, share) * (box.width - 2), 3);
}

function drawTitle(context: CanvasRenderingContext2D, box: Box, row: NodeRow, palette: Palette): void {
  const { x, y, width, height } = box;
  const wording = wordingFor(row);
  const isLarge = height >= detail.pods;
  context.font = `${isLarge ? 600 : 500} ${isLarge ? 11.5 : 10}px ${font}`;
  context.fillStyle = palette.ink;
  const glyph = row.state === 'notReady' ? '!' : glyphs[wording.class];
  const room = width - 8 - (glyph === '' ? 0 : 14);
  context.fillText(fitted(context, shortType(row.type) || row.name, room), x + 5, y + (isLarge ? 13 : 10.5));
  if (glyph !== '') {
    context.fillStyle = row.state === 'notReady' ? palette.verdicts.going : palette.verdicts[wording.class];
    context.fillText(glyph, x + width - 14, y + (isLarge ? 13 : 10.5));
  }
  if (!isLarge) return;
  context.font = `10.5px ${font}`;
  context.fillStyle = palette.faint;
  const unknown = row.state === 'coming' ? 'coming' : 'no price';
  const price = row.pricePerHour > 0 ? money(row.pricePerHour) : unknown;
  const more = row.capacityType === 'spot' ? ' spot' : row.capacityType === 'reserved' ? ' res.' : '';
  context.fillText(fitted(context, `${price}${more}`, width - 8), x + 5, y + 25);
}

function fitted(context: CanvasRenderingContext2D, text: string, room: number): string {
  if (context.measureText(text).width <= room) return text;
  let cut = text;
  while (cut.length > 1 && context.measureText(`${cut}…`).width > room) cut = cut.slice(0, -1);
  return cut.length > 1 ? `${cut}…` : '';
}

interface Area {
  x: number;
  y: number;
  width: number;
  height: number;
}

/** Each workload takes as much of the width as its pods take of the node: of cpu or memory, whichever is more. */
function drawBands(
  context: CanvasRenderingContext2D,
  area: Area,
  row: NodeRow,
  options: DrawOptions,
  withPods: boolean,
): void {
  const cells = options.cells.get(row.key) ?? [];
  const { palette } = options;
  let x = area.x;
  const end = area.x + area.width;
  const share = (cell: { cpu: number; memory: number }): number =>
    Math.max(row.cpu === 0 ? 0 : cell.cpu / row.cpu, row.memory === 0 ? 0 : cell.memory / row.memory);
  for (const cell of cells) {
    const width = Math.max(1, Math.min(end - x, share(cell) * area.width));
    if (width <= 0) return;
    context.fillStyle = fillOf(cell, options);
    const faded = context.globalAlpha;
    if (cell.state === 'starting' || cell.state === 'ending') context.globalAlpha = faded * 0.5;
    const rows = withPods ? Math.min(cell.count, 12) : 1;
    const height = area.height / rows;
    for (let at = 0; at < rows; at++) {
      context.fillRect(x, area.y + at * height, Math.max(1, width - 1), Math.max(1, height - (rows > 1 ? 1 : 0)));
    }
    context.globalAlpha = faded;
    if (withPods && width >= 34 && cell.state !== 'daemon') {
      context.font = `10.5px ${font}`;
      context.fillStyle = inkOn(fillOf(cell, options));
      const name = cell.workload.split('/').at(-1) ?? '';
      context.fillText(
        fitted(context, cell.count > 1 ? `${name} ×${cell.count}` : name, width - 7),
        x + 4,
        area.y + 13,
      );
    }
    x += width;
  }
  if (cells.length === 0 && row.pods > 0) {
    context.fillStyle = palette.requested;
    const used = { cpu: row.cpuUsed, memory: row.memoryUsed };
    context.fillRect(area.x, area.y, Math.min(area.width, share(used) * area.width), area.height);
  }
}

function fillOf(cell: Cell, { palette, colourBy }: DrawOptions): string {
  if (cell.state === 'daemon') return palette.daemon;
  if (colourBy === 'namespace') return colourOf(cell.workload.split('/')[0] ?? '', palette);
  if (colourBy === 'state') return cell.state === 'running' ? palette.verdicts.coming : palette.verdicts.held;
  return colourOf(cell.workload, palette);
}

/** Cpu above, memory below. */
function drawBars(context: CanvasRenderingContext2D, area: Area, row: NodeRow, palette: Palette): void {
  const half = Math.max(2, (area.height - 3) / 2);
  const shares = [row.cpu === 0 ? 0 : row.cpuUsed / row.cpu, row.memory === 0 ? 0 : row.memoryUsed / row.memory];
  shares.forEach((share, at) => {
    context.fillStyle = palette.workloads[at] as string;
    context.fillRect(area.x, area.y + at * half, Math.max(1, Math.min(1, share) * area.width), half - 0.5);
  });
}

/** Several nodes in one box: how full they are as its filling, what keeps them as a strip, by their prices. */
function drawTogether(context: CanvasRenderingContext2D, box: Box, options: DrawOptions): void {
  const { palette } = options;
  const { x, y, width, height, nodes } = box;
  const [first] = nodes as [NodeRow];
  const sums = { cpu: 0, cpuUsed: 0, price: 0, shown: 0 };
  const prices = new Map<VerdictClass, number>();
  for (const node of nodes) {
    sums.cpu += node.cpu;
    sums.cpuUsed += node.cpuUsed;
    sums.price += node.pricePerHour;
    if (options.isShown(node)) sums.shown += 1;
    const { class: own } = wordingFor(node);
    prices.set(own, (prices.get(own) ?? 0) + (node.pricePerHour || 1));
  }
  context.globalAlpha = sums.shown > 0 ? 1 : 0.12;
  context.fillStyle = palette.box;
  context.fillRect(x, y, width, height);
  context.fillStyle = palette.requested;
  context.fillRect(x, y, width * (sums.cpu === 0 ? 0 : Math.min(1, sums.cpuUsed / sums.cpu)), height - strip);
  drawStrip(context, { x, y: y + height - strip, width, height: strip }, prices, palette);
  context.font = `600 11px ${font}`;
  context.fillStyle = palette.ink;
  const count = sums.shown === 0 || sums.shown === nodes.length ? whole(nodes.length) : `${sums.shown}/${nodes.length}`;
  context.fillText(fitted(context, `${count}× ${shortType(first.type)}`, width - 8), x + 4, y + 14);
  if (height >= 38) {
    context.font = `10.5px ${font}`;
    context.fillStyle = palette.faint;
    context.fillText(fitted(context, `${first.zone.slice(-2)}  ${perHour(sums.price)}`, width - 8), x + 4, y + 27);
  }
  context.strokeStyle = palette.line;
  context.lineWidth = 1;
  context.strokeRect(x + 0.5, y + 0.5, width - 1, height - 1);
  context.globalAlpha = 1;
  if (nodes.some(({ name }) => name === options.selected || name === options.hovered)) {
    context.strokeStyle = palette.selected;
    context.lineWidth = 2;
    context.strokeRect(x - 1.5, y - 1.5, width + 3, height + 3);
  }
}

const strip = 5;

function drawStrip(
  context: CanvasRenderingContext2D,
  { x, y, width, height }: Area,
  prices: ReadonlyMap<VerdictClass, number>,
  palette: Palette,
): void {
  const total = [...prices.values()].reduce((sum, price) => sum + price, 0);
  let left = x;
  for (const name of classes) {
    const own = ((prices.get(name) ?? 0) / total) * width;
    if (own === 0) continue;
    context.fillStyle = palette.verdicts[name];
    context.fillRect(left, y, own, height);
    left += own;
  }
}

/** One line about a box, for a tooltip and for those who hear the page. */
export function sentenceOf(box: Box): string {
  const [row] = box.nodes as [NodeRow];
  if (box.nodes.length > 1) return sentenceOfMany(box.nodes);
  const used = `${cores(row.cpuUsed)} of ${cores(row.cpu)} cpu and ${gibibytes(row.memoryUsed)} of ${gibibytes(row.memory)} GiB requested by ${row.pods} pods`;
  const price = row.pricePerHour > 0 ? `, ${perHour(row.pricePerHour)}` : '';
  return `${row.name}, ${row.type} ${row.capacityType} in ${row.zone}${price}: ${used}; ${wordingFor(row).word}`;
}

function sentenceOfMany(nodes: readonly NodeRow[]): string {
  const [{ type, zone, pool }] = nodes as [NodeRow];
  const words = new Map<string, number>();
  let price = 0;
  for (const node of nodes) {
    const { word } = wordingFor(node);
    words.set(word, (words.get(word) ?? 0) + 1);
    price += node.pricePerHour;
  }
  const kept = [...words].sort((left, right) => right[1] - left[1]).map(([word, count]) => `${whole(count)} ${word}`);
  return `${whole(nodes.length)} nodes of type ${type} in ${zone}, pool ${pool}, ${perHour(price)}: ${kept.join(', ')}`;
}
