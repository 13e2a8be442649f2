// Where each box stands: shelves in the order in which nodes came, so that the eye finds its node again after a change; a
// treemap would shuffle everything. Groups follow each other; boxes have one height and five widths. Pure: what stands at a
// point is asked here, not of pixels.
import type { NodeRow } from '../../view/wire.ts';

export type GroupBy = 'pool' | 'zone' | 'type' | 'capacityType';

export interface Box {
  x: number;
  y: number;
  width: number;
  height: number;
  /** One node, or several of one pool, type and zone where boxes would be too small. */
  nodes: NodeRow[];
}

export interface Group {
  name: string;
  y: number;
  nodes: number;
  pricePerHour: number;
  cpuShare: number;
  memoryShare: number;
}

export interface Layout {
  boxes: Box[];
  groups: Group[];
  height: number;
  boxHeight: number;
  isAggregated: boolean;
}

export interface LayoutOptions {
  width: number;
  height: number;
  groupBy: GroupBy;
  /** By what a box is sized. */
  sizeBy: 'cpu' | 'price';
}

const headerHeight = 26;
const groupGap = 14;
/** Relative widths of the five classes. */
const widths = [1, 1.45, 2, 2.8, 3.8];
const cpuSteps = [2_000, 4_000, 8_000, 16_000];
const priceSteps = [0.06, 0.15, 0.4, 1];
const heights = { most: 128, least: 10, mostTogether: 64, leastTogether: 26 };

const gapOf = (height: number): number => (height >= 48 ? 8 : height >= 20 ? 4 : 2);

function classOf(row: NodeRow, sizeBy: LayoutOptions['sizeBy']): number {
  const [value, steps] = sizeBy === 'cpu' ? [row.cpu, cpuSteps] : [row.pricePerHour, priceSteps];
  const at = steps.findIndex((step) => value <= step);
  return at < 0 ? steps.length : at;
}

export function layOut(rows: readonly NodeRow[], options: LayoutOptions): Layout {
  const groups = grouped(rows, options.groupBy);
  const items = (nodes: NodeRow[]): Item[] =>
    nodes.map((node) => ({ nodes: [node], scale: widths[classOf(node, options.sizeBy)] ?? 1 }));
  const asItems = groups.map(([name, nodes]) => ({ name, nodes, items: items(nodes) }));
  for (let height = heights.most; height >= heights.least; height = Math.min(height - 1, Math.floor(height * 0.92))) {
    if (heightOf(asItems, options.width, height) <= options.height) {
      return placed(asItems, options.width, height, false);
    }
  }
  // Too many for boxes that could be read: one box per pool, type and zone.
  const together = groups.map(([name, nodes]) => ({ name, nodes, items: aggregated(nodes) }));
  for (let height = heights.mostTogether; height > heights.leastTogether; height -= 1) {
    if (heightOf(together, options.width, height, togetherWidth) <= options.height)
      return placed(together, options.width, height, true);
  }
  return placed(together, options.width, heights.leastTogether, true);
}

interface Item {
  nodes: NodeRow[];
  scale: number;
}

interface GroupItems {
  name: string;
  nodes: NodeRow[];
  items: Item[];
}

function grouped(rows: readonly NodeRow[], groupBy: GroupBy): [string, NodeRow[]][] {
  const groups = new Map<string, NodeRow[]>();
  for (const row of rows) {
    const name = row[groupBy] || (groupBy === 'pool' ? 'not managed' : 'unknown');
    const own = groups.get(name);
    if (own === undefined) groups.set(name, [row]);
    else own.push(row);
  }
  for (const own of groups.values())
    own.sort((left, right) => left.createdMs - right.createdMs || left.key - right.key);
  return [...groups].sort(([left], [right]) => (left < right ? -1 : 1));
}

function aggregated(nodes: readonly NodeRow[]): Item[] {
  const cells = new Map<string, NodeRow[]>();
  for (const node of nodes) {
    const key = `${node.pool}\n${node.type}\n${node.zone}`;
    const own = cells.get(key);
    if (own === undefined) cells.set(key, [node]);
    else own.push(node);
  }
  return [...cells]
    .sort(([left], [right]) => (left < right ? -1 : 1))
    .map(([, own]) => ({ nodes: own, scale: Math.min(6, 1.6 + Math.log2(own.length) / 2) }));
}

const boxWidth = (scale: number, height: number): number =>
  Math.max(4, Math.round(scale * height * (height < 24 ? 1 : 1.15)));

/** Wide enough for a count and a type, whatever the height. */
const togetherWidth = (scale: number): number => Math.round(56 + scale * 18);

function heightOf(groups: readonly GroupItems[], width: number, height: number, widthOf = boxWidth): number {
  const gap = gapOf(height);
  let total = 0;
  for (const { items } of groups) {
    let x = 0;
    let shelves = 1;
    for (const { scale } of items) {
      const own = widthOf(scale, height);
      if (x > 0 && x + own > width) {
        shelves += 1;
        x = 0;
      }
      x += own + gap;
    }
    total += headerHeight + shelves * (height + gap) + groupGap;
  }
  return total;
}

function placed(groups: readonly GroupItems[], width: number, height: number, isAggregated: boolean): Layout {
  const gap = gapOf(height);
  const widthOf = isAggregated ? togetherWidth : boxWidth;
  const boxes: Box[] = [];
  const heads: Group[] = [];
  let y = 0;
  for (const { name, nodes, items } of groups) {
    heads.push(headOf(name, nodes, y));
    y += headerHeight;
    let x = 0;
    for (const { nodes: own, scale } of items) {
      const boxed = Math.min(width, widthOf(scale, height));
      if (x > 0 && x + boxed > width) {
        x = 0;
        y += height + gap;
      }
      boxes.push({ x, y, width: boxed, height, nodes: own });
      x += boxed + gap;
    }
    y += height + gap + groupGap;
  }
  return { boxes, groups: heads, height: y, boxHeight: height, isAggregated };
}

function headOf(name: string, nodes: readonly NodeRow[], y: number): Group {
  const sums = { price: 0, cpu: 0, cpuUsed: 0, memory: 0, memoryUsed: 0 };
  for (const node of nodes) {
    sums.price += node.pricePerHour;
    sums.cpu += node.cpu;
    sums.cpuUsed += node.cpuUsed;
    sums.memory += node.memory;
    sums.memoryUsed += node.memoryUsed;
  }
  return {
    name,
    y,
    nodes: nodes.length,
    pricePerHour: sums.price,
    cpuShare: sums.cpu === 0 ? 0 : sums.cpuUsed / sums.cpu,
    memoryShare: sums.memory === 0 ? 0 : sums.memoryUsed / sums.memory,
  };
}

/** The box at a point of the picture. */
export function boxAt({ boxes }: Layout, x: number, y: number): Box | undefined {
  // Boxes are in the order of their shelves: the first shelf that reaches down to y is the only one to look at.
  let low = 0;
  let high = boxes.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    const box = boxes[middle] as Box;
    if (box.y + box.height < y) low = middle + 1;
    else high = middle;
  }
  for (let at = low; at < boxes.length; at++) {
    const box = boxes[at] as Box;
    if (box.y > y) return undefined;
    if (x >= box.x && x <= box.x + box.width) return box;
  }
  return undefined;
}

/** The box next to another in a direction, for arrow keys. */
export function neighbour({ boxes }: Layout, from: Box, key: string): Box | undefined {
  const at = boxes.indexOf(from);
  if (key === 'ArrowRight') return boxes[at + 1];
  if (key === 'ArrowLeft') return boxes[at - 1];
  const isDown = key === 'ArrowDown';
  const middle = from.x + from.width / 2;
  const shelves = boxes.filter((box) => (isDown ? box.y > from.y : box.y < from.y));
  const y = isDown ? Math.min(...shelves.map((box) => box.y)) : Math.max(...shelves.map((box) => box.y));
  const shelf = shelves.filter((box) => box.y === y);
  const distance = (box: Box): number => Math.abs(box.x + box.width / 2 - middle);
  return shelf.toSorted((left, right) => distance(left) - distance(right))[0];
}
