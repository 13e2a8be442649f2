// The YAML that commands print. Loaded when output needs it, and named here, because the bundle knows no names of a
// CommonJS package that is imported while the program runs.
import { stringify } from 'yaml';

/**
 * One document, without its separator. Whoever reads it may be a reader of YAML 1.1 (kubectl, CloudFormation, PyYAML), to
 * which a date, `on` or `no` is not text unless quoted. Long lines stay whole: a folded pattern or rule is hard to compare.
 */
export function yamlText(value: unknown): string {
  return stringify(value, { version: '1.1', lineWidth: 0, aliasDuplicateObjects: false });
}
