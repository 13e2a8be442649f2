export { type Paint, paintFor } from './paint.ts';
export { type Progress, progressLine } from './progress.ts';
export { counted, type Severity, severities, severityMark } from './severity.ts';
export { type Column, fittingTable, type TableOptions, table } from './table.ts';
export { textWidth, wrapLines, wrapText } from './text-width.ts';
export { fillWhole, writeWhole } from './whole-file.ts';
