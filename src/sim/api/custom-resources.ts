// CustomResourceDefinitions: their own defaults and rules, and the resources they bring into being.
import {
  applyDefaults,
  compileSchema,
  isSubdomain,
  prune,
  type Structural,
  validateAgainstSchema,
} from '../../api/index.ts';
import { ensureObject, isObject, type JsonObject, listAt, objectAt, setDefault, stringAt } from '../json.ts';
import type { CustomSchema, ResourceDefinition, ScalePaths, Strategy, SubresourceName } from './definition.ts';
import { type FieldError, invalidValue, required } from './field-error.ts';
import { builtIn, fieldAt, metadataFields } from './kinds/built-in.ts';
import { customLayout } from './tables/custom.ts';

const crdStrategy: Strategy = {
  generation: true,
  defaults(draft) {
    const spec = objectAt(draft, 'spec');
    const names = objectAt(spec, 'names');
    setDefault(names, 'singular', stringAt(names, 'kind').toLowerCase());
    setDefault(names, 'listKind', `${stringAt(names, 'kind')}List`);
    setDefault(spec, 'conversion', { strategy: 'None' });
  },
  prepareCreate(draft) {
    const storage = listAt(objectAt(draft, 'spec'), 'versions').filter((version) => version['storage'] === true);
    draft['status'] = {
      conditions: null,
      acceptedNames: { plural: '', kind: '' },
      storedVersions: storage.map((version) => version['name']),
    };
  },
  prepareUpdate(draft, old) {
    draft['status'] = old['status'];
  },
  validate: validateDefinition,
};

function validateDefinition(object: JsonObject): FieldError[] {
  const spec = objectAt(object, 'spec');
  const names = objectAt(spec, 'names');
  const errors: FieldError[] = [];
  const expected = `${stringAt(names, 'plural')}.${stringAt(spec, 'group')}`;
  if (stringAt(objectAt(object, 'metadata'), 'name') !== expected) {
    errors.push(
      invalidValue('metadata.name', objectAt(object, 'metadata')['name'], 'must be spec.names.plural+"."+spec.group'),
    );
  }
  if (stringAt(spec, 'group') === '') errors.push(required('spec.group'));
  else
    for (const detail of isSubdomain(stringAt(spec, 'group')))
      errors.push(invalidValue('spec.group', spec['group'], detail));
  for (const key of ['plural', 'kind']) if (stringAt(names, key) === '') errors.push(required(`spec.names.${key}`));
  const scope = stringAt(spec, 'scope');
  if (scope !== 'Cluster' && scope !== 'Namespaced') {
    errors.push(
      scope === ''
        ? required('spec.scope')
        : {
            reason: 'FieldValueNotSupported',
            field: 'spec.scope',
            message: `Unsupported value: ${JSON.stringify(scope)}: supported values: "Cluster", "Namespaced"`,
          },
    );
  }
  const versions = listAt(spec, 'versions');
  if (versions.filter((version) => version['storage'] === true).length !== 1) {
    errors.push(invalidValue('spec.versions', versions, 'must have exactly one version marked as storage version'));
    if (!versions.some((version) => version['storage'] === true)) {
      errors.push(invalidValue('status.storedVersions', null, 'must have at least one stored version'));
    }
  }
  versions.forEach((version, index) => {
    const at = `spec.versions[${index}].schema.openAPIV3Schema`;
    const schema = objectAt(version, 'schema')['openAPIV3Schema'];
    if (!isObject(schema)) {
      errors.push(required(at));
      return;
    }
    for (const { path, rule, problem } of compileSchema(schema).problems) {
      const field = `${[at, ...path].join('.')}.x-kubernetes-validations`;
      errors.push(invalidValue(field, rule, `compilation failed: ${problem}`));
    }
  });
  return errors;
}

export const customResourceDefinitionKind: ResourceDefinition = builtIn(
  'apiextensions.k8s.io',
  'v1',
  'apiextensions-apiserver.pkg.apis.apiextensions.v1',
)({
  kind: 'CustomResourceDefinition',
  plural: 'customresourcedefinitions',
  cluster: true,
  shortNames: ['crd', 'crds'],
  categories: ['api-extensions'],
  subresources: ['status'],
  strategy: crdStrategy,
});

/** The resources a definition asks for: one per served version. */
export function resourcesOf(crd: JsonObject): ResourceDefinition[] {
  const spec = objectAt(crd, 'spec');
  const names = objectAt(spec, 'names');
  return listAt(spec, 'versions')
    .filter((version) => version['served'] === true)
    .map((version): ResourceDefinition => {
      const subresources = objectAt(version, 'subresources');
      const kinds: SubresourceName[] = [
        ...(isObject(subresources['status']) ? (['status'] as const) : []),
        ...(isObject(subresources['scale']) ? (['scale'] as const) : []),
      ];
      const selectable = listAt(version, 'selectableFields').map((field) =>
        stringAt(field, 'jsonPath').replace(/^\./, ''),
      );
      const custom = customSchema(objectAt(version, 'schema')['openAPIV3Schema']);
      return {
        group: stringAt(spec, 'group'),
        version: stringAt(version, 'name'),
        plural: stringAt(names, 'plural'),
        singular: stringAt(names, 'singular') || stringAt(names, 'kind').toLowerCase(),
        kind: stringAt(names, 'kind'),
        listKind: stringAt(names, 'listKind') || `${stringAt(names, 'kind')}List`,
        namespaced: spec['scope'] === 'Namespaced',
        shortNames: listAt<string>(names, 'shortNames'),
        categories: listAt<string>(names, 'categories'),
        subresources: kinds,
        custom,
        ...(isObject(subresources['scale']) && { scale: subresources['scale'] as unknown as ScalePaths }),
        strategy: {
          nameRule: isSubdomain,
          generation: true,
          unconditionalUpdate: false,
          ...(kinds.includes('status') && { prepareCreate: (draft) => resetStatus(draft, custom) }),
        },
        table: customLayout(listAt(version, 'additionalPrinterColumns')),
        fields: { ...metadataFields, ...Object.fromEntries(selectable.map((path) => [path, fieldAt(path)])) },
      };
    });
}

/** Whoever creates an object has no say in its status; the schema may have. */
function resetStatus(draft: JsonObject, { applyDefaults: fill }: CustomSchema): void {
  delete draft['status'];
  fill(draft);
}

/** Compiled when the first object is checked: a definition is looked at more often than it is used. */
function customSchema(schema: unknown): CustomSchema {
  const openApi = isObject(schema) ? schema : { type: 'object' };
  const structural = openApi as unknown as Structural;
  let compiled: ReturnType<typeof compileSchema> | undefined;
  return {
    prune: (draft) => prune(structural, draft).map(({ field }) => field),
    applyDefaults: (draft) => applyDefaults(structural, draft),
    validate: (object, old) => {
      compiled ??= compileSchema(structural);
      return validateAgainstSchema(compiled, object, old);
    },
    openApi,
    preservesUnknown: openApi['x-kubernetes-preserve-unknown-fields'] === true,
  };
}

/** What a controller of the real server reports once the names are taken. */
export function establish(draft: JsonObject, time: string): void {
  const status = ensureObject(draft, 'status');
  const condition = (type: string, reason: string, message: string): JsonObject => ({
    type,
    status: 'True',
    lastTransitionTime: time,
    reason,
    message,
  });
  status['conditions'] = [
    condition('NamesAccepted', 'NoConflicts', 'no conflicts found'),
    condition('Established', 'InitialNamesAccepted', 'the initial names have been accepted'),
  ];
  status['acceptedNames'] = objectAt(objectAt(draft, 'spec'), 'names');
}
