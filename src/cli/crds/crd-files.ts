// The CustomResourceDefinitions as files: what `kerf crds` prints and what lies in the repository under crds/.
import { type CustomResourceDefinition, customResourceDefinition, kinds } from '../../api/index.ts';
import { yamlText } from '../output/yaml.ts';

export interface CrdFile {
  /** `<group>_<plural>.yaml` */
  name: string;
  crd: CustomResourceDefinition;
}

export function crdFiles(): CrdFile[] {
  return kinds.map((kind) => ({ name: `${kind.group}_${kind.plural}.yaml`, crd: customResourceDefinition(kind) }));
}

/** One YAML document, without its separator. */
export function crdYaml(crd: CustomResourceDefinition): string {
  return yamlText(crd);
}
