// Rules of affinity terms and label selectors, wherever they appear in a spec.

import { isLabelValue, isQualifiedName } from '../../../api/index.ts';
import { isObject, type JsonObject, listAt, objectAt, stringAt } from '../../json.ts';
import { type FieldError, forbiddenField, invalidValue, required } from '../field-error.ts';

export function validateLabelSelector(selector: unknown, field: string): FieldError[] {
  if (!isObject(selector)) return [];
  const errors: FieldError[] = [];
  for (const [key, value] of Object.entries(objectAt(selector, 'matchLabels'))) {
    for (const detail of isQualifiedName(key)) errors.push(invalidValue(`${field}.matchLabels`, key, detail));
    for (const detail of isLabelValue(String(value))) errors.push(invalidValue(`${field}.matchLabels`, value, detail));
  }
  listAt(selector, 'matchExpressions').forEach((expression, index) => {
    const at = `${field}.matchExpressions[${index}]`;
    const operator = stringAt(expression, 'operator');
    const values = listAt<string>(expression, 'values');
    if (operator === 'In' || operator === 'NotIn') {
      if (values.length === 0) {
        errors.push(required(`${at}.values`, "must be specified when `operator` is 'In' or 'NotIn'"));
      }
    } else if (operator === 'Exists' || operator === 'DoesNotExist') {
      if (values.length > 0) {
        errors.push(
          forbiddenField(`${at}.values`, "may not be specified when `operator` is 'Exists' or 'DoesNotExist'"),
        );
      }
    } else errors.push(invalidValue(`${at}.operator`, operator, 'not a valid selector operator'));
    const key = stringAt(expression, 'key');
    for (const detail of isQualifiedName(key)) errors.push(invalidValue(`${at}.key`, key, detail));
  });
  return errors;
}

export function validateAffinity(affinity: unknown, field: string): FieldError[] {
  if (!isObject(affinity)) return [];
  const node = objectAt(affinity, 'nodeAffinity');
  const errors: FieldError[] = [];
  const must = node['requiredDuringSchedulingIgnoredDuringExecution'];
  if (isObject(must)) {
    const at = `${field}.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms`;
    const terms = listAt(must, 'nodeSelectorTerms');
    if (terms.length === 0) errors.push(required(at, 'must have at least one node selector term'));
    terms.forEach((term, index) => errors.push(...validateNodeTerm(term, `${at}[${index}]`)));
  }
  listAt(node, 'preferredDuringSchedulingIgnoredDuringExecution').forEach((preference, index) => {
    const at = `${field}.nodeAffinity.preferredDuringSchedulingIgnoredDuringExecution[${index}]`;
    errors.push(...validateWeight(preference, at));
    errors.push(...validateNodeTerm(objectAt(preference, 'preference'), `${at}.preference`));
  });
  for (const side of ['podAffinity', 'podAntiAffinity']) {
    const terms = objectAt(affinity, side);
    listAt(terms, 'requiredDuringSchedulingIgnoredDuringExecution').forEach((term, index) =>
      errors.push(
        ...validatePodTerm(term, `${field}.${side}.requiredDuringSchedulingIgnoredDuringExecution[${index}]`),
      ),
    );
    listAt(terms, 'preferredDuringSchedulingIgnoredDuringExecution').forEach((preference, index) => {
      const at = `${field}.${side}.preferredDuringSchedulingIgnoredDuringExecution[${index}]`;
      errors.push(...validateWeight(preference, at));
      errors.push(...validatePodTerm(objectAt(preference, 'podAffinityTerm'), `${at}.podAffinityTerm`));
    });
  }
  return errors;
}

function validateWeight(preference: JsonObject, field: string): FieldError[] {
  const weight = Number(preference['weight'] ?? 0);
  return weight >= 1 && weight <= 100 ? [] : [invalidValue(`${field}.weight`, weight, 'must be in the range 1-100')];
}

function validatePodTerm(term: JsonObject, field: string): FieldError[] {
  const errors = validateLabelSelector(term['labelSelector'], `${field}.labelSelector`);
  errors.push(...validateLabelSelector(term['namespaceSelector'], `${field}.namespaceSelector`));
  const key = stringAt(term, 'topologyKey');
  if (key === '') errors.push(required(`${field}.topologyKey`, 'can not be empty'));
  for (const detail of isQualifiedName(key)) errors.push(invalidValue(`${field}.topologyKey`, key, detail));
  return errors;
}

/** One term of a node selector: also used by volumes. */
export function validateNodeTerm(term: JsonObject, field: string): FieldError[] {
  return listAt(term, 'matchExpressions').flatMap((expression, index) => {
    const at = `${field}.matchExpressions[${index}]`;
    const errors: FieldError[] = [];
    const operator = stringAt(expression, 'operator');
    const values = listAt<string>(expression, 'values');
    switch (operator) {
      case 'In':
      case 'NotIn':
        if (values.length === 0) {
          errors.push(required(`${at}.values`, "must be specified when `operator` is 'In' or 'NotIn'"));
        }
        break;
      case 'Exists':
      case 'DoesNotExist':
        if (values.length > 0) {
          errors.push(
            forbiddenField(`${at}.values`, "may not be specified when `operator` is 'Exists' or 'DoesNotExist'"),
          );
        }
        break;
      case 'Gt':
      case 'Lt':
        if (values.length !== 1) {
          errors.push(required(`${at}.values`, "must be specified single value when `operator` is 'Lt' or 'Gt'"));
        }
        break;
      default:
        errors.push(invalidValue(`${at}.operator`, operator, 'not a valid selector operator'));
    }
    const key = stringAt(expression, 'key');
    for (const detail of isQualifiedName(key)) errors.push(invalidValue(`${at}.key`, key, detail));
    return errors;
  });
}
