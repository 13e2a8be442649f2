// Node classes whose nodes run Windows.
import type { Evidence } from '../../evidence.ts';
import { listAt, textAt } from '../../fields.ts';
import { labelsOf, type Stored } from '../../objects.ts';

export function windowsClasses({ objects }: Evidence): Stored[] {
  return objects
    .of('EC2NodeClass')
    .filter(
      ({ object }) =>
        /^Windows/i.test(textAt(object, 'spec', 'amiFamily')) ||
        listAt(object, 'spec', 'amiSelectorTerms').some((term) => /^windows/i.test(textAt(term, 'alias'))),
    );
}

export function windowsNodes({ objects }: Evidence): Stored[] {
  return objects.of('Node').filter(({ object }) => textAt(labelsOf(object), 'kubernetes.io/os') === 'windows');
}
