// LimitRange: its own defaults (which then become those of containers) and its rules.
import { compareQuantities, parseQuantity } from '../../../base/index.ts';
import { type JsonObject, listAt, objectAt, stringAt } from '../../json.ts';
import type { Strategy } from '../definition.ts';
import { type FieldError, invalidValue, required } from '../field-error.ts';
import { validateUnique } from '../metadata.ts';

export const limitRangeStrategy: Strategy = {
  createOnUpdate: true,
  defaults(draft) {
    for (const item of listAt(objectAt(draft, 'spec'), 'limits')) {
      if (item['type'] !== 'Container') continue;
      const limit = { ...objectAt(item, 'max'), ...objectAt(item, 'default') };
      const request = { ...objectAt(item, 'min'), ...limit, ...objectAt(item, 'defaultRequest') };
      if (Object.keys(limit).length > 0) item['default'] = limit;
      if (Object.keys(request).length > 0) item['defaultRequest'] = request;
    }
  },
  validate(object) {
    const limits = listAt(objectAt(object, 'spec'), 'limits');
    const errors = limits.flatMap((item, index) => {
      const at = `spec.limits[${index}]`;
      return stringAt(item, 'type') === '' ? [required(`${at}.type`)] : validateOrder(item, at);
    });
    return [
      ...errors,
      ...validateUnique(
        limits.map((item) => item['type']),
        (index) => `spec.limits[${index}].type`,
      ),
    ];
  },
};

/** min ≤ defaultRequest ≤ default ≤ max, resource by resource. */
function validateOrder(item: JsonObject, at: string): FieldError[] {
  const names = new Set(
    ['min', 'max', 'default', 'defaultRequest'].flatMap((side) => Object.keys(objectAt(item, side))),
  );
  return [...names].flatMap((name) => {
    const [min, max, limit, request] = ['min', 'max', 'default', 'defaultRequest'].map(
      (side) => objectAt(item, side)[name],
    );
    const exceeds = (left: unknown, right: unknown): boolean =>
      left !== undefined &&
      right !== undefined &&
      compareQuantities(parseQuantity(left as string), parseQuantity(right as string)) > 0;
    const check = (side: string, value: unknown, left: [string, unknown], right: [string, unknown]): FieldError[] =>
      exceeds(left[1], right[1])
        ? [
            invalidValue(
              `${at}.${side}[${name}]`,
              value,
              `${left[0]} value ${String(left[1])} is greater than ${right[0]} value ${String(right[1])}`,
            ),
          ]
        : [];
    return [
      ...check('min', min, ['min', min], ['max', max]),
      ...check('defaultRequest', request, ['min', min], ['default request', request]),
      ...check('defaultRequest', request, ['default request', request], ['max', max]),
      ...check('defaultRequest', request, ['default request', request], ['default limit', limit]),
      ...check('default', min, ['min', min], ['default', limit]),
      ...check('default', max, ['default', limit], ['max', max]),
    ];
  });
}
