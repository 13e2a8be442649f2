// The YAML writer, loaded when output needs it. Named here, because the bundle knows no names of a CommonJS package that is
// imported while the program runs.
export { stringify } from 'yaml';
