// Which resources are served right now. Built-in ones are there from the start; custom ones come and go with their
// CustomResourceDefinitions. `changed` counts, so that discovery documents can be cached.
import type { ResourceDefinition } from './definition.ts';

export class Registry {
  changed = 0;
  private readonly byPath = new Map<string, ResourceDefinition>();

  constructor(builtIn: readonly ResourceDefinition[]) {
    for (const definition of builtIn) this.add(definition);
  }

  add(definition: ResourceDefinition): void {
    this.byPath.set(pathOf(definition.group, definition.version, definition.plural), definition);
    this.changed += 1;
  }

  remove(group: string, plural: string): void {
    for (const [path, definition] of this.byPath) {
      if (definition.group === group && definition.plural === plural) this.byPath.delete(path);
    }
    this.changed += 1;
  }

  find(group: string, version: string, plural: string): ResourceDefinition | undefined {
    return this.byPath.get(pathOf(group, version, plural));
  }

  /** Any version of the kind; ownerReferences name kinds, and the version does not matter there. */
  findKind(group: string, kind: string): ResourceDefinition | undefined {
    for (const definition of this.byPath.values()) {
      if (definition.group === group && definition.kind === kind) return definition;
    }
    return undefined;
  }

  /** Any version of the resource kept in that collection. */
  findCollection(collection: string): ResourceDefinition | undefined {
    for (const definition of this.byPath.values()) {
      if (collection === (definition.group === '' ? definition.plural : `${definition.plural}.${definition.group}`)) {
        return definition;
      }
    }
    return undefined;
  }

  all(): ResourceDefinition[] {
    return [...this.byPath.values()];
  }
}

const pathOf = (group: string, version: string, plural: string): string => `${group}/${version}/${plural}`;
