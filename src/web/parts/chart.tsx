// The one chart: cost over time. Always taken down again: charts that are not stay in memory.
import { useEffect, useRef } from 'preact/hooks';
import uPlot from 'uplot';
import 'uplot/dist/uPlot.min.css';
import type { SeriesView } from '../documents.ts';
import { clockTime, dayTime, money, perHour } from '../format.ts';
import { paletteNow } from '../map/palette.ts';

const names = ['pricePerHour', 'goingPerHour', 'blockedPerHour'];
const height = 200;
const dayMs = 86_400_000;

/** Ticks are round figures: as many decimals as they need. */
const dollars = (value: number): string => (value >= 1_000 ? money(value) : `$${Number(value.toFixed(4))}`);

function showLast(plot: uPlot): void {
  const idx = plot.data[0].length - 1;
  if (idx >= 0 && plot.legend.idx !== idx) plot.setLegend({ idx }, false);
}

export function Chart({ data }: { data: SeriesView }) {
  const place = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot | undefined>(undefined);
  const values = (): uPlot.AlignedData => [
    data.times.map((time) => time / 1000),
    ...names.map((name) => data.series[name] ?? data.times.map(() => null)),
  ];
  const spanMs = (data.times.at(-1) ?? 0) - (data.times[0] ?? 0);
  useEffect(() => {
    const element = place.current;
    if (element === null) return undefined;
    const palette = paletteNow();
    const line = (label: string, stroke: string, fill?: string): uPlot.Series => ({
      label,
      stroke,
      width: 1.5,
      points: { show: false },
      ...(fill !== undefined && { fill }),
      value: (_, value) => (value === null || value === undefined ? '–' : perHour(value)),
    });
    const font = `11px ${getComputedStyle(element).fontFamily}`;
    const axis = {
      stroke: palette.faint,
      font,
      grid: { stroke: palette.free, width: 1 },
      ticks: { stroke: palette.free },
    };
    const time = (seconds: number): string => (spanMs > dayMs ? dayTime : clockTime)(seconds * 1000);
    const options: uPlot.Options = {
      width: element.clientWidth,
      height,
      legend: { live: true },
      // Where nothing is pointed at, the last values stand.
      hooks: { setLegend: [(own) => own.cursor.idx === null && showLast(own)] },
      series: [
        { label: 'at', value: (_, value) => (value === null || value === undefined ? '–' : time(value)) },
        line('now', palette.workloads[0] as string, `${palette.workloads[0]}22`),
        line('going', palette.verdicts.going),
        line('held', palette.verdicts.held),
      ],
      axes: [
        { ...axis, space: 110, values: (_, all) => all.map(time) },
        { ...axis, size: 56, values: (_, all) => all.map(dollars) },
      ],
      scales: { y: { range: (_, __, most) => [0, Math.max(0.1, most * 1.1)] } },
    };
    const made = new uPlot(options, values(), element);
    plot.current = made;
    const observer = new ResizeObserver(() => made.setSize({ width: element.clientWidth, height }));
    observer.observe(element);
    return () => {
      observer.disconnect();
      made.destroy();
      plot.current = undefined;
    };
  }, [spanMs > dayMs]);
  useEffect(() => {
    plot.current?.setData(values());
    if (plot.current !== undefined) showLast(plot.current);
  }, [data]);
  return <div class="chart" ref={place} />;
}
