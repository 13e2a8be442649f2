// The CustomResourceDefinitions as files: what `kerf crds` prints and what lies in the repository under crds/.
import { stringify } from 'yaml';
import { type CustomResourceDefinition, customResourceDefinition, kinds } from '../../api/index.ts';

export interface CrdFile {
  /** `<group>_<plural>.yaml` */
  name: string;
  crd: CustomResourceDefinition;
}

export function crdFiles(): CrdFile[] {
  return kinds.map((kind) => ({ name: `${kind.group}_${kind.plural}.yaml`, crd: customResourceDefinition(kind) }));
}

/** One YAML document, without its separator. Long lines stay whole: a folded pattern or rule is hard to compare. */
export function crdYaml(crd: CustomResourceDefinition): string {
  return stringify(crd, { lineWidth: 0, aliasDuplicateObjects: false });
}
