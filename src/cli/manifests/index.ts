export { type FieldPath, formatPath, parsePath, valueAt } from './field-path.ts';
export { readFullYaml } from './full-yaml.ts';
export type { Manifest, Position, SyntaxProblem } from './manifest.ts';
export { asList, asMap, asText, isMap, type PlainMap } from './plain-data.ts';
export { type ReadItem, type ReadOptions, readManifests, readUnits, type Unit, type UnitItem } from './read.ts';
