// The YAML parser, loaded when a kubeconfig needs it. Named here, because the bundle knows no names of a CommonJS package
// that is imported while the program runs.
export { parse } from 'yaml';
